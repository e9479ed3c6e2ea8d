// What cannot be cut is refused with the operator that is in the way.
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "archives.hpp"

namespace paretopipe::archive {
namespace {

using support::contains;

struct RefusedCode {
  const char* forward;
  std::vector<const char*> parts;  ///< of the refusal
};

const std::vector<RefusedCode> kRefusedCode{
    {"def forward(self, x):\n  if bool(torch.gt(torch.sum(x), 0)):\n    x = torch.relu(x)\n  return x\n",
     {"net.pt", "prim::If", "control flow"}},
    {"def forward(self, x):\n  x = self.conv1.forward(x)\n  if bool(torch.gt(torch.sum(x), 0)):\n    x = "
     "torch.relu(x)\n"
     "  return x\n",
     {"code/__torch__/tests", ".py:"}},  // where the operator stands
    {"def forward(self, x):\n  return torch.batch_norm(self.conv1.forward(x), self.bn.weight, self.bn.bias, "
     "self.bn.running_mean, self.bn.running_var, True, 0.1, 1e-5, True)\n",
     {"aten::batch_norm", "traced in training mode"}},
    {"def forward(self, x):\n  while bool(torch.gt(torch.sum(x), 0)):\n    x = x - 1\n  return x\n",
     {"prim::Loop", "control flow"}},
    {"def forward(self, x):\n  x.add_(1)\n  return self.conv1.forward(x)\n", {"aten::add_", "overwrites"}},
    {"def forward(self, x):\n  print(x)\n  return self.conv1.forward(x)\n", {"prim::Print", "more than"}},
    {"def forward(self, x):\n  return torch.dropout(self.conv1.forward(x), 0.5, True)\n", {"aten::dropout", "random"}},
    {"def forward(self, x):\n  return torch.feature_dropout(self.conv1.forward(x), 1e-9, True)\n",
     {"feature_dropout", "random"}},
    {"def forward(self, x):\n  torch.fill_(x[0:1, 1:2], 1)\n  return torch.relu(x)\n", {"aten::", "_", "overwrites"}},
    {"def forward(self, x):\n  mask = torch.zeros([4])\n  seen = mask[0:2]\n  torch.fill_(mask[1:3], 1)\n  return x * "
     "torch.sum(seen)\n",
     {"_", "overwrites"}},
    {"def forward(self, x):\n  return x + torch.rand([4])\n", {"aten::rand", "random"}},
    {"def forward(self, x, y):\n  return x + y\n", {"(Tensor, Tensor)", "only one tensor"}},
    {"def forward(self, x: List[Tensor]):\n  return x[0]\n", {"(List[Tensor])", "only one tensor"}},
    {"def forward(self, x):\n  return [torch.relu(x), x]\n", {"no tensor", "prim::ListConstruct"}},
    {"def forward(self, x):\n  return {\"out\": torch.relu(x)}\n", {"no tensor", "prim::DictConstruct"}},
    {"def forward(self, x):\n  return torch.sum(x)\n", {"one row for each sample"}},
    {"def forward(self, x):\n  return torch.argmax(x, 1)\n", {"must be float32"}},
    {"def forward(self, x):\n  return torch.conv2d(x, self.fc.weight)\n", {"does not compute a batch", "2x4x4x4"}},
};

TEST_CASE("an archive that cannot be cut is refused with the operator that is in the way") {
  for (const auto& [forward, parts] : kRefusedCode) {
    const auto message = refusal_of(request_for(WrittenArchive(forward).path));
    INFO(forward << "gives: " << message);
    for (const auto* part : parts) CHECK(contains(message, part));
    CHECK_FALSE(contains(message, "\n"));
  }
}

TEST_CASE("a batch size that is built into the archive is named, or shown by the result's rows, and the other works") {
  const WrittenArchive viewed("def forward(self, x):\n  return self.fc.forward(torch.view(x, [2, 64]))\n");
  CHECK(make_script_backend()->describe(request_for(viewed.path, "all", 2)).block_count() == 2);
  const auto message = refusal_of(request_for(viewed.path, "all", 3));
  INFO(message);
  CHECK(contains(message, "3x4x4x4"));
  CHECK(contains(message, "another batch size"));
  const WrittenArchive folded("def forward(self, x):\n  return torch.view(torch.relu(x), [1, -1])\n");
  CHECK(make_script_backend()->describe(request_for(folded.path, "all", 1)).block_count() == 2);
  CHECK(contains(refusal_of(request_for(folded.path, "all", 3)), "1x192 for a batch of 3"));
}

TEST_CASE("blocks that there are not, blocks that are not loaded, images and a changed file are refused by name") {
  const WrittenArchive archive("def forward(self, x):\n  return torch.relu(x)\n");
  auto request = request_for(archive.path);
  auto backend = make_script_backend();
  CHECK_THROWS_AS(backend->load(request, {0, 2}), UsageError);
  CHECK_THROWS_AS(backend->load(request, {-1, 1}), UsageError);
  backend->load(request, {0, 1});
  const auto input = backend->make_inputs(request, 1).at(0);
  CHECK(contains(support::message_of<Error>([&] { backend->forward({0, 2}, input); }), "block 1 of"));
  request.data = "fashion-mnist";
  const auto message = support::message_of<UsageError>([&] { make_script_backend()->make_inputs(request, 1); });
  CHECK(contains(message, "4x4x4"));
  CHECK(contains(message, "--data random"));
  request = request_for(archive.path);
  write_archive(archive.path.parent_path(), "def forward(self, x):\n  return torch.tanh(x)\n");
  CHECK(contains(refusal_of(request), "has changed"));
}

}  // namespace
}  // namespace paretopipe::archive
