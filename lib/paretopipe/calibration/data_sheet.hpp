#pragma once
#include <paretopipe/calibration/grid.hpp>
#include <paretopipe/calibration/quantity.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/record/record.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::calibration {

/// Errors of up to 1 % of the truth or 100 us, whichever is larger, are what the instrument promises.
inline constexpr double kRelativeBound = 0.01;
inline constexpr double kAbsoluteBoundNs = 100'000;

/// measured - truth over the repetitions that know the truth.
struct Deviation {
  double truth_ns = 0;
  double median_ns = 0;  ///< what the promise is about
  double worst_ns = 0;   ///< of a repetition, the one farthest from 0

  double bound_ns() const;
  bool kept() const;
};

/// One quantity of one cell.
struct Reading {
  const Quantity* quantity = nullptr;
  std::vector<double> measured_ns{};  ///< one a repetition that was ok
  std::optional<Deviation> error{};   ///< absent where the truth is unknown
};

struct CellResult {
  Cell cell;
  std::vector<Reading> readings;      ///< parallel to quantities(); without numbers if no repetition was ok
  std::vector<std::string> failures;  ///< sentences: repetitions without a result, or over another network than asked

  /// Sentences on what else went on during a repetition (stats::disturbances), one a disturbed repetition. It counts
  /// all the same: an instrument is to be known as it is used.
  std::vector<std::string> disturbances{};
};

/// One quantity over all cells that know its truth.
struct QuantitySummary {
  const Quantity* quantity = nullptr;
  int cells = 0;
  int kept = 0;
  double median_error_ns = 0;  ///< median over the cells of the error's magnitude
  double worst_error_ns = 0;   ///< of a cell, the one farthest from 0
  Cell worst_cell{};
};

/// What surrounded the measurement and may explain errors.
struct Conditions {
  host::HostContext host;
  std::vector<host::Finding> findings;  ///< warnings and problems of the CPUs before it began; empty at rest
};

/// The data sheet of an instrument.
struct DataSheet {
  record::Provenance provenance;
  Conditions conditions;
  Effort effort;
  std::vector<std::string> cpus;
  std::vector<CellResult> cells;

  /// Over the cells; without the quantities that no cell knows the truth of.
  std::vector<QuantitySummary> summary() const;
  /// Every repetition of every cell has a result, and every error is within its bound.
  bool kept() const;
};

/// The cells' results from the records of trials_of(): a record belongs to the cell whose trial it is.
std::vector<CellResult> results_of(const std::vector<Cell>& grid, std::span<const record::TrialRecord> records);

/// Version of the data sheet's JSON. results/README.md documents it; a reader refuses newer ones.
inline constexpr int kSchemaVersion = 1;

void to_json(nlohmann::json& json, const DataSheet& sheet);

/// Throws UsageError for what is no data sheet, for a newer schema, for missing or mistyped fields, and for a verdict
/// that does not follow from the errors (edited by hand).
void from_json(const nlohmann::json& json, DataSheet& sheet);

/// What `paretopipe calibrate --format json` wrote. Throws UsageError that begins with the file's name.
DataSheet read_data_sheet(const std::filesystem::path& file);

}  // namespace paretopipe::calibration
