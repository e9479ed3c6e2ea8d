#include <fmt/format.h>

#include "refused.hpp"

using namespace paretopipe;
using namespace paretopipe::files;
using support::contains;
using Shape = std::vector<std::int64_t>;

namespace {

const std::string kSixNumbers = elements<float>({1, 2, 3, 4, 5, 6});

/// A view of the six floats in the storage "0".
std::string view_of_six(std::int64_t offset, const Shape& shape, const Shape& strides) {
  return pickle::tensor(pickle::storage("FloatStorage", "0", 6), offset, shape, strides);
}

/// "a": 2 x 3 of them.
std::string tensor_a() {
  return view_of_six(0, {2, 3}, {3, 1});
}

/// "a", and "n": the integer in the storage "1".
std::string file_of_two(const ZipOptions& options) {
  const auto n = pickle::tensor(pickle::storage("LongStorage", "1", 1), 0, {}, {});
  const auto pickled = pickle::whole(pickle::ordered_dictionary({pickle::text("a"), tensor_a(), pickle::text("n"), n}));
  return torch_file(pickled, {kSixNumbers, elements<std::int64_t>({-7})}, options);
}

std::string file_of(const std::string& value) {
  return torch_file(pickle::whole(value), {kSixNumbers});
}

std::string state_dict_file_with(const std::string& tensor) {
  return file_of(pickle::ordered_dictionary({pickle::text("a"), tensor}));
}

std::string view_refusal(std::int64_t offset, const Shape& shape, const Shape& strides) {
  return refusal(state_dict_file_with(view_of_six(offset, shape, strides)));
}

}  // namespace

TEST_CASE("the tensors of a state_dict are found by name, with type, shape and bytes", "[weights]") {
  const bool wide = GENERATE(false, true);
  const auto file = file_of_two({.wide = wide});
  const auto tensors = read_tensors(bytes_of(file));
  REQUIRE(tensors.size() == 2);
  const auto& a = tensors.at("a");
  CHECK(a.dtype == DType::float32);
  CHECK(a.shape == Shape{2, 3});
  CHECK(a.strides == Shape{3, 1});
  for (std::size_t i = 0; i < 6; ++i) CHECK(element<float>(a, i) == static_cast<float>(i + 1));
  CHECK(tensors.at("n").dtype == DType::int64);
  CHECK(element<std::int64_t>(tensors.at("n"), 0) == -7);
  for (const auto& [name, tensor] : tensors) CHECK_NOTHROW(verify(tensor));
}

TEST_CASE("a state_dict's views of a storage begin at their offset, in any order of their dimensions", "[weights]") {
  const auto file =
      file_of(pickle::dictionary({pickle::text("column"), view_of_six(1, {2}, {3}), pickle::text("last"),
                                  view_of_six(5, {}, {}), pickle::text("none"), view_of_six(6, {0, 7}, {7, 1}),
                                  pickle::text("transposed"), view_of_six(0, {3, 2}, {1, 3})}));
  const auto tensors = read_tensors(bytes_of(file));
  CHECK(element<float>(tensors.at("column"), 0) == 2);
  CHECK(tensors.at("column").bytes.size() == 16);  // 2, and 5 three elements on
  CHECK(element<float>(tensors.at("last"), 0) == 6);
  CHECK(tensors.at("none").bytes.empty());
  CHECK(tensors.at("transposed").strides == Shape{1, 3});
  CHECK(tensors.at("transposed").bytes.size() == 24);
}

TEST_CASE("a state_dict's parameters, metadata and remembered values are read as torch.save writes them", "[weights]") {
  const auto parameter = pickle::call(
      pickle::global("torch._utils", "_rebuild_parameter"),
      pickle::tuple({tensor_a(), "\x88", pickle::call(pickle::global("collections", "OrderedDict"), ")")}));
  // Key and tensor are remembered (q); the tensor comes a second time from memory (h).
  const auto dictionary = pickle::call(pickle::global("collections", "OrderedDict"), ")") + "q\2(" + pickle::text("a") +
                          "q\1" + parameter + "q\3" + pickle::text("b") + "h\3u";
  const auto version = pickle::dictionary({pickle::text("version"), pickle::number(1)});
  const auto state =
      pickle::dictionary({pickle::text("_metadata"), pickle::ordered_dictionary({pickle::text(""), version})});
  const auto file = file_of(dictionary + state + "b");
  const auto tensors = read_tensors(bytes_of(file));
  REQUIRE(tensors.size() == 2);
  CHECK(tensors.at("a").bytes.data() == tensors.at("b").bytes.data());
}

TEST_CASE("a state_dict of which any byte is damaged, or the end is missing, is refused or harmless", "[weights]") {
  check_all_damages(file_of_two({.alignment = 8}));
}

