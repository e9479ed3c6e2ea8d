#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// Which phases a trial has, named after MLPerf's scenarios: single_stream measures latency with one batch in flight,
/// and offline measures throughput with `depth` batches in flight. A Server phase may follow (ServerLoad). A trial that
/// trains has its steps instead.
enum class Phases { both, single_stream, offline, training };

inline bool has_single_stream(Phases phases) {
  return phases == Phases::both || phases == Phases::single_stream;
}
inline bool has_offline(Phases phases) {
  return phases == Phases::both || phases == Phases::offline;
}
inline int count(Phases phases) {
  return phases == Phases::both ? 2 : 1;
}

/// "both", "single-stream", "offline", "training"
std::string to_string(Phases phases);

/// Parses these names. Throws UsageError that lists them.
Phases parse_phases(const std::string& text);

/// "single-stream only", "offline only", "training", or empty for both. For people.
std::string describe(Phases phases);

void to_json(nlohmann::json& json, Phases phases);
/// Throws as parse_phases() does.
void from_json(const nlohmann::json& json, Phases& phases);

/// What splits are compared with.
///
/// | single        | the whole model on one device: the endpoint "all local", which is measured with the partitions |
/// | sequential    | the same stages with one batch in flight: the SingleStream phase of every trial                |
/// | data_parallel | the whole model on every device, to which batches are dealt: a trial besides the partitions'   |
enum class Baseline { single, sequential, data_parallel };

/// Parses "single", "sequential" or "data-parallel". Throws UsageError for anything else.
Baseline parse_baseline(const std::string& text);

/// The values of a setting that are measured in turn. A single value, the common case, converts to an axis. `validate`
/// ensures that there is at least one value and that none occurs twice.
class Axis {
 public:
  Axis(int value) : values_{value} {}
  Axis(std::initializer_list<int> values) : values_(values) {}
  Axis(std::vector<int> values) : values_(std::move(values)) {}

  int first() const { return values_.front(); }
  std::size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  bool operator==(const Axis&) const = default;

 private:
  std::vector<int> values_;
};

/// Writes a number if there is one value, otherwise a list.
template <class Json>
void to_json(Json& json, const Axis& axis) {
  if (axis.size() == 1) {
    json = axis.first();
  } else {
    json = std::vector<int>(axis.begin(), axis.end());
  }
}

}  // namespace paretopipe::experiment
