#include "archives.hpp"

#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/files/zip_archive.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>

#include <limits>

#include <ATen/Context.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <support/files.hpp>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/serialization/import.h>

namespace paretopipe::archive {
namespace {

using torch::jit::Module;

/// Types are told apart by name when they are saved.
Module make_module(const std::string& type) {
  Module module(c10::QualifiedName(fmt::format("__torch__.tests.{}", type)));
  module.register_attribute("training", c10::BoolType::get(), true);
  return module;
}

// Weights have the variance 1 / inputs, as trained ones about have, or roundings would not be small beside the logits.

/// Asks for gradients, as PyTorch's parameters do.
void add_parameter(Module& module, const std::string& name, at::Tensor value) {
  module.register_parameter(name, value.set_requires_grad(true), false);
}

Module convolution(const std::string& type) {
  auto module = make_module(type);
  add_parameter(module, "weight", at::randn({4, 4, 3, 3}).div_(6));
  module.define("def forward(self, x):\n  return torch.conv2d(x, self.weight, None, [1, 1], [1, 1])\n");
  return module;
}

Module batch_norm(const std::string& type) {
  auto module = make_module(type);
  add_parameter(module, "weight", at::randn({4}));
  add_parameter(module, "bias", at::randn({4}));
  module.register_buffer("running_mean", at::randn({4}));
  module.register_buffer("running_var", at::rand({4}).add_(0.5));
  module.define(
      "def forward(self, x):\n  return torch.batch_norm(x, self.weight, self.bias, self.running_mean, "
      "self.running_var, self.training, 0.1, 1e-5, True)\n");
  return module;
}

Module activation(const std::string& type) {
  auto module = make_module(type);
  module.define("def forward(self, x):\n  return torch.relu_(x)\n");
  return module;
}

Module residual_block() {
  auto module = make_module("Block");
  module.register_module("conv1", convolution("BlockConv1"));
  module.register_module("bn1", batch_norm("BlockNorm1"));
  module.register_module("relu", activation("BlockRelu"));
  module.register_module("conv2", convolution("BlockConv2"));
  module.register_module("bn2", batch_norm("BlockNorm2"));
  module.define(
      "def forward(self, x):\n"
      "  y = self.relu.forward(self.bn1.forward(self.conv1.forward(x)))\n"
      "  y = self.bn2.forward(self.conv2.forward(y))\n"
      "  y += x\n"
      "  return self.relu.forward(y)\n");
  return module;
}

Module linear() {
  auto module = make_module("Linear");
  add_parameter(module, "weight", at::randn({5, 64}).div_(8));
  add_parameter(module, "bias", at::randn({5}));
  module.define("def forward(self, x):\n  return torch.linear(x, self.weight, self.bias)\n");
  return module;
}

Module frozen(Module module, Numbers where) {
  if (where == Numbers::attributes) return module;
  module.eval();
  std::vector<std::string> kept;
  if (where == Numbers::both) kept.emplace_back("scale");
  return torch::jit::freeze_module(module, kept);
}

}  // namespace

std::filesystem::path write_archive(const std::filesystem::path& folder, const std::string& forward,
                                    const std::string& name, Numbers where, std::uint64_t seed) {
  at::manual_seed(seed);
  auto net = make_module("Net");
  add_parameter(net, "scale", at::randn({4, 1, 1}));
  net.register_buffer("order", at::tensor({2, 0, 3, 1}, at::kLong));
  net.register_module("conv1", convolution("Conv1"));
  net.register_module("conv2", convolution("Conv2"));
  net.register_module("bn", batch_norm("Norm"));
  auto counted = batch_norm("Counted");
  counted.register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
  net.register_module("counted", counted);
  net.register_module("act", activation("Relu"));
  net.register_module("block", residual_block());
  net.register_module("fc", linear());
  const auto mask = at::zeros({4, 1, 1});
  mask[3].fill_(-std::numeric_limits<float>::infinity());
  net.register_buffer("mask", mask);
  net.define(forward);
  const auto file = folder / name;
  frozen(net, where).save(file.string());
  return file;
}

std::filesystem::path write_deep_archive(const std::filesystem::path& folder, int layers, std::int64_t features) {
  auto net = make_module("Deep");
  std::string forward = "def forward(self, x):\n";
  for (int i = 0; i < layers; ++i) {
    add_parameter(net, fmt::format("weight{}", i), at::randn({features, features}));
    forward += fmt::format("  x = torch.relu(torch.linear(x, self.weight{}))\n", i);
  }
  net.define(forward + "  return x\n");
  const auto file = folder / "deep.pt";
  net.save(file.string());
  return file;
}

std::vector<files::ZipMember> members_of(const std::filesystem::path& archive) {
  const auto bytes = support::read_file(archive);
  std::vector<files::ZipMember> members;
  for (const auto& [name, entry] : files::read_entries(files::bytes_of(bytes))) {
    const std::string stored(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
    members.push_back({std::string(name), entry.file_bytes ? files::inflated(entry, 1'000'000) : stored});
  }
  return members;
}

stage::ModelRequest request_for(const std::filesystem::path& archive, const std::string& cuts, int batch,
                                int max_crossing) {
  return {.model = archive.string(),
          .num_classes = 10,
          .batch = batch,
          .seed = 1,
          .data = "random",
          .archive = experiment::Archive{
              .sha256 = sha256_of_file(archive), .input_shape = {4, 4, 4}, .cuts = cuts, .max_crossing = max_crossing}};
}

std::string refusal_of(const stage::ModelRequest& request) {
  try {
    make_script_backend()->describe(request);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    return error.what();
  }
  return "(nothing was thrown)";
}

bool is_described(const stage::Activation& activation, const experiment::ModelDescription& description, int split,
                  const experiment::ComputeMode& mode) {
  stage::Boundary described;
  for (auto& shape : description.shapes_at(split)) described.push_back(stage::activation_spec(mode, shape));
  return boundary_of(activation) == described && bytes_of(activation) == description.bytes_at(split);
}

at::Tensor compute_whole(const std::filesystem::path& archive, const at::Tensor& input) {
  auto module = torch::jit::load(archive.string());
  for (auto child : module.modules()) {
    if (child.hasattr("training")) child.setattr("training", false);  // a frozen one has none
  }
  const auto result = module.forward({input.clone()});
  return result.isTuple() ? result.toTupleRef().elements()[0].toTensor() : result.toTensor();
}

}  // namespace paretopipe::archive
