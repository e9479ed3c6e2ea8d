#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_digest.hpp>

#include <fstream>
#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;

TEST_CASE("SHA-256 of files is that of FIPS 180-4's examples, whatever the size", "[file_digest]") {
  const support::TemporaryFolder folder;
  const auto digest = [&](const std::string& contents) {
    std::ofstream(folder.path() / "file", std::ios::binary) << contents;
    return sha256_of_file(folder.path() / "file");
  };
  CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(digest(std::string(3 << 20, 'a')) != digest(std::string((3 << 20) + 1, 'a')));
}

TEST_CASE("a file that cannot be read is a usage error with its name and the reason", "[file_digest]") {
  const auto refusal = support::message_of<UsageError>([] { sha256_of_file("/nonexistent/file"); });
  CHECK(refusal == "read /nonexistent/file: No such file or directory");
  CHECK_THROWS_AS(sha256_of_file("/dev/zero"), UsageError);
  CHECK_THROWS_AS(sha256_of_file("/"), UsageError);
}
