#pragma once
#include <paretopipe/analysis/calibration/grid.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/record/record.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::calibration {

/// The instrument promises errors of at most 1 % of the truth or 100 us, whichever is larger.
inline constexpr double kRelativeBound = 0.01;
inline constexpr double kAbsoluteBoundNs = 100'000;

/// measured - truth, over the repetitions that know the truth.
struct Deviation {
  double truth_ns = 0;
  double median_ns = 0;  ///< the promise bounds this one
  double worst_ns = 0;   ///< the repetition's error that is farthest from 0

  double bound_ns() const;
  bool kept() const;
};

/// One quantity of one cell.
struct Reading {
  const Quantity* quantity = nullptr;
  std::vector<double> measured_ns{};  ///< one per ok repetition
  std::optional<Deviation> error{};   ///< absent where the truth is unknown
};

struct CellResult {
  Cell cell;
  std::vector<Reading> readings;      ///< parallel to quantities(); empty measurements if no repetition was ok
  std::vector<std::string> failures;  ///< one sentence per repetition without a result or over another network

  /// One sentence per disturbed repetition on what else the machine did meanwhile (stats::disturbances). Such a
  /// repetition still counts: the sheet describes the instrument as it is used.
  std::vector<std::string> disturbances{};
};

/// One quantity over all cells whose truth is known.
struct QuantitySummary {
  const Quantity* quantity = nullptr;
  int cells = 0;
  int kept = 0;
  double median_error_ns = 0;  ///< median over the cells of the error's magnitude
  double worst_error_ns = 0;   ///< the cell's error that is farthest from 0
  Cell worst_cell{};
};

/// The state of the machine around the measurement, which may explain errors.
struct Conditions {
  host::HostContext host;
  std::vector<host::Finding> findings;  ///< warnings and problems of the CPUs before the start; empty at rest
};

/// The data sheet of an instrument.
struct DataSheet {
  record::Provenance provenance;
  Conditions conditions;
  Effort effort;
  std::vector<std::string> cpus;
  std::vector<CellResult> cells;

  /// Summarises each quantity over the cells. Leaves out quantities whose truth no cell knows.
  std::vector<QuantitySummary> summary() const;
  /// True if every repetition of every cell has a result and every error is within its bound.
  bool kept() const;
};

/// Computes the cells' results from the records of trials_of(). Each record goes to the cell whose trial it ran.
std::vector<CellResult> results_of(const std::vector<Cell>& grid, std::span<const record::TrialRecord> records);

/// Version of the data sheet's JSON, which results/README.md documents. Readers refuse newer versions.
inline constexpr int kSchemaVersion = 1;

void to_json(nlohmann::json& json, const DataSheet& sheet);

/// Throws UsageError if `json` is no data sheet, has a newer schema, lacks a field or has one of the wrong type, or if
/// its verdict does not follow from its errors (the file was edited by hand).
void from_json(const nlohmann::json& json, DataSheet& sheet);

/// Reads a file written by `paretopipe calibrate --format json`. Throws UsageError that begins with the file's name.
DataSheet read_data_sheet(const std::filesystem::path& file);

/// Returns sentences that say why the sheet may not apply to the instrument that made the records: they come from
/// another machine (record::machine_of()), from the same machine after a change (kernel, governor, …), or from another
/// version of paretopipe. Returns none if nothing speaks against the sheet, or if no record names its machine and its
/// version.
std::vector<std::string> doubts(const DataSheet& sheet, std::span<const record::TrialRecord> records);

}  // namespace paretopipe::calibration