/// The archive around it has the right checksum, so that the machine gets to see it.
TEST_CASE("a pickle of which any byte is damaged, or the end is missing, is refused or harmless", "[weights]") {
  const auto file = [](const std::string& pickled) { return torch_file(pickled, {kSixNumbers}); };
  check_all_damages(
      pickle::whole(pickle::ordered_dictionary({pickle::text("a"), tensor_a()})),
      [&](const std::string& pickled) { return refusal(file(pickled)); },
      [&](const std::string& pickled) { check_harmless(file(pickled)); });
}

TEST_CASE("a pickle that asks for anything but a state_dict's own is refused by name, and not executed", "[weights]") {
  struct Hostile {
    std::string pickle;
    std::string named;
  };
  const std::string command = pickle::tuple({pickle::text("touch /tmp/paretopipe-was-here")});
  const auto hostile = GENERATE_COPY(values<Hostile>({
      {pickle::call(pickle::global("os", "system"), command), "\"os.system\""},
      {pickle::call(pickle::global("posix", "system"), command), "\"posix.system\""},
      {pickle::call(pickle::global("builtins", "eval"), command), "\"builtins.eval\""},
      {pickle::call(pickle::global("torch._utils", "_rebuild_device_tensor_from_numpy"), command), "from_numpy"},
      {pickle::call(pickle::global("torch", "load"), command), "\"torch.load\""},
      {pickle::global("torch.storage", "UntypedStorage"), "\"torch.storage.UntypedStorage\""},
      {fmt::format("({}ios\nsystem\n", pickle::text("x")), "INST"},
      {fmt::format("({}o", pickle::global("collections", "OrderedDict")), "OBJ"},
      {pickle::global("collections", "OrderedDict") + ")\x81", "NEWOBJ"},
      {pickle::text("os") + pickle::text("system") + "\x93", "STACK_GLOBAL"},
      {"\x82\x01", "EXT1"},
      {"P0\n", "PERSID"},
      {"]", "EMPTY_LIST"},
      {std::string(1, '\0'), "0x00"},
      {"\xff", "0xff"},
      {pickle::call(pickle::global("collections", "OrderedDict"), command), "an OrderedDict of something"},
      {pickle::call(pickle::text("x"), command), "it calls text"},
      {pickle::call(pickle::storage("FloatStorage", "0", 6), command), "it calls a storage"},
      {pickle::call(pickle::global("torch", "FloatStorage"), command), "it calls a type"},
      {pickle::call(pickle::global("torch._utils", "_rebuild_tensor_v2"), command), "it makes a tensor of"},
      {pickle::call(pickle::global("torch._utils", "_rebuild_parameter"), command), "it makes a parameter of"},
      {command + "Q", "not a storage of a tensor"},
      {pickle::number(1) + "Q", "a number where a tuple should be"},
      {pickle::number(1) + "}b", "it sets the state of a number"},
      {fmt::format("}}{}b", pickle::number(1)), "it sets the state of a dictionary"},
      {pickle::number(1) + pickle::text("k") + "Ns", "it sets items of a number"},
      {fmt::format("}}({}u", pickle::text("k")), "a key without a value"},
      {"R", "an empty stack"},
      {"(R", "an empty stack"},
      {"t", "a mark that it never set"},
      {"h\7", "never remembered"},
      {"\x80\x04", "protocol 4"},
      {std::string("X\xff\xff\xff\xff", 5), "truncated"},
      {"\x8a\x09" + std::string(9, 'x'), "more than 64 bits"},
      {"cos", "truncated"},
      {"}}", "left over"},
      {"(}", "left over"},
  }));
  CAPTURE(hostile.named);
  const auto message = refusal(file_of(hostile.pickle));
  CAPTURE(message);
  CHECK(contains(message, "without executing anything"));
  CHECK(contains(message, hostile.named));
}

