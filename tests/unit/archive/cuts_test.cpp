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

using Names = std::vector<std::string>;

const char* const kNet =
    "def forward(self, x):\n"
    "  x = self.act.forward(self.bn.forward(self.conv1.forward(x)))\n"
    "  x = self.block.forward(x)\n"
    "  x = torch.max_pool2d(x, [1, 1])\n"
    "  x = self.conv2.forward(x)\n"
    "  return self.fc.forward(torch.flatten(x, 1))\n";

Names block_names(const std::string& cuts, int max_crossing = 1) {
  const support::TemporaryFolder folder;
  auto request = request_for(write_archive(folder.path(), kNet), cuts);
  request.archive->max_crossing = max_crossing;
  Names names;
  for (const auto& block : make_script_backend()->describe(request).blocks) names.push_back(block.name);
  return names;
}

TEST_CASE("all cuts: every value that all paths go through, by the names of the author's modules") {
  CHECK(block_names("all") ==
        Names{"conv1", "bn", "act", "block.conv1..block.add", "block.relu", "max_pool2d", "conv2", "flatten", "fc"});
}

TEST_CASE("units keep a convolution with its batch norm and activation, and a tensor with its views") {
  CHECK(block_names("unit") == Names{"conv1..act", "block", "max_pool2d", "conv2", "flatten..fc"});
}

TEST_CASE("modules end at the results of the top module's children") {
  CHECK(block_names("modules") == Names{"conv1", "bn", "act", "block", "max_pool2d..conv2", "flatten..fc"});
}

TEST_CASE("a pattern picks cuts by operator or by the module whose result they are") {
  CHECK(block_names("block") == Names{"conv1..block.relu", "max_pool2d..fc"});
  CHECK(block_names("conv?") == Names{"conv1", "bn..conv2", "flatten..fc"});
  CHECK(block_names("*relu") == Names{"conv1..block.relu", "max_pool2d..fc"});
}

TEST_CASE("two tensors cross inside of a residual block, under both names, where the selection allows both") {
  CHECK(block_names("all", 2) == Names{"conv1", "bn", "act", "act + block.conv1", "act + block.bn1", "act + block.relu",
                                       "act + block.conv2", "act + block.bn2", "block.add", "block.relu", "max_pool2d",
                                       "conv2", "flatten", "fc"});
  CHECK(block_names("unit", 2) == Names{"conv1..act", "act + block.relu", "act + block.bn2", "block.add..block.relu",
                                        "max_pool2d", "conv2", "flatten..fc"});
  CHECK(block_names("modules", 2) == block_names("modules"));
  CHECK(block_names("block.conv?", 2) == Names{"act + block.conv1", "act + block.conv2", "block.bn2..fc"});
  CHECK(block_names("act + block.bn1", 2) == Names{"act + block.bn1", "block.relu..fc"});
}

TEST_CASE("of two tensors that cross, the shapes and the bytes of both are described") {
  const support::TemporaryFolder folder;
  auto request = request_for(write_archive(folder.path(), kNet), "act + block.bn1", 3);
  request.archive->max_crossing = 2;
  const auto description = make_script_backend()->describe(request);
  const std::vector<std::int64_t> shape{3, 4, 4, 4};
  REQUIRE(description.block_count() == 2);
  CHECK(description.shapes_at(1) == std::vector{shape, shape});
  CHECK(description.bytes_at(1) == 2 * 3 * 64 * 4);
  CHECK(description.shapes_at(2).size() == 1);
  CHECK(nlohmann::json(description).get<experiment::ModelDescription>() == description);
}

TEST_CASE("a pattern that fits nothing is refused with the names that there are") {
  const auto message = support::message_of<UsageError>([] { block_names("layer1"); });
  INFO(message);
  CHECK(support::contains(message, "\"layer1\""));
  CHECK(support::contains(message, "max_pool2d"));
}

TEST_CASE("a module that is used twice gives two names") {
  const support::TemporaryFolder folder;
  const auto archive = write_archive(folder.path(),
                                     "def forward(self, x):\n  x = self.act.forward(self.conv1.forward(x))\n  x = "
                                     "self.act.forward(self.conv2.forward(x))\n"
                                     "  return torch.flatten(x, 1)\n");
  Names names;
  for (const auto& block : make_script_backend()->describe(request_for(archive, "all")).blocks)
    names.push_back(block.name);
  CHECK(names == Names{"conv1", "act", "conv2", "act#2", "flatten"});
}

TEST_CASE("what a link cannot carry unchanged is no cut: another type, another order of the numbers") {
  const support::TemporaryFolder folder;
  const auto blocks = [&](const std::string& forward) {
    return make_script_backend()->describe(request_for(write_archive(folder.path(), forward), "all")).block_count();
  };
  // 7 is float64, 6 float32.
  CHECK(blocks("def forward(self, x):\n  x = x.to(7)\n  return torch.flatten(x.to(6), 1)\n") == 2);
  CHECK(blocks("def forward(self, x):\n  x = torch.transpose(x, 1, 3)\n  return torch.flatten(torch.relu(x), 1)\n") ==
        1);
}

}  // namespace
}  // namespace paretopipe::archive
