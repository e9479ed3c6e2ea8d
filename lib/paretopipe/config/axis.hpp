#pragma once
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

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
inline void to_json(nlohmann::json& json, const Axis& axis) {
  if (axis.size() == 1) {
    json = axis.first();
  } else {
    json = std::vector<int>(axis.begin(), axis.end());
  }
}

}  // namespace paretopipe::config
