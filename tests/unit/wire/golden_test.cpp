#include "golden.hpp"

#include <paretopipe/wire/control_body.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <cstring>
#include <span>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>

using namespace paretopipe::wire;

namespace {

HeaderBytes header_of(const std::vector<std::byte>& frame) {
  HeaderBytes header;
  REQUIRE(frame.size() >= header.size());
  std::memcpy(header.data(), frame.data(), header.size());
  return header;
}

std::string body_of(const std::vector<std::byte>& frame) {
  return {reinterpret_cast<const char*>(frame.data()) + kHeaderBytes, frame.size() - kHeaderBytes};
}

}  // namespace

TEST_CASE("the golden tensor frame decodes to what the protocol's description says, and back") {
  const auto frame = golden_bytes("tensor");
  const FrameHeader expected = TensorFrame{3, 7, {DType::float32, MemoryFormat::channels_last, {1, 2, 1, 1}}};
  CHECK(decode(header_of(frame)) == expected);
  CHECK(encode(expected) == header_of(frame));

  const float values[] = {1.0F, -2.0F};
  CHECK(body_of(frame) == std::string(reinterpret_cast<const char*>(values), sizeof(values)));
}

TEST_CASE("the golden control frame decodes to what the protocol's description says, and back") {
  const auto frame = golden_bytes("control");
  const nlohmann::json message = {{"type", "hello"}};
  const FrameHeader expected = ControlFrame{16};
  CHECK(decode(header_of(frame)) == expected);
  CHECK(encode(expected) == header_of(frame));
  CHECK(decode_control_body(body_of(frame)) == message);
  CHECK(encode_control_body(message) == body_of(frame));
}

TEST_CASE("the golden greeting decodes to what the protocol's description says, and back") {
  const auto frame = golden_bytes("greeting");
  const FrameHeader expected = Greeting{0x0123456789abcdef};
  CHECK(frame.size() == kHeaderBytes);
  CHECK(decode(header_of(frame)) == expected);
  CHECK(encode(expected) == header_of(frame));
}

TEST_CASE("the protocol's description and the fuzzer's seeds quote the golden frames") {
  const std::string name = GENERATE(as<std::string>{}, "tensor", "control", "greeting");
  CAPTURE(name);
  const auto frame = golden_bytes(name);
  const std::string seed = read_source_file("tests/fuzz/corpus/wire/" + name + ".bin");
  CHECK(seed == std::string(reinterpret_cast<const char*>(frame.data()), frame.size()));
  if (name == "tensor")
    CHECK(read_source_file("lib/paretopipe/wire/README.md").find(golden_text(name)) != std::string::npos);
}
