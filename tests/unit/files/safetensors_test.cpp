#include "refused.hpp"

using namespace paretopipe;
using namespace paretopipe::files;
using support::contains;
using Shape = std::vector<std::int64_t>;

namespace {

/// One tensor of four bytes under the name "a".
std::string file_with(const std::string& entry) {
  return safetensors_file(R"({"a":)" + entry + "}", "1234");
}

/// A scalar, a matrix, a tensor without elements between them, and a half-precision vector.
std::string good_file() {
  return safetensors_file(
      R"({"__metadata__":{"format":"pt"},"counter":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("weight":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},"none":{"dtype":"F32","shape":[0,3],"data_offsets":[32,32]},)"
      R"("half":{"dtype":"BF16","shape":[1],"data_offsets":[32,34]}})",
      elements<std::int64_t>({-7}) + elements<float>({1, 2, 3, 4, 5, 6}) + elements<std::uint16_t>({0x3f80}));
}

}  // namespace

TEST_CASE("the tensors of a safetensors file are found by name, with type, shape and bytes", "[weights]") {
  const auto file = good_file();
  const auto tensors = read_tensors(bytes_of(file));
  REQUIRE(tensors.size() == 4);
  CHECK(tensors.at("counter").dtype == DType::int64);
  CHECK(tensors.at("counter").shape.empty());
  CHECK(element<std::int64_t>(tensors.at("counter"), 0) == -7);
  CHECK(tensors.at("weight").dtype == DType::float32);
  CHECK(tensors.at("weight").shape == Shape{2, 3});
  CHECK(tensors.at("weight").strides == Shape{3, 1});
  for (std::size_t i = 0; i < 6; ++i) CHECK(element<float>(tensors.at("weight"), i) == static_cast<float>(i + 1));
  CHECK(tensors.at("none").bytes.empty());
  CHECK(tensors.at("half").dtype == DType::bfloat16);
  CHECK_NOTHROW(verify(tensors.at("weight")));
  const auto empty = safetensors_file("{}", "");
  CHECK(read_tensors(bytes_of(empty)).empty());
}

TEST_CASE("a safetensors file of which any byte is damaged, or the end is missing, is refused or harmless",
          "[weights]") {
  check_all_damages(good_file());
}

TEST_CASE("a safetensors header that lies about a tensor is refused, with the tensor's name", "[weights]") {
  struct Lie {
    std::string entry;
    std::string reason;
  };
  const auto lie = GENERATE(values<Lie>({
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", "float32 of shape [2] is not the 4 bytes"},
      {R"({"dtype":"F32","shape":[0],"data_offsets":[0,4]})", "is not the 4 bytes"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})", "its bytes end at 8, and the file holds 4"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", "not a begin and an end"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0]})", "not a begin and an end"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[-4,0]})", "data_offsets is not a list of whole numbers"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0.0,4.0]})", "data_offsets is not a list of whole numbers"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615]})", "not a list of whole numbers"},
      {R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", "shape is not a list of whole numbers"},
      {R"({"dtype":"F32","shape":[true],"data_offsets":[0,4]})", "shape is not a list of whole numbers"},
      {R"({"dtype":"F32","shape":1,"data_offsets":[0,4]})", "shape is not a list of whole numbers"},
      {R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})", "is not the 4 bytes"},
      {R"({"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]})", "is not the 0 bytes"},
      {R"({"dtype":"F32","shape":[2305843009213693952],"data_offsets":[0,4]})", "is not the 4 bytes"},
      {R"({"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]})", "dtype \"F8_E4M3\" is unknown here; save it as F32"},
      {R"({"dtype":1,"shape":[1],"data_offsets":[0,4]})", "its dtype is not a string"},
      {R"({"shape":[1],"data_offsets":[0,4]})", "it has no dtype"},
      {R"({"dtype":"F32","data_offsets":[0,4]})", "it has no shape"},
      {R"({"dtype":"F32","shape":[1]})", "it has no data_offsets"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})", "keys that the format does not know"},
      {R"("F32")", "it has no dtype"},
  }));
  CAPTURE(lie.entry);
  const auto message = refusal(file_with(lie.entry));
  CAPTURE(message);
  CHECK(message.starts_with("tensor \"a\": "));
  CHECK(contains(message, lie.reason));
}

TEST_CASE("tensors that overlap, bytes of no tensor, and numbers that begin where none can are refused", "[weights]") {
  const auto two = [](const char* first, const char* second, std::size_t bytes) {
    const auto entry = [](const char* offsets) {
      return std::string(R"({"dtype":"U8","shape":[4],"data_offsets":)") + offsets + "}";
    };
    return refusal(
        safetensors_file(R"({"a":)" + entry(first) + R"(,"b":)" + entry(second) + "}", std::string(bytes, 'x')));
  };
  CHECK(two("[0,4]", "[4,8]", 8) == "(nothing was thrown)");
  CHECK(two("[4,8]", "[0,4]", 8) == "(nothing was thrown)");
  CHECK(contains(two("[0,4]", "[2,6]", 6), "overlap"));
  CHECK(contains(two("[0,4]", "[0,4]", 4), "overlap"));
  CHECK(contains(two("[0,4]", "[5,9]", 9), "belong to no tensor"));
  CHECK(contains(two("[1,5]", "[5,9]", 9), "belong to no tensor"));
  CHECK(contains(two("[0,4]", "[4,8]", 9), "behind the last tensor"));
  const auto odd = safetensors_file(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
      "12345");
  CHECK(contains(refusal(odd), "tensor \"b\": its bytes begin at"));
}

TEST_CASE("a safetensors header is believed only as a strict JSON object of the length that it claims", "[weights]") {
  const auto header_refusal = [](const std::string& header) { return refusal(safetensors_file(header, "")); };
  CHECK(contains(header_refusal(R"({"a":)"), "not the JSON"));
  CHECK(contains(header_refusal(R"({} // comment)"), "not the JSON"));
  CHECK(contains(header_refusal("{\"\xff\":1}"), "not the JSON"));
  CHECK(contains(header_refusal(R"({"__metadata__":{"a":1}})"), "__metadata__"));
  CHECK(contains(header_refusal(R"({"__metadata__":"a"})"), "__metadata__"));
  CHECK(contains(header_refusal("{\"a\":" + std::string(100'000, '[')), "nested"));
  const std::string entry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  CHECK(refusal(safetensors_file("{" + entry + "," + entry + "}", "1")) == "damaged: \"a\" stands twice in its header");
  CHECK(contains(refusal(file_with(R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})")),
                 "stands twice"));
  CHECK(contains(refusal(little_endian(std::uint64_t{100'000'001}) + "{}"), "claims a header of 100000001 bytes"));
  CHECK(contains(refusal(little_endian(UINT64_MAX) + "{}"), "damaged"));
  CHECK(contains(refusal(little_endian(std::uint64_t{9}) + "{}      "),
                 "truncated: it claims a header of 9 bytes, and 8"));
  CHECK(contains(refusal("{}"), "neither"));
}

TEST_CASE("a hostile name is shown escaped and cut", "[weights]") {
  const auto message = refusal(safetensors_file(R"({"\u001b[31m)" + std::string(500, 'x') + R"(":1})", ""));
  CHECK(contains(message, "\"\\u001b[31mxxx"));
  CHECK_FALSE(contains(message, "\x1b"));
  CHECK(message.size() < 250);
}
