#include <paretopipe/core/hash.hpp>

#include <string>

#include <support/catch.hpp>

using namespace paretopipe;

TEST_CASE("FNV-1a gives the published values", "[hash]") {
  // Test vectors of Noll's reference code and of RFC 9923, appendix C.
  CHECK(fnv1a64("") == 0xcbf29ce484222325);
  CHECK(fnv1a64("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a64("b") == 0xaf63df4c8601f1a5);
  CHECK(fnv1a64("foobar") == 0x85944171f73967e8);
}

TEST_CASE("FNV-1a takes bytes above 127 and zeros as they are", "[hash]") {
  // One step of the definition: (offset basis xor byte) times the prime.
  CHECK(fnv1a64("\xff") == (0xcbf29ce484222325 ^ 0xff) * 0x100000001b3);
  CHECK(fnv1a64(std::string_view("\0", 1)) == 0xcbf29ce484222325 * 0x100000001b3);
  CHECK(fnv1a64(std::string_view("a\0b", 3)) != fnv1a64("a"));
}

TEST_CASE("hexadecimal digits are sixteen, lower-case and padded", "[hash]") {
  CHECK(to_hex(0) == "0000000000000000");
  CHECK(to_hex(0xABC) == "0000000000000abc");
  CHECK(to_hex(~std::uint64_t{0}) == "ffffffffffffffff");
}
