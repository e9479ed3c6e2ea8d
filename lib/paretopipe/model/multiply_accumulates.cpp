#include <paretopipe/model/multiply_accumulates.hpp>

#include <array>
#include <utility>

#include <ATen/core/Tensor.h>

namespace paretopipe::model {
namespace {

/// The callbacks are plain function pointers, so what they share is here.
thread_local std::int64_t total = 0;
thread_local int depth = 0;  ///< of counted operators: what one of them calls is part of it

/// What has to be known before the operator runs: each output element is a dot product of this length.
struct DotProduct : at::ObserverContext {
  explicit DotProduct(std::int64_t length_) : length(length_) {}
  std::int64_t length;
};

struct Operator {
  std::string_view name;
  std::size_t operand;  ///< index of the argument that gives the length of the dot products
  std::int64_t (*length)(const at::Tensor& operand);
};

std::int64_t last_dimension(const at::Tensor& operand) {
  return operand.size(-1);
}
std::int64_t weights_per_output(const at::Tensor& weight) {
  return weight.numel() / weight.size(0);
}

constexpr std::array<Operator, 6> kOperators{{{"aten::convolution", 1, weights_per_output},
                                              {"aten::addmm", 1, last_dimension},
                                              {"aten::mm", 0, last_dimension},
                                              {"aten::bmm", 0, last_dimension},
                                              {"aten::addmv", 1, last_dimension},
                                              {"aten::mv", 0, last_dimension}}};

std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  for (const auto& candidate : kOperators) {
    if (candidate.name != name) continue;
    ++depth;
    const auto inputs = call.inputs();
    return std::make_unique<DotProduct>(candidate.length(inputs[candidate.operand].toTensor()));
  }
  return nullptr;
}

void after(const at::RecordFunction& call, at::ObserverContext* context) {
  if (context == nullptr) return;
  if (--depth > 0) return;
  total += static_cast<DotProduct*>(context)->length * call.outputs().at(0).toTensor().numel();
}

}  // namespace

MultiplyAccumulateCounter::MultiplyAccumulateCounter()
    : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(before, after)
                                             .needsInputs(true)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION}))) {
  total = 0;
}

MultiplyAccumulateCounter::~MultiplyAccumulateCounter() {
  at::removeCallback(handle_);
}

std::int64_t MultiplyAccumulateCounter::take() {
  return std::exchange(total, 0);
}

}  // namespace paretopipe::model
