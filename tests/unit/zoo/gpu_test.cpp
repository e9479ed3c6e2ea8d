// What a GPU would compute: the graphs that are placed on it, here; and where there is one, the GPU itself.
#include <paretopipe/compute/torch/optimise.hpp>
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/compute/zoo/describe.hpp>
#include <paretopipe/compute/zoo/layers.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>

#include <c10/core/InferenceMode.h>
#include <support/catch.hpp>
#include <torch/cuda.h>

namespace paretopipe::zoo {
namespace {

constexpr int kClasses = 10;

stage::ModelRequest gpu_request_for(const std::string& model) {
  return {.model = model, .num_classes = kClasses, .batch = 2, .seed = 1, .data = "random"};
}

Forward whole_model(const std::string& name) {
  const auto& model = find_model(name);
  std::vector<Forward> blocks;
  for (const auto& block : model.plan(kClasses)) blocks.push_back(build_block(model.name, block, 1).forward);
  return chain(std::move(blocks));
}

/// What comes back to the host of a model that is split at `k`, on the device that `backend` was configured for.
at::Tensor through(stage::Backend& backend, const stage::ModelRequest& request, int k) {
  const int blocks = backend.describe(request).block_count();
  backend.load(request, {0, blocks});
  auto sent = backend.encode(backend.forward({0, k}, backend.make_inputs(request, 1).at(0)));
  return compute::to_tensor(backend.encode(backend.forward({k, blocks}, backend.decode(std::move(sent))))).clone();
}

}  // namespace

TEST_CASE("the operators that a GPU is given compute the same bits as the blocks, where the host computes them") {
  const c10::InferenceMode inference;
  const auto model = GENERATE(as<std::string>(), "mobilenet_v2", "densenet_cifar", "vit_b_16", "roberta_base");
  CAPTURE(model);
  const auto blocks = whole_model(model);
  const auto input = compute::to_tensor(make_model_backend()->make_inputs(gpu_request_for(model), 1).at(0));
  const auto expected = blocks({input.clone()}).front();
  auto graph = trace(blocks, {input});
  compute::place(graph, {}, at::kCPU);
  CHECK(compute::Program(graph).run({input.clone()}).front().equal(expected));
}

TEST_CASE("on a GPU, every split is within the tolerance of what the host computes", "[gpu][needs:gpu]") {
  if (torch::cuda::device_count() == 0) {
    support::skip("LibTorch finds no GPU here");
  }
  const c10::InferenceMode inference;
  const auto model = GENERATE(as<std::string>(), "resnet18", "densenet_cifar", "roberta_base");
  const auto request = gpu_request_for(model);
  const auto host = make_model_backend();
  host->configure({});
  const auto expected = through(*host, request, 0);
  const auto gpu = make_model_backend();
  CHECK(gpu->configure({.device = "cuda:0"}).at("device") == "cuda:0");
  for (const int k : {0, 3, 6}) {
    CAPTURE(model, k);
    const auto difference = through(*gpu, request, k).sub(expected).abs().max().item<float>();
    CHECK(difference <= 1e-4F * expected.abs().max().item<float>());
  }
  gpu->configure({});
}

}  // namespace paretopipe::zoo
