#include <paretopipe/compute/archive/cuts.hpp>
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <torch/csrc/jit/ir/irparser.h>

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

Names block_names(const std::string& cuts, int max_crossing = 1, const char* net = kNet) {
  const WrittenArchive archive(net);
  const auto request = request_for(archive.path, cuts, 2, max_crossing);
  Names names;
  for (const auto& block : make_script_backend()->describe(request).blocks) names.push_back(block.name);
  return names;
}

TEST_CASE("an archive is cut at the values that all paths go through, by the names of the author's modules") {
  // A pattern picks by operator or by the module whose result they are; units keep a convolution with its batch norm
  // and activation, and a tensor with its views; modules end at the results of the top module's children.
  const std::vector<std::pair<std::string, Names>> cuts{
      {"all", {"conv1", "bn", "act", "block.conv1..block.add", "block.relu", "max_pool2d", "conv2", "flatten", "fc"}},
      {"unit", {"conv1..act", "block", "max_pool2d", "conv2", "flatten..fc"}},
      {"modules", {"conv1", "bn", "act", "block", "max_pool2d..conv2", "flatten..fc"}},
      {"block", {"conv1..block.relu", "max_pool2d..fc"}},
      {"conv?", {"conv1", "bn..conv2", "flatten..fc"}},
      {"*relu", {"conv1..block.relu", "max_pool2d..fc"}}};
  for (const auto& [selection, names] : cuts) CHECK(block_names(selection) == names);
  const auto message = support::message_of<UsageError>([] { block_names("layer1"); });
  INFO(message);
  CHECK(support::contains(message, "\"layer1\""));
  CHECK(support::contains(message, "max_pool2d"));
  // A module that is used twice gives two names.
  CHECK(block_names("all", 1,
                    "def forward(self, x):\n  x = self.act.forward(self.conv1.forward(x))\n  x = "
                    "self.act.forward(self.conv2.forward(x))\n"
                    "  return torch.flatten(x, 1)\n") == Names{"conv1", "act", "conv2", "act#2", "flatten"});
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
  const WrittenArchive archive(kNet);
  const auto request = request_for(archive.path, "act + block.bn1", 3, 2);
  const auto description = make_script_backend()->describe(request);
  const std::vector<std::int64_t> shape{3, 4, 4, 4};
  REQUIRE(description.block_count() == 2);
  CHECK(description.shapes_at(1) == std::vector{shape, shape});
  CHECK(description.bytes_at(1) == 2 * 3 * 64 * 4);
  CHECK(description.shapes_at(2).size() == 1);
  CHECK(nlohmann::json(description).get<experiment::ModelDescription>() == description);
}

TEST_CASE("what a link cannot carry unchanged is no cut: another type, another order of the numbers") {
  const auto blocks = [](const std::string& forward) {
    return make_script_backend()->describe(request_for(WrittenArchive(forward).path, "all")).block_count();
  };
  // 7 is float64, 6 float32.
  CHECK(blocks("def forward(self, x):\n  x = x.to(7)\n  return torch.flatten(x.to(6), 1)\n") == 2);
  CHECK(blocks("def forward(self, x):\n  x = torch.transpose(x, 1, 3)\n  return torch.flatten(torch.relu(x), 1)\n") ==
        1);
}

Names cuts_of(const std::string& operators, int max_crossing) {
  auto graph = std::make_shared<torch::jit::Graph>();
  std::unordered_map<std::string, torch::jit::Value*> values;
  torch::jit::parseIR("graph(%x : Tensor):\n  %one : int = prim::Constant[value=1]()\n" + operators, graph.get(),
                      values);
  const auto name_of = [&](const torch::jit::Value* wanted) {
    return std::find_if(values.begin(), values.end(), [&](const auto& known) { return known.second == wanted; })->first;
  };
  Names names;
  for (const auto& cut : find_cuts(*graph, max_crossing)) {
    auto& name = names.emplace_back();
    for (const auto* value : cut) name += (name.empty() ? "" : " + ") + name_of(value);
  }
  return names;
}

/// A shortcut with an operator of its own, d, beside b and c.
const std::string kBegin = "  %a : Tensor = aten::relu(%x)\n";
const std::string kB = "  %b : Tensor = aten::tanh(%a)\n";
const std::string kC = "  %c : Tensor = aten::relu(%b)\n";
const std::string kD = "  %d : Tensor = aten::sigmoid(%a)\n";
const std::string kEnd = "  %s : Tensor = aten::add(%c, %d, %one)\n  %r : Tensor = aten::relu(%s)\n  return (%r)\n";

TEST_CASE("two tensors may cross inside of a residual block, one after the other along its branches") {
  CHECK(cuts_of(kBegin + kB + kC + kD + kEnd, 1) == Names{"a", "s"});
  CHECK(cuts_of(kBegin + kB + kC + kD + kEnd, 2) == Names{"a", "a + b", "a + c", "c + d", "s"});
}

TEST_CASE(
    "the order of the list only decides which of two branches is cut first, and no cut computes less than one before "
    "it") {
  CHECK(cuts_of(kBegin + kD + kB + kC + kEnd, 1) == Names{"a", "s"});
  CHECK(cuts_of(kBegin + kD + kB + kC + kEnd, 2) == Names{"a", "a + d", "d + b", "d + c", "s"});
  CHECK(cuts_of(kBegin + kB + kD + kC + kEnd, 2) == Names{"a", "a + b", "b + d", "d + c", "s"});
}

TEST_CASE("an operator that is listed early but needed late does not hide the cuts before it") {
  const std::string late = "  %l : Tensor = aten::sigmoid(%x)\n";
  const std::string chain =
      "  %a : Tensor = aten::relu(%x)\n  %b : Tensor = aten::tanh(%a)\n  %c : Tensor = aten::relu(%b)\n";
  const std::string end = "  %s : Tensor = aten::add(%c, %l, %one)\n  return (%s)\n";
  CHECK(cuts_of(late + chain + end, 1).empty());
  CHECK(cuts_of(late + chain + end, 2) == Names{"x + l", "l + a", "l + b", "l + c"});
  CHECK(cuts_of(chain + late + end, 2) == Names{"x + a", "x + b", "x + c", "c + l"});
}

TEST_CASE("three tensors, and what is no tensor, cross no cut") {
  CHECK(cuts_of(
            "  %a : Tensor = aten::relu(%x)\n  %b : Tensor = aten::tanh(%a)\n  %c : Tensor = aten::add(%a, %b, %one)\n"
            "  %d : Tensor[] = prim::ListConstruct(%a, %b, %c)\n  %e : Tensor = aten::cat(%d, %one)\n  return (%e)\n",
            2) == Names{"a", "a + b"});
  CHECK(cuts_of("  %a : Tensor = aten::relu(%x)\n  %n : int = aten::size(%a, %one)\n  %b : Tensor = aten::tanh(%a)\n"
                "  %l : int[] = prim::ListConstruct(%n)\n  %v : Tensor = aten::view(%b, %l)\n  return (%v)\n",
                2) == Names{"a", "a + b"});
}

TEST_CASE("what does not depend on the input crosses nothing") {
  CHECK(cuts_of("  %w : Tensor = aten::tensor(%one)\n  %y : Tensor = aten::relu(%w)\n  %a : Tensor = aten::relu(%x)\n"
                "  %b : Tensor = aten::add(%a, %y, %one)\n  %c : Tensor = aten::add(%b, %y, %one)\n  return (%c)\n",
                2) == Names{"a", "b"});
}

}  // namespace
}  // namespace paretopipe::archive
