#include "multiply_accumulates.hpp"

#include <array>
#include <utility>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

namespace {

/// State shared by the callbacks, which are plain function pointers.
thread_local std::int64_t total = 0;
thread_local int depth = 0;  ///< of nested counted operators; only the outermost one counts

using Arguments = c10::ArrayRef<const c10::IValue>;

/// What has to be determined before the operator runs.
struct Work : at::ObserverContext {
  Work(std::int64_t per_output_, std::int64_t whole_) : per_output(per_output_), whole(whole_) {}
  std::int64_t per_output;  ///< each output element is a dot product of this length
  std::int64_t whole;       ///< total of what is no dot product per output, such as a transposed convolution
};

struct Operator {
  std::string_view name;
  Work (*work)(Arguments arguments);
};

/// Arguments: input, weight, bias, stride, padding, dilation, transposed, ...
Work of_convolution(Arguments arguments) {
  const auto& weight = arguments[1].toTensor();
  const auto weights = weight.numel() / weight.size(0);
  if (arguments[6].toBool()) return {0, weights * arguments[0].toTensor().numel()};
  return {weights, 0};
}

/// A matrix product whose left factor is argument `Left`.
template <std::size_t Left>
Work of_product(Arguments arguments) {
  return {arguments[Left].toTensor().size(-1), 0};
}

/// LibTorch 2 has attention as one operator, whose two products are not seen: of queries and keys, then of those and
/// values. Arguments: queries, keys, values, each [batch, heads, length, features], ...
Work of_attention(Arguments arguments) {
  const auto& queries = arguments[0].toTensor();
  const auto scores = queries.numel() / queries.size(-1) * arguments[1].toTensor().size(-2);
  return {0, scores * (queries.size(-1) + arguments[2].toTensor().size(-1))};
}

/// Traced graphs call _convolution themselves.
constexpr std::array<Operator, 9> kOperators{{{"aten::convolution", of_convolution},
                                              {"aten::_convolution", of_convolution},
                                              {"aten::addmm", of_product<1>},
                                              {"aten::baddbmm", of_product<1>},
                                              {"aten::addmv", of_product<1>},
                                              {"aten::mm", of_product<0>},
                                              {"aten::bmm", of_product<0>},
                                              {"aten::mv", of_product<0>},
                                              {"aten::_scaled_dot_product_flash_attention_for_cpu", of_attention}}};

/// The operator's own arguments. An operator that the interpreter calls gets the rest of the interpreter's stack in
/// front of them.
Arguments arguments_of(const at::RecordFunction& call) {
  const auto inputs = call.inputs();
  return inputs.slice(inputs.size() - call.num_inputs());
}

std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  for (const auto& candidate : kOperators) {
    if (candidate.name != name) continue;
    auto work = std::make_unique<Work>(candidate.work(arguments_of(call)));
    ++depth;
    return work;
  }
  return nullptr;
}

void after(const at::RecordFunction& call, at::ObserverContext* context) {
  if (context == nullptr || --depth > 0) return;
  if (call.outputs().empty()) return;  // the operator failed
  const auto& work = *static_cast<Work*>(context);
  total += work.whole + work.per_output * call.outputs().back().toTensor().numel();
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

}  // namespace paretopipe::compute
