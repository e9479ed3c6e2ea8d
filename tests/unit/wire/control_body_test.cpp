#include <paretopipe/wire/control_body.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe::wire;
using nlohmann::json;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

}  // namespace

TEST_CASE("a message comes back from its encoding as it was, but for what JSON and UTF-8 lack") {
  std::string brackets(1000, '[');  // inside of strings they do not count as nesting
  brackets.append("\\\"").append(1000, '{');
  const json message = {{"type", "plan"},  {"cuts", {1, 4}},  {"token", 0xffffffffffffffffULL}, {"offset_ns", -17},
                        {"rate", 0.1},     {"none", nullptr}, {"text", "caf\u00e9 \"[{\\ \n"},  {"on", true},
                        {"deep", brackets}};
  CHECK(decode_control_body(encode_control_body(message)) == message);
  // Replaced on the way out, so that a report of a fault gets through.
  const json received = decode_control_body(encode_control_body({{"error", "open caf\xe9: denied"}, {"x", INFINITY}}));
  CHECK(received.at("error") == "open caf\xef\xbf\xbd: denied");
  CHECK(received.at("x").is_null());
}

TEST_CASE("text that is not one JSON value in UTF-8 is refused") {
  const auto text =
      GENERATE(as<std::string>{}, "", "{", "{\"a\":1} {\"b\":2}", "{\"a\":1e999}", "nul", "{'a':1}", "{\"a\":\"\xff\"}",
               "{\"a\":\"\xc3\"}", "{\"a\":\"\xed\xa0\x80\"}", "\"\n\"", "[1,]", "]][[");
  CAPTURE(text);
  CHECK(contains(message_of<ProtocolError>([&] { decode_control_body(text); }), "expected JSON"));
}

TEST_CASE("nesting is allowed to a depth that no stack minds, length up to a cap, and refusals are short") {
  CHECK_NOTHROW(decode_control_body(nested(kMaxJsonDepth)));
  CHECK(contains(message_of<ProtocolError>([] { decode_control_body(nested(kMaxJsonDepth + 1)); }),
                 "at most 64 deep, got 65"));
  CHECK_THROWS_AS(decode_control_body(std::string(10'000'000, '[')), ProtocolError);
  json deep;
  for (int i = 0; i <= kMaxJsonDepth; ++i) deep = json::array({deep});
  CHECK_THROWS_AS(encode_control_body(deep), ProtocolError);
  const std::string endless = "\"" + std::string(1'000'000, 'x');
  CHECK(message_of<ProtocolError>([&] { decode_control_body(endless); }).size() < 500);
  const json large = std::string(std::size_t{64} << 20, 'x');
  CHECK(contains(message_of<ProtocolError>([&] { encode_control_body(large); }), "at most 67108864 are allowed"));
}
