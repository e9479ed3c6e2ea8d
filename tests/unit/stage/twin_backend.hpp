#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace paretopipe::testing {

inline constexpr std::int64_t kWidth = 4;  ///< of the input, the result, and the first tensor that crosses a cut

inline wire::TensorSpec rows_of(std::int64_t rows, std::int64_t width) {
  return {wire::DType::float32, wire::MemoryFormat::contiguous, {rows, width}};
}

/// What crosses both of the model's cuts, of so many rows.
inline stage::Boundary twins(std::int64_t rows) {
  return {rows_of(rows, kWidth), rows_of(rows, kWidth / 2)};
}

/// Three blocks, between which two tensors of different sizes cross. The first goes through the second block as it is,
/// in the very memory that it came in. Neither can be left out, be taken for the other, or be another batch's: the
/// result would differ.
class TwinBackend final : public stage::Backend {
 public:
  static constexpr int kBlocks = 3;

  std::vector<std::string> models() const override { return {}; }
  nlohmann::json configure(const stage::ComputeOptions&) override { return {}; }
  experiment::ModelDescription describe(const stage::ModelRequest&) override { return {}; }
  std::int64_t held_parameter_bytes() const override { return 0; }
  void load(const stage::ModelRequest&, experiment::BlockRange) override {}
  std::vector<stage::Activation> make_inputs(const stage::ModelRequest&, int) override { return {}; }
  stage::Activation encode(stage::Activation output) override { return output; }
  stage::Activation decode(stage::Activation received) override { return received; }

  stage::Activation allocate(const wire::TensorSpec& spec) override {
    const auto bytes = static_cast<std::size_t>(wire::byte_size(spec));
    std::shared_ptr<std::byte[]> memory(new std::byte[bytes]);
    return {spec, {memory.get(), bytes}, memory};
  }

  static std::span<float> floats(const stage::Activation& tensor) {
    return {reinterpret_cast<float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
  }

  stage::Activation forward(experiment::BlockRange range, stage::Activation input) override {
    for (int block = range.begin; block < range.end; ++block) {
      if (block == 0) input = part(input);
      if (block == 1) input.others.at(0) = plus_one(input.others.at(0));
      if (block == 2) input = meet(input);
    }
    return input;
  }

 private:
  stage::Activation part(const stage::Activation& input) {
    auto first = allocate(input.spec);
    auto second = allocate(rows_of(input.spec.shape.front(), kWidth / 2));
    for (std::size_t i = 0; i < floats(input).size(); ++i) floats(first)[i] = floats(input)[i];
    for (std::size_t i = 0; i < floats(second).size(); ++i) {
      floats(second)[i] = 2 * floats(input)[2 * i] + floats(input)[2 * i + 1];
    }
    first.others.push_back(std::move(second));
    return first;
  }

  stage::Activation plus_one(const stage::Activation& tensor) {
    auto sum = allocate(tensor.spec);
    for (std::size_t i = 0; i < floats(sum).size(); ++i) floats(sum)[i] = floats(tensor)[i] + 1;
    return sum;
  }

  stage::Activation meet(const stage::Activation& both) {
    auto result = allocate(both.spec);
    for (std::size_t i = 0; i < floats(result).size(); ++i) {
      floats(result)[i] = 3 * floats(both)[i] - floats(both.tensor(1))[i / 2];
    }
    return result;
  }
};

}  // namespace paretopipe::testing
