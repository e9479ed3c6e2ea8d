// Files that are no archives, or damaged or malicious ones: refused with a sentence, and nothing in them is executed.
#include <paretopipe/compute/archive/container.hpp>
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/files/zip_archive.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "archives.hpp"

namespace paretopipe::archive {
namespace {

using files::ZipMember;
using support::contains;
using support::write_file;
using Members = std::vector<ZipMember>;

const char* const kHostileNet = "def forward(self, x):\n  return torch.flatten(self.conv1.forward(x), 1)\n";

std::string hostile_refusal(const std::filesystem::path& file) {
  return refusal_of(request_for(file));
}

TEST_CASE("a file that is no zip is refused with what it is") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "model.pt";
  const auto refusal_of = [&](const std::string& bytes) {
    write_file(file, bytes);
    return hostile_refusal(file);
  };
  CHECK(contains(refusal_of(""), "it is empty"));
  CHECK(contains(refusal_of("P"), "it is not a zip file"));
  CHECK(contains(refusal_of("import torch\n"), "it is not a zip file"));
  CHECK(contains(refusal_of("\x80\x02}q\x01."), "it is a pickle"));
  CHECK(contains(refusal_of("PK\x03\x04"), "truncated or damaged"));
  CHECK(contains(refusal_of(std::string("PK\x03\x04") + std::string(100000, '\0')), "truncated or damaged"));
  CHECK(contains(refusal_of("import torch\n"), "torch.jit.trace"));
}

TEST_CASE("a zip that torch.save wrote, or anybody else, is refused without being unpickled") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "model.pt";
  const auto refusal_of = [&](const Members& members) {
    write_file(file, files::zip_file(members));
    return hostile_refusal(file);
  };
  const std::string pickle = "cos\nsystem\n(S'touch ran'\ntR.";
  CHECK(contains(refusal_of({{"model/data.pkl", pickle}}), "a pickle of torch.save (a state_dict"));
  CHECK(contains(refusal_of({{"model/notes.txt", pickle}}), "some other zip file"));
  CHECK(contains(refusal_of({{"notes.txt", pickle}}), "do not lie in one folder"));
  CHECK(contains(refusal_of({{"a/constants.pkl", ""}, {"b/code/net.py", ""}}), "do not lie in one folder"));
}

std::string& member(Members& members, std::string_view ending) {
  for (auto& candidate : members) {
    if (candidate.name.ends_with(ending)) return candidate.bytes;
  }
  throw std::out_of_range(std::string(ending));
}

/// What is said about the archive after the change.
std::string refusal_after(const std::string& forward, const std::function<void(Members&)>& change) {
  const WrittenArchive archive(forward);
  auto members = members_of(archive.path);
  change(members);
  write_file(archive.path, files::zip_file(members));
  return hostile_refusal(archive.path);
}

TEST_CASE("a bit that flipped in any part of an archive is found by its checksum") {
  const WrittenArchive archive(kHostileNet);
  const auto whole = support::read_file(archive.path);
  const auto entries = files::read_entries(files::bytes_of(whole));
  for (const auto& [name, entry] : entries) {
    if (entry.bytes.empty()) continue;
    INFO(name);
    auto damaged = whole;
    const auto middle = entry.bytes.data() + entry.bytes.size() / 2 - files::bytes_of(whole).data();
    damaged[static_cast<std::size_t>(middle)] ^= 1;
    write_file(archive.path, damaged);
    const auto message = hostile_refusal(archive.path);
    INFO(message);
    CHECK(contains(message, "damaged"));
    CHECK(contains(message, name.substr(name.find('/') + 1)));
  }
}

TEST_CASE("a pickle that asks for something else, or for numbers that are not there, is refused before it is read") {
  CHECK(refusal_after(kHostileNet, [](Members&) {}) == "(nothing was thrown)");  // put together again as it was
  const auto hostile = refusal_after(kHostileNet, [](Members& members) {
    using namespace files::pickle;
    member(members, "/data.pkl") = whole(call(global("os", "system"), tuple({text("touch ran")})));
  });
  CHECK(contains(hostile, "without executing anything: it asks for \"os.system\""));
  const auto constants =
      refusal_after(kHostileNet, [](Members& members) { member(members, "/constants.pkl") = "\x80\x02]a."; });
  CHECK(contains(constants, "constants.pkl"));
  CHECK(contains(constants, "an empty stack"));
  const auto shorter = refusal_after(kHostileNet, [](Members& members) { member(members, "/data/0").resize(4); });
  CHECK(contains(shorter, "and has 4 bytes"));
}

