#include <paretopipe/compute/torch/multiply_accumulates.hpp>

#include <optional>
#include <tuple>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <support/catch.hpp>
#include <torch/library.h>

namespace paretopipe::compute {
namespace {

constexpr const char* kAttention = "aten::_scaled_dot_product_flash_attention_for_cpu";

/// A LibTorch before 2 has no such operator. While this lives, it has one that computes nothing.
class AttentionOperator {
 public:
  AttentionOperator() {
    if (c10::Dispatcher::singleton().findSchema({kAttention, ""})) return;
    library_.emplace(torch::Library(torch::Library::FRAGMENT, "aten", {}, __FILE__, __LINE__));
    library_->def(
        "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value) -> (Tensor, Tensor)",
        [](const at::Tensor& query, const at::Tensor&, const at::Tensor&) { return std::tuple(query, query); });
  }

  void call(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) const {
    const auto found = c10::Dispatcher::singleton().findSchemaOrThrow(kAttention, "");
    torch::jit::Stack stack{query, key, value};
    const auto& arguments = found.schema().arguments();
    for (auto i = stack.size(); i < arguments.size(); ++i) stack.push_back(*arguments[i].default_value());
    found.callBoxed(stack);
  }

 private:
  std::optional<torch::Library> library_;
};

}  // namespace

TEST_CASE("a matrix product counts as many multiply-accumulates as its factors need, once") {
  const auto left = at::rand({3, 5}), right = at::rand({5, 7});
  MultiplyAccumulateCounter counter;
  at::mm(left, right);
  CHECK(counter.take() == 3 * 5 * 7);
  CHECK(counter.take() == 0);
}

TEST_CASE("attention that LibTorch computes as one operator counts both of its products") {
  const AttentionOperator attention;
  const auto queries = at::rand({2, 3, 5, 8}), keys = at::rand({2, 3, 7, 8}), values = at::rand({2, 3, 7, 8});
  MultiplyAccumulateCounter counter;
  attention.call(queries, keys, values);
  CHECK(counter.take() == 2 * 3 * 5 * 7 * (8 + 8));
}

}  // namespace paretopipe::compute