TEST_CASE("a pickle that goes on behind its end, makes values without end, nests or holds itself is refused early",
          "[weights]") {
  CHECK(contains(refusal(torch_file(pickle::whole("}") + "}", {})), "left over"));
  CHECK(contains(refusal(file_of(std::string(1'000'001, 'N'))), "more than 1000000 values"));
  CHECK(contains(refusal(file_of(std::string(1'000'001, '('))), "more than 1000000 open marks"));
  const Shape long_shape(65, 1);
  CHECK(contains(view_refusal(0, long_shape, long_shape), "it makes a tensor of"));
  CHECK(contains(refusal(file_of(")" + std::string(500'000, '\x85'))), "it holds a tuple"));
  CHECK(
      contains(refusal(file_of("}q\1" + pickle::text("self") + "h\1s")), "its \"self\" is a dictionary, not a tensor"));
}

TEST_CASE("a view that reaches beyond its storage is refused, with its name", "[weights]") {
  CHECK(view_refusal(0, {2, 3}, {3, 1}) == "(nothing was thrown)");
  CHECK(view_refusal(6, {0}, {1}) == "(nothing was thrown)");
  CHECK(view_refusal(5, {1}, {1000}) == "(nothing was thrown)");
  CHECK(contains(view_refusal(1, {2, 3}, {3, 1}),
                 "tensor \"a\": offset 1, shape [2, 3] and strides [3, 1] reach beyond"));
  constexpr auto kMost = INT64_MAX;
  struct View {
    std::int64_t offset;
    Shape shape, strides;
  };
  for (const auto& [offset, shape, strides] :
       {View{0, {7}, {1}}, View{7, {0}, {1}}, View{-1, {1}, {1}}, View{0, {2}, {-1}}, View{0, {-1}, {1}},
        View{0, {2}, {kMost}}, View{kMost, {1}, {1}}, View{0, {kMost}, {kMost}}, View{0, {kMost, kMost}, {0, 0}},
        View{0, {3, 3}, {kMost / 2, kMost / 2}}, View{0, {2, 3}, {1}}}) {
    CAPTURE(offset, shape, strides);
    CHECK(contains(view_refusal(offset, shape, strides), "reach beyond"));
  }
}

TEST_CASE("a storage that is missing, misplaced, damaged, or of another size than the pickle says, is refused",
          "[weights]") {
  const auto with_storage = [](const std::string& storage) {
    return refusal(state_dict_file_with(pickle::tensor(storage, 0, {1}, {1})));
  };
  CHECK(with_storage(pickle::storage("FloatStorage", "0", 6)) == "(nothing was thrown)");
  CHECK(contains(with_storage(pickle::storage("FloatStorage", "1", 6)), "its storage \"1\" is not in the archive"));
  CHECK(contains(with_storage(pickle::storage("FloatStorage", "../version", 1)), "is not in the archive"));
  CHECK(contains(with_storage(pickle::storage("FloatStorage", "0", 7)), "7 elements of float32, and has 24 bytes"));
  CHECK(contains(with_storage(pickle::storage("FloatStorage", "0", 5)), "5 elements"));
  CHECK(contains(with_storage(pickle::storage("FloatStorage", "0", -6)), "-6 elements"));
  CHECK(contains(with_storage(pickle::storage("DoubleStorage", "0", INT64_MAX)), "elements of float64"));
  const auto pickled = pickle::whole(pickle::ordered_dictionary({pickle::text("a"), tensor_a()}));
  CHECK(
      contains(refusal(torch_file(pickled, {kSixNumbers}, {.alignment = 1})), "not a multiple of the 4 of an element"));
  auto flipped = state_dict_file_with(tensor_a());
  flipped[flipped.find(kSixNumbers) + 5] ^= 1;
  const auto tensors = read_tensors(bytes_of(flipped));
  CHECK(contains(support::message_of<UsageError>([&] { verify(tensors.at("a")); }),
                 "damaged: its bytes have the CRC-32"));
}

TEST_CASE("what torch.save wrote, but is no state_dict, is refused with what to save instead", "[weights]") {
  const auto checkpoint = pickle::dictionary({pickle::text("epoch"), pickle::number(3)});
  CHECK(contains(refusal(file_of(checkpoint)), "its \"epoch\" is a number, not a tensor; save the weights alone"));
  CHECK(contains(refusal(file_of(tensor_a())), "it holds a tensor, not a state_dict"));
  CHECK(contains(refusal(file_of(pickle::dictionary({pickle::number(1), tensor_a()}))), "a tensor's name is a number"));
  const auto twice = pickle::dictionary({pickle::text("a"), tensor_a(), pickle::text("a"), tensor_a()});
  CHECK(contains(refusal(file_of(twice)), "tensor \"a\" stands twice"));
  const auto empty = pickle::whole("}");
  CHECK(contains(refusal(zip_file({{"m/data.pkl", empty}, {"m/constants.pkl", empty}})), "a TorchScript archive"));
  CHECK(contains(refusal(zip_file({{"m/data.pkl", empty}, {"n/data.pkl", empty}})), "two pickles"));
  CHECK(contains(refusal(zip_file({{"m/byteorder", "big"}, {"m/data.pkl", empty}})), "little-endian"));
  CHECK(refusal(zip_file({{"m/byteorder", "little"}, {"m/data.pkl", empty}})) == "(nothing was thrown)");
  CHECK(contains(refusal(zip_file({{"m/readme", "x"}})), "without a pickle"));
  CHECK(contains(refusal(std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15)),
                 "PyTorch's format before 1.6"));
  CHECK(contains(refusal("hello"), "neither"));
  CHECK(refusal("") == "it is empty");
}
