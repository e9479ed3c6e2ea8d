#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

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

TEST_CASE("draws below a bound are the same on every standard library") {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 8; ++i) drawn.push_back(draw_below(random, 10));
  CHECK(drawn == std::vector<std::uint64_t>{8, 2, 0, 6, 4, 9, 8, 5});
}

TEST_CASE("draws stay below their bound and reach every value about equally often") {
  std::mt19937_64 random(2);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts.at(draw_below(random, 6));
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 500);  // over five standard deviations
  CHECK(draw_below(random, 1) == 0);
}

TEST_CASE("the SHA-256 of a file is that of FIPS 180-4's examples", "[sha256]") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "file";
  const auto digest_of = [&](const std::string& contents) {
    support::write_file(file, contents);
    return sha256_of_file(file);
  };
  CHECK(digest_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // Longer than what is read at a time, and not a multiple of it.
  CHECK(digest_of(std::string(3'000'001, 'a')) != digest_of(std::string(3'000'000, 'a')));
}

TEST_CASE("a file that cannot be read has no SHA-256", "[sha256]") {
  const auto refusal = [](const char* file) { return support::message_of<UsageError>([&] { sha256_of_file(file); }); };
  CHECK(refusal("/nowhere/file") == "read /nowhere/file: No such file or directory");
  CHECK(refusal("/") == "read /: Is a directory");
  CHECK(refusal("/dev/zero") == "read /dev/zero: it is not a regular file");
}
