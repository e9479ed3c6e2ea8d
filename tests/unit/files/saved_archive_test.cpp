// The pickles of TorchScript archives, which LibTorch trusts: what it would read is checked beforehand.
#include <paretopipe/compute/files/saved_archive.hpp>

#include <string>

#include "refused.hpp"

using namespace paretopipe;
using namespace paretopipe::files;
using support::contains;

namespace {

const std::string kSix = elements<float>({1, 2, 3, 4, 5, 6});

const ZipEntry* find_storage(std::string_view key) {
  static const ZipEntry kStored{bytes_of(kSix)};
  static const ZipEntry kCompressed{bytes_of(kSix), 0, 24};
  if (key == "0") return &kStored;
  return key == "compressed" ? &kCompressed : nullptr;
}

std::string archive_refusal(const std::string& pickle) {
  return support::message_of<UsageError>([&] { check_archive_pickle(bytes_of(pickle), find_storage); });
}

std::string tensor(std::string_view key = "0", std::int64_t offset = 0) {
  return pickle::tensor(pickle::storage("FloatStorage", key, 6), offset, {2, 3}, {3, 1});
}

std::string one(const std::string& argument) {
  return argument + "\x85";
}

/// A module with all that an archive's attributes can be.
std::string module() {
  using namespace pickle;
  const auto ints = call(global("torch.jit._pickle", "build_intlist"), one(list({number(1), number(300)})));
  const auto typed =
      call(global("torch.jit._pickle", "restore_type_tag"),
           tuple({dictionary({text("a"), fmt::format("G{}", std::string(8, '\x40'))}), text("Dict[str, float]")}));
  const auto device = call(global("torch", "device"), one(text("cpu")));
  const auto child = object("Child", {text("weight"), tensor() + "q\1", text("again"), "h\1"});
  return object(
      "Net", {text("training"), "\x89", text("none"), "N", text("sizes"), ints, text("typed"), typed, text("device"),
              device, text("list"), list({text("x"), fmt::format("]{}a", text("y"))}), text("child"), child + "q\2"});
}

}  // namespace

TEST_CASE("an archive's pickle with all that an archive can have is accepted", "[weights]") {
  CHECK(archive_refusal(pickle::whole(module())) == "(nothing was thrown)");
  CHECK(archive_refusal(pickle::whole(")")) == "(nothing was thrown)");  // constants.pkl without constants
}

TEST_CASE("an archive's pickle that asks for anything else is refused, and not executed", "[weights]") {
  struct Hostile {
    std::string pickle;
    std::string named;
  };
  using namespace pickle;
  const std::string command = one(text("touch /tmp/paretopipe-was-here"));
  const auto hostile = GENERATE_COPY(values<Hostile>({
      {call(global("os", "system"), command), "asks for \"os.system\", which no TorchScript archive needs"},
      {call(global("builtins", "eval"), command), "\"builtins.eval\""},
      {call(global("torch.jit._pickle", "build_tensor_from_id"), one(number(7))), "build_tensor_from_id"},
      {global("__torch__.torch.classes.rpc", "PyRRef") + ")\x81", "torch.classes"},
      {global("__torch__x", "Net"), "\"__torch__x.Net\""},
      {call(global("__torch__", "Net"), command), "it calls a class"},
      {global("__torch__", "Net") + command + "\x81", "with arguments"},
      {global("torch", "device") + ")\x81", "it makes an object of a function"},
      {call(global("torch", "device"), one(number(1))), "it makes a device of"},
      {call(global("torch", "device"), ")"), "it makes a device of"},
      {call(global("torch.jit._pickle", "build_intlist"), one(text("x"))), "a list of something else"},
      {call(global("torch.jit._pickle", "build_intlist"), ")"), "a list of something else"},
      {call(global("torch.jit._pickle", "restore_type_tag"), tuple({text("x"), text("str")})), "gives a type to"},
      {call(global("torch.jit._pickle", "restore_type_tag"), tuple({list({}), text(std::string(1001, 'x'))})),
       "gives a type to"},
      {global("__torch__", "Net") + ")\x81" + number(1) + "b", "it sets the state of an object"},
      {"}}b", "it sets the state of a dictionary"},
      {"})a", "it appends to a dictionary"},
      {fmt::format("]({}{}u", number(1), number(2)), "it sets items of a list"},
      {"]a", "an empty stack"},
      {"](", "an empty stack"},
      {"e", "a mark that it never set"},
      {std::string("G\0\0", 3), "truncated"},
      {"\x93", "STACK_GLOBAL"},
      {text("x") + "r\xff\xff\xff\x7f", "remembers a value as 2147483647"},
      {tensor("1"), "its storage \"1\" is not in the archive"},
      {storage("FloatStorage", "1", 6), "its storage \"1\" is not in the archive"},  // without a tensor around it
      {storage("FloatStorage", "0", 7), "7 elements of float32, and has 24 bytes"},
      {tensor("compressed"), "is compressed"},
      {tensor("0", 1), "reach beyond its storage of 6 elements"},
      {pickle::tensor(storage("DoubleStorage", "0", 6), 0, {1}, {1}), "6 elements of float64, and has 24 bytes"},
      {tuple({text("storage"), global("torch", "FloatStorage"), text("0"), number(0), number(6)}) + "Q",
       "not a storage of a tensor"},
  }));
  CAPTURE(hostile.named);
  const auto message = archive_refusal(whole(hostile.pickle));
  CAPTURE(message);
  CHECK(contains(message, hostile.named));
}

TEST_CASE("what would end LibTorch's stack, or never be freed, is refused", "[weights]") {
  auto nested = ")" + std::string(501, '\x85');
  CHECK(contains(archive_refusal(pickle::whole(nested)), "nested more than 500 deep"));
  nested.resize(501);
  CHECK(archive_refusal(pickle::whole(nested)) == "(nothing was thrown)");
  CHECK(contains(archive_refusal(pickle::whole("]q\1h\1a")), "it puts a list into itself"));
  CHECK(contains(archive_refusal(pickle::whole("]q\1]h\1ah\1)a0")), "it changes a list that something else holds"));
  // From the outside in: what holds something can be nested without end only after the fact.
  CHECK(contains(archive_refusal(pickle::whole("]q\1]q\2ah\2]a")), "it changes a list that something else holds"));
}

TEST_CASE("an archive's pickle of which any byte is damaged, or the end is missing, is refused or harmless",
          "[weights]") {
  // Nothing but a refusal is thrown.
  check_all_damages(pickle::whole(module()), archive_refusal,
                    [](const std::string& damaged) { CHECK_NOTHROW(archive_refusal(damaged)); });
}
