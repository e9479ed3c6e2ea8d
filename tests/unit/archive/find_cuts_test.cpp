// Where graphs can be cut, by the names that their text gives the values.
#include <paretopipe/compute/archive/cuts.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <support/catch.hpp>
#include <torch/csrc/jit/ir/irparser.h>

namespace paretopipe::archive {
namespace {

using Names = std::vector<std::string>;

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
