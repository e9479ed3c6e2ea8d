// What cannot be cut is refused with the operator that is in the way.
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "archives.hpp"

namespace paretopipe::archive {
namespace {

std::string refusal(const stage::ModelRequest& request) {
  try {
    make_script_backend()->describe(request);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    return error.what();
  }
  return "(nothing was thrown)";
}

std::string refusal(const std::string& forward) {
  const support::TemporaryFolder folder;
  return refusal(request_for(write_archive(folder.path(), forward)));
}

struct RefusedCode {
  const char* forward;
  std::vector<const char*> parts;  ///< of the refusal
};

const std::vector<RefusedCode> kRefusedCode{
    {"def forward(self, x):\n  if bool(torch.gt(torch.sum(x), 0)):\n    x = torch.relu(x)\n  return x\n",
     {"net.pt", "prim::If", "control flow"}},
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
    const auto message = refusal(forward);
    INFO(forward << "gives: " << message);
    for (const auto* part : parts) CHECK(support::contains(message, part));
    CHECK_FALSE(support::contains(message, "\n"));
  }
}

TEST_CASE("the refusal says where the operator stands: its module, and the place in the archive's code") {
  const support::TemporaryFolder folder;
  const auto message = refusal(
      "def forward(self, x):\n  x = self.conv1.forward(x)\n  if bool(torch.gt(torch.sum(x), 0)):\n    x = "
      "torch.relu(x)\n"
      "  return x\n");
  INFO(message);
  CHECK(support::contains(message, "code/__torch__/tests"));
  CHECK(support::contains(message, ".py:"));
}

TEST_CASE("a batch size that is built into the archive is named, and the other works") {
  const support::TemporaryFolder folder;
  const auto archive =
      write_archive(folder.path(), "def forward(self, x):\n  return self.fc.forward(torch.view(x, [2, 64]))\n");
  CHECK(make_script_backend()->describe(request_for(archive, "all", 2)).block_count() == 2);
  const auto message = refusal(request_for(archive, "all", 3));
  INFO(message);
  CHECK(support::contains(message, "3x4x4x4"));
  CHECK(support::contains(message, "another batch size"));
}

TEST_CASE("a batch size that is built in and silently folds the batch is refused by the result's rows") {
  const support::TemporaryFolder folder;
  const auto archive =
      write_archive(folder.path(), "def forward(self, x):\n  return torch.view(torch.relu(x), [1, -1])\n");
  CHECK(make_script_backend()->describe(request_for(archive, "all", 1)).block_count() == 2);
  CHECK(support::contains(refusal(request_for(archive, "all", 3)), "1x192 for a batch of 3"));
}

TEST_CASE("a file that changed since its SHA-256 was taken is refused") {
  const support::TemporaryFolder folder;
  const auto request = request_for(write_archive(folder.path(), "def forward(self, x):\n  return torch.relu(x)\n"));
  write_archive(folder.path(), "def forward(self, x):\n  return torch.tanh(x)\n");
  CHECK(support::contains(refusal(request), "has changed"));
}

TEST_CASE("blocks that there are not, and blocks that are not loaded, are errors that name them") {
  const support::TemporaryFolder folder;
  const auto request = request_for(write_archive(folder.path(), "def forward(self, x):\n  return torch.relu(x)\n"));
  auto backend = make_script_backend();
  CHECK_THROWS_AS(backend->load(request, {0, 2}), UsageError);
  CHECK_THROWS_AS(backend->load(request, {-1, 1}), UsageError);
  backend->load(request, {0, 1});
  const auto input = backend->make_inputs(request, 1).at(0);
  CHECK(support::contains(support::message_of<Error>([&] { backend->forward({0, 2}, input); }), "block 1 of"));
}

TEST_CASE("images are refused where the model takes none") {
  const support::TemporaryFolder folder;
  auto request = request_for(write_archive(folder.path(), "def forward(self, x):\n  return torch.relu(x)\n"));
  request.data = "fashion-mnist";
  const auto message = support::message_of<UsageError>([&] { make_script_backend()->make_inputs(request, 1); });
  CHECK(support::contains(message, "4x4x4"));
  CHECK(support::contains(message, "--data random"));
}

}  // namespace
}  // namespace paretopipe::archive
