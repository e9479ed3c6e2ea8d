// Archives in every way to compute: a split against the unsplit archive that is computed in the same way.
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>

#include <c10/core/InferenceMode.h>
#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "archives.hpp"

namespace paretopipe::archive {
namespace {

using experiment::Compute;
using experiment::ComputeMode;
using experiment::MemoryFormat;
using experiment::Precision;

// clang-format off
const std::vector<const char*> kNets{
    kClassifier,
    "def forward(self, x):\n  x = torch.relu(x)\n  y = torch.cat([self.conv1.forward(x), self.conv2.forward(x)], 1)\n"
    "  return torch.flatten(torch.tanh(y), 1)\n",
    "def forward(self, x):\n  y = self.scale * 2\n  x = x * y\n  x = torch.relu(x)\n  return torch.flatten(x * y, 1)\n",
    "def forward(self, x):\n  return torch.flatten(torch.relu(x), 1)\n",
    "def forward(self, x):\n  x = torch.relu(torch.conv2d(x, self.conv1.weight, None, [1, 1], \"same\"))\n"
    "  x = torch.conv2d(x, torch.slice(self.conv1.weight, 3, 0, 2), None, [1, 1], \"same\", [1, 2])\n"
    "  return torch.flatten(torch.conv2d(x, self.conv2.weight, None, [1, 1], \"valid\"), 1)\n",
};
// clang-format on

double largest(const at::Tensor& tensor) {
  return tensor.abs().max().item().toDouble();
}

double difference(const at::Tensor& left, const at::Tensor& right) {
  return largest(left.sub(right));
}

/// The largest difference of a split from the unsplit archive, as a share of the largest logit.
double check_every_split(const std::filesystem::path& archive, const std::string& cuts, const ComputeMode& mode,
                         int batch, int max_crossing = 1) {
  const c10::InferenceMode inference;
  auto first = make_script_backend();
  auto second = make_script_backend();
  first->configure({});
  auto request = request_for(archive, cuts, batch, max_crossing);
  request.compute = mode;
  const auto description = first->describe(request);
  const int blocks = description.block_count();
  first->load(request, {0, blocks});
  const auto input = first->make_inputs(request, 1).at(0);
  const auto expected = compute::to_tensor(first->forward({0, blocks}, input));
  double worst = 0;
  for (int k = blocks; k >= 0; --k) {
    INFO("split " << k << "/" << blocks);
    second->load(request, {k, blocks});
    first->prepare({0, k}, {input.spec});
    const auto sent = first->forward({0, k}, input);
    const bool inside = k > 0 && k < blocks;
    CHECK(is_described(sent, description, k, inside ? mode : ComputeMode{}));
    second->prepare({k, blocks}, boundary_of(sent));
    const auto result = compute::to_tensor(second->forward({k, blocks}, send(*second, sent)));
    worst = std::max(worst, difference(result, expected));
  }
  return worst / largest(expected);
}

TEST_CASE("an archive's splits keep the tolerance of every mode, and eager ones every bit") {
  for (const auto compute : {Compute::eager, Compute::optimized}) {
    for (const auto dtype : {Precision::float32, Precision::bfloat16}) {
      for (const auto format : {MemoryFormat::contiguous, MemoryFormat::channels_last}) {
        const ComputeMode mode{compute, dtype, format};
        for (const auto* net : kNets) {
          INFO(describe(mode) << ": " << net);
          const WrittenArchive archive(net);
          CHECK(check_every_split(archive.path, "all", mode, 2) <= mode.relative_tolerance());
          CHECK(check_every_split(archive.path, "unit", mode, 1) <= mode.relative_tolerance());
          CHECK(check_every_split(archive.path, "all", mode, 1, 2) <= mode.relative_tolerance());
        }
      }
    }
  }
}

TEST_CASE("optimized, an archive computes what it computes, but for roundings, and holds the rewritten weights too") {
  const c10::InferenceMode inference;
  const WrittenArchive archive(kClassifier);
  auto backend = make_script_backend();
  auto request = request_for(archive.path, "unit", 1);
  request.compute.compute = Compute::optimized;
  const experiment::BlockRange all{0, backend->describe(request).block_count()};
  backend->load(request, all);
  const auto held = backend->held_parameter_bytes();
  const auto input = backend->make_inputs(request, 1).at(0);
  const auto expected = compute_whole(archive.path, compute::to_tensor(input));
  const auto got = compute::to_tensor(backend->forward(all, input));
  CHECK(difference(got, expected) <= 1e-5 * largest(expected));
  CHECK(backend->held_parameter_bytes() > held);
  backend->prepare({0, 0}, {input.spec});
  CHECK(backend->held_parameter_bytes() == held);
}

TEST_CASE("an archive's ranges are prepared once, whatever batch or archive was in between, and change no bit") {
  const c10::InferenceMode inference;
  const support::TemporaryFolder folder;
  const auto first = write_archive(folder.path(), kNets.front(), "first.pt");
  const auto other = write_archive(folder.path(), kNets.at(1), "other.pt");
  auto backend = make_script_backend();
  backend->keep_prepared(1 << 30);
  const auto prepare_and_compute = [&](stage::Backend& stage, const std::filesystem::path& archive, int batch) {
    auto request = request_for(archive, "unit", batch);
    request.compute.compute = Compute::optimized;
    const experiment::BlockRange all{0, stage.describe(request).block_count()};
    stage.load(request, all);
    const auto input = stage.make_inputs(request, 1).at(0);
    const bool made = stage.prepare(all, {input.spec}).value().made;
    return std::pair(made, compute::to_tensor(stage.forward(all, input)).clone());
  };
  std::vector<at::Tensor> results;
  for (int repetition = 0; repetition < 2; ++repetition) {
    for (const auto& [archive, batch] : {std::pair(first, 1), {first, 2}, {other, 2}}) {
      const auto [made, result] = prepare_and_compute(*backend, archive, batch);
      CHECK(made == (repetition == 0));
      CHECK(result.equal(prepare_and_compute(*make_script_backend(), archive, batch).second));
    }
  }
}

TEST_CASE("an archive that insists on float32 is refused in bfloat16, with the operator's reason") {
  const WrittenArchive archive(
      "def forward(self, x):\n  x = torch.to(torch.relu(x), 6, False, False)\n"
      "  return self.fc.forward(torch.flatten(self.conv1.forward(x), 1))\n");
  auto request = request_for(archive.path);
  request.compute.dtype = Precision::bfloat16;
  const auto reason = support::message_of<Error>([&] { make_script_backend()->describe(request); });
  CHECK(support::contains(reason, "net.pt does not compute a bfloat16 batch of shape 2x4x4x4"));
}

}  // namespace
}  // namespace paretopipe::archive