TEST_CASE("code under a name that LibTorch finds and a careless look does not is refused all the same") {
  CHECK(contains(refusal_after("def forward(self, x):\n  return x + torch.from_file(\"/etc/passwd\", True, 4)\n",
                               [](Members& members) {
                                 constexpr std::string_view kFrom = "code/__torch__/tests.py";
                                 for (auto& [name, bytes] : members) {
                                   if (!name.ends_with(kFrom)) continue;
                                   name.replace(name.size() - kFrom.size(), kFrom.size(), "CODE/__torch__/TESTS.PY");
                                 }
                               }),
                 "from_file"));
  const auto refusal_with = [](const char* name, const char* bytes) {
    return refusal_after(kHostileNet, [&](Members& members) { members.push_back({name, bytes}); });
  };
  CHECK(contains(refusal_with("net/Data.pkl", ""), "has the name of another, but for the case"));
  CHECK(contains(refusal_with("net/model.json", "{}"), "model.json"));
}

TEST_CASE("whatever byte of the pickle of an archive is changed, it is refused or loaded, and nothing worse") {
  const WrittenArchive archive(kHostileNet);
  auto members = members_of(archive.path);
  auto& pickle = member(members, "/data.pkl");
  const auto whole = pickle;
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    INFO("byte " << i);
    pickle = whole;
    pickle[i] = static_cast<char>(pickle[i] + 1 + static_cast<int>(i) % 7);
    write_file(archive.path, files::zip_file(members));
    if (hostile_refusal(archive.path) != "(nothing was thrown)") ++refused;
  }
  CHECK(refused > 50);
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// The archive whose method returns that, in the code that it was saved with.
std::string refusal_of_result(const std::string& result) {
  return refusal_after("def forward(self, x):\n  return torch.relu(x)\n", [&](Members& members) {
    auto& code = member(members, ".py");
    const auto place = code.find("torch.relu(x)");
    REQUIRE(place != code.npos);
    code.replace(place, std::string_view("torch.relu(x)").size(), result);
  });
}

TEST_CASE("code that is nested too deep for LibTorch's stack is refused, and what is not is LibTorch's to judge") {
  const auto [before, after] = GENERATE(table<std::string, std::string>({{"(", ")"},
                                                                         {"-", ""},
                                                                         {"not ", ""},
                                                                         {"torch.relu(", ")"},
                                                                         {"", " + x"},
                                                                         {"", "[0]"},
                                                                         {"", ".t()"},
                                                                         {"[", "]"}}));
  CAPTURE(before, after);
  const auto nested = [&](std::size_t depth) { return repeated(before, depth) + "x" + repeated(after, depth); };
  CHECK(contains(refusal_of_result(nested(1'000'000)), "more than 2000 would end LibTorch's parser"));
  const auto borne = (kDeepestStatement - 10) / deepest_statement(before + "x" + after);
  CHECK_FALSE(contains(refusal_of_result(nested(borne)), "would end"));
}

TEST_CASE("the depth of code is that of its deepest statement, without strings and comments") {
  for (const auto& [code, depth] : {std::pair("", 0),
                                    {"x = y\n", 0},
                                    {"x = (y + z)\nx = f(-y.a)\n", 3},
                                    {"x = f(\n  -y,\n  -z)\n", 3},
                                    {"x = \"((((\"  # ((((\nx = '\\'((('\n", 0},
                                    {"if a and not b:\n    x = y\n", 4},
                                    {"normal = order\n", 0},
                                    {"(((", 3},
                                    {"\"\"\" \" \"\"\" (((\"", 3},
                                    {"# type: (((\n", 3},
                                    {"x = -\\\n -\\\n -y\n", 3},
                                    {"\"((\n((", 2},
                                    {"\"((", 0}}) {
    CAPTURE(code);
    CHECK(deepest_statement(code) == static_cast<std::size_t>(depth));
  }
}

TEST_CASE("an archive that was cut off is refused, wherever it was") {
  const WrittenArchive archive("def forward(self, x):\n  return torch.relu(x)\n");
  const auto whole = support::read_file(archive.path);
  for (std::size_t length = 0; length < whole.size(); length += whole.size() / 50) {
    INFO(length << " of " << whole.size() << " bytes");
    write_file(archive.path, whole.substr(0, length));
    CHECK(contains(hostile_refusal(archive.path), "is no TorchScript archive"));
  }
}

TEST_CASE("code that would run while the archive is loaded, or touch other files, is refused before it is loaded") {
  const auto refusal_of_code = [](const std::string& code) { return hostile_refusal(WrittenArchive(code).path); };
  CHECK(contains(refusal_of_code("def forward(self, x):\n  return x\n"
                                 "def __setstate__(self, state: int):\n  self.training = True\n"
                                 "def __getstate__(self):\n  return 1\n"),
                 "__setstate__"));
  CHECK(contains(refusal_of_code("def forward(self, x):\n  torch.save(x, \"stolen\")\n  return x\n"), "save"));
  CHECK(contains(refusal_of_code("def forward(self, x):\n  return x + torch.from_file(\"/etc/passwd\", True, 4)\n"),
                 "from_file"));
  CHECK_FALSE(std::filesystem::exists("stolen"));
}

}  // namespace
}  // namespace paretopipe::archive
