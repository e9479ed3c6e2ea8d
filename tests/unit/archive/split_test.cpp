// A split must not change a bit, whatever the cut: the backend as two stages would use it, against LibTorch's own.
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/torch/tensors.hpp>

#include <ATen/ops/equal.h>
#include <c10/core/InferenceMode.h>
#include <support/catch.hpp>

#include "archives.hpp"

namespace paretopipe::archive {
namespace {

/// The first stage holds and runs blocks [0, k), the second [k, N), for every k from 0 to N. Returns N.
int compare_every_split(const std::filesystem::path& archive, const std::string& cuts, int batch, int max_crossing) {
  const c10::InferenceMode inference;
  auto first = make_script_backend();
  auto second = make_script_backend();
  first->configure({});
  const auto request = request_for(archive, cuts, batch, max_crossing);
  const auto description = first->describe(request);
  const int blocks = description.block_count();
  first->load(request, {0, blocks});
  const auto input = first->make_inputs(request, 1).at(0);
  const auto expected = compute_whole(archive, compute::to_tensor(input));
  for (int k = blocks; k >= 0; --k) {
    INFO(archive << " split " << k << "/" << blocks);
    second->load(request, {k, blocks});
    const auto sent = first->encode(first->forward({0, k}, input));
    CHECK(is_described(sent, description, k));
    const auto result = second->forward({k, blocks}, second->decode(send(*second, sent)));
    CHECK(at::equal(compute::to_tensor(result), expected));
  }
  return blocks;
}

struct SplitCase {
  const char* what;
  const char* forward;
  int blocks;  ///< with all cuts
};

// clang-format off
/// Blocks of the cuts that two tensors may cross.
const std::vector<SplitCase> kCasesOfTwo{
    {"a chain of layers, which two tensors cross nowhere",
     "def forward(self, x):\n  x = self.act.forward(self.bn.forward(self.conv1.forward(x)))\n  return self.fc.forward(torch.flatten(x, 1))\n", 5},
    {"inside of a residual block, behind each of its five operators up to the sum",
     "def forward(self, x):\n  x = self.block.forward(self.conv1.forward(x))\n  return self.fc.forward(torch.flatten(x, 1))\n", 10},
    {"a residual block that begins at the input itself",
     "def forward(self, x):\n  return self.fc.forward(torch.flatten(self.block.forward(x), 1))\n", 9},
    {"branches beside each other, of which one is computed after the other",
     "def forward(self, x):\n  x = torch.relu(x)\n  y = torch.cat([self.conv1.forward(x), self.act.forward(self.conv2.forward(x))], 1)\n"
     "  return torch.flatten(torch.tanh(y), 1)\n", 7},
    {"dense layers, where the third layer would need three tensors",
     "def forward(self, x):\n  a = self.conv1.forward(x)\n  b = self.conv2.forward(torch.relu(a))\n"
     "  c = torch.tanh(torch.add(a, b))\n  return torch.flatten(torch.cat([a, b, c], 1), 1)\n", 5},
    {"a tensor that is needed beyond for its size alone",
     "def forward(self, x):\n  y = self.conv1.forward(x)\n  return torch.relu(y).view(y.size(0), -1)\n", 3},
};

const std::vector<SplitCase> kSplitCases{
    {"a chain of layers, in place",
     "def forward(self, x):\n  x = self.act.forward(self.bn.forward(self.conv1.forward(x)))\n  return self.fc.forward(torch.flatten(x, 1))\n", 5},
    {"residual blocks, whose inside offers no cut",
     "def forward(self, x):\n  x = self.block.forward(self.conv1.forward(x))\n  return self.fc.forward(torch.flatten(self.block.forward(x), 1))\n", 7},
    {"a list that grows and is read in between",
     "def forward(self, x):\n  xs = [self.conv1.forward(x)]\n  xs.append(self.conv2.forward(torch.cat(xs, 1)))\n"
     "  y = torch.add(torch.chunk(torch.cat(xs, 1), 2, 1)[0], 1)\n  xs.append(y)\n"
     "  y = torch.relu(torch.cat(xs, 1))\n  return torch.flatten(y, 1)\n", 4},
    {"branches that are joined",
     "def forward(self, x):\n  x = torch.relu(x)\n  y = torch.cat([self.conv1.forward(x), self.conv2.forward(x)], 1)\n"
     "  return torch.flatten(torch.tanh(y), 1)\n", 4},
    {"a tuple, of which the first tensor is the result",
     "def forward(self, x):\n  x = self.conv1.forward(x)\n  return torch.flatten(torch.relu(x), 1), torch.tanh(x)\n", 3},
    {"dropouts of other kinds, which evaluation turns off",
     "def forward(self, x):\n  x = torch.alpha_dropout(self.conv1.forward(x), 0.5, self.training)\n"
     "  return torch.flatten(torch.feature_alpha_dropout(torch.tanh(x), 0.5, False), 1)\n", 5},
    {"dropout, which evaluation turns off",
     "def forward(self, x):\n  x = torch.dropout(self.conv1.forward(x), 0.5, self.training)\n  return torch.flatten(x, 1)\n", 2},
    {"dropout in training mode of probability 0, in place and not, which drops nothing",
     "def forward(self, x):\n  x = torch.dropout(self.conv1.forward(x), 0.0, True)\n  x = torch.feature_dropout(torch.tanh(x), 0.0, True)\n"
     "  torch.alpha_dropout_(x, 0.0, True)\n  return torch.flatten(x, 1)\n", 3},
    {"a mask whose parts are filled in place, and that depends on a size",
     "def forward(self, x):\n  x = self.conv1.forward(x)\n  mask = torch.new_zeros(x, [x.size(2), 4])\n"
     "  torch.fill_(mask[0:2, 1:3], 2)\n  torch.fill_(mask[1:], 3)\n  torch.fill_(mask[-1:, ::2], 5)\n  return torch.flatten(torch.relu(x * mask), 1)\n", 4},
    {"views that take sizes from the tensor",
     "def forward(self, x):\n  x = self.conv1.forward(x)\n  x = x.view(x.size(0), -1)\n  x = torch.relu(x)\n"
     "  return x.view([x.size(0), 8, 8]).transpose(1, 2).contiguous().view(x.size(0), -1)\n", 4},
    {"a constant that both sides of a cut use",
     "def forward(self, x):\n  y = self.scale * 2\n  x = x * y\n  x = torch.relu(x)\n  return torch.flatten(x * y, 1)\n", 4},
    {"a loop that LibTorch can unroll",
     "def forward(self, x):\n  for i in range(3):\n    x = torch.tanh(x * float(i + 1))\n  return torch.flatten(x, 1)\n", 7},
    {"a single operator",
     "def forward(self, x):\n  return torch.relu(x)\n", 1},
    {"no operator at all",
     "def forward(self, x):\n  return x\n", 1},
};
// clang-format on

TEST_CASE("every cut of an archive computes the same bits as the archive itself, where two tensors cross too") {
  const int crossing = GENERATE(1, 2);
  for (const auto& [what, forward, blocks] : crossing == 1 ? kSplitCases : kCasesOfTwo) {
    INFO(what);
    const WrittenArchive archive(forward);
    CHECK(compare_every_split(archive.path, "all", 2, crossing) == blocks);
    CHECK(compare_every_split(archive.path, "unit", 1, crossing) <= blocks);
    compare_every_split(archive.path, "modules", 3, crossing);
  }
}

TEST_CASE("a stage keeps only the parameters of its own blocks") {
  const WrittenArchive archive(
      "def forward(self, x):\n  x = self.conv1.forward(x)\n  x = self.bn.forward(self.conv2.forward(x))\n"
      "  return self.fc.forward(torch.flatten(x, 1))\n");
  auto backend = make_script_backend();
  const auto request = request_for(archive.path);
  const auto description = backend->describe(request);
  REQUIRE(description.block_count() == 5);
  CHECK(backend->held_parameter_bytes() == 0);
  CHECK(description.blocks[0].parameters == 4 * 4 * 9);
  CHECK(description.blocks[0].parameter_bytes == 4 * 4 * 4 * 9);
  CHECK(description.blocks[2].parameters == 8);  // two of four tensors are buffers
  CHECK(description.blocks[2].parameter_bytes == 4 * 16);
  CHECK(description.blocks[4].parameters == 5 * 64 + 5);
  backend->load(request, {2, 3});
  CHECK(backend->held_parameter_bytes() == description.parameter_bytes({2, 3}));
  backend->load(request, {4, 5});
  CHECK(backend->held_parameter_bytes() == description.parameter_bytes({2, 3}) + description.parameter_bytes({4, 5}));
  auto other_batch = request;
  other_batch.batch = 3;
  backend->load(other_batch, {0, 1});
  CHECK(backend->held_parameter_bytes() == description.parameter_bytes({0, 1}));
}

TEST_CASE("multiply-accumulates and bytes are those that one calculates by hand, for the batch") {
  const WrittenArchive archive(
      "def forward(self, x):\n  return self.fc.forward(torch.flatten(self.conv1.forward(x), 1))\n");
  const auto description = make_script_backend()->describe(request_for(archive.path, "unit", 3));
  CHECK(description.model == "net.pt");
  CHECK(description.batch == 3);
  CHECK(description.input_shape == std::vector<std::int64_t>{3, 4, 4, 4});
  CHECK(description.input_bytes == 3 * 64 * 4);
  REQUIRE(description.block_count() == 2);
  CHECK(description.blocks[0].multiply_accumulates == 3 * 4 * 16 * 4 * 9);
  CHECK(description.blocks[0].activation_bytes == 3 * 64 * 4);
  CHECK(description.blocks[1].multiply_accumulates == 3 * 5 * 64);
  CHECK(description.blocks[1].output_shape == std::vector<std::int64_t>{3, 5});
}

TEST_CASE("multiply-accumulates are those of the operator alone, whatever else the graph keeps for later") {
  const auto count = [](const std::string& result) {
    const WrittenArchive archive("def forward(self, x):\n  y = torch.tanh(x)\n" + result);
    return make_script_backend()->describe(request_for(archive.path, "modules", 1)).blocks.at(0).multiply_accumulates;
  };
  const std::int64_t convolution = 4 * 16 * 4 * 9;
  CHECK(count("  return torch.cat([y, self.conv1.forward(x), self.conv2.forward(y)], 1)\n") == 2 * convolution);
  // As a traced graph has it; then transposed, where each input is multiplied by 4 x 3 x 3 weights.
  const std::string arguments =
      "self.conv1.weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, True, True, True, True";
  CHECK(count("  return y + torch._convolution(x, " + arguments + ")\n") == convolution);
  CHECK(count("  return torch.flatten(torch.conv_transpose2d(x, self.conv1.weight, None, [2, 2]), 1)\n") == 64 * 4 * 9);
}

}  // namespace
}  // namespace paretopipe::archive
