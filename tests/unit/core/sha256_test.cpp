#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;

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
  CHECK(refusal("/dev/zero") == "read /dev/zero: it is no regular file");
}
