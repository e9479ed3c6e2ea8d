#pragma once
#include <paretopipe/calibration/grid.hpp>
#include <paretopipe/calibration/quantity.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::calibration {

/// Errors of up to 1 % of the truth or 100 us, whichever is larger, are what the instrument promises.
inline constexpr double kRelativeBound = 0.01;
inline constexpr double kAbsoluteBoundNs = 100'000;

/// One quantity of one cell.
struct Reading {
  const Quantity* quantity = nullptr;
  std::vector<double> measured_ns;  ///< one a repetition that was ok
  std::vector<double> errors_ns;    ///< measured - truth, one a repetition; none where the truth is unknown
  std::optional<double> truth_ns;

  /// Median of the errors: what the promise is about.
  std::optional<double> error_ns() const;
  /// The one farthest from 0.
  std::optional<double> worst_error_ns() const;
  std::optional<double> bound_ns() const;
  /// Absent where the truth is unknown.
  std::optional<bool> kept() const;
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
  Cell worst_cell;
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

/// Version of the data sheet's JSON. results/README.md documents it.
inline constexpr int kSchemaVersion = 1;

void to_json(nlohmann::json& json, const DataSheet& sheet);

}  // namespace paretopipe::calibration
