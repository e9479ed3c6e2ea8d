#pragma once
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// The values of a setting that are measured, one after the other: mostly one, which converts to an axis. `validate`
/// sees to it that there is one at least, and none twice.
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

/// A number where there is one value, else a list.
inline void to_json(nlohmann::json& json, const Axis& axis) {
  if (axis.size() == 1) {
    json = axis.first();
  } else {
    json = std::vector<int>(axis.begin(), axis.end());
  }
}

}  // namespace paretopipe::config
