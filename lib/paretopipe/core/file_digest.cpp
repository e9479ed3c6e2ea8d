#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_digest.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include <openssl/evp.h>

namespace paretopipe {
namespace {

struct Closes {
  void operator()(std::FILE* file) const { std::fclose(file); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

void check(int result) {
  if (result != 1) throw Error(ExitCode::internal, "libcrypto could not compute a SHA-256");
}

/// A folder opens and fails at the first read, and a pipe or a device may never end.
void check_regular(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::is_regular_file(status)) return;
  const auto reason = error ? error.message() : "it is not a regular file";
  throw UsageError(fmt::format("read {}: {}", file.string(), reason));
}

}  // namespace

std::string sha256_of_file(const std::filesystem::path& file) {
  check_regular(file);
  const std::unique_ptr<std::FILE, Closes> stream(std::fopen(file.c_str(), "rb"));
  if (!stream) throw UsageError(system_error(fmt::format("read {}", file.string()), errno).what());
  const std::unique_ptr<EVP_MD_CTX, Closes> context(EVP_MD_CTX_new());
  check(context ? EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) : 0);
  std::vector<unsigned char> chunk(std::size_t{1} << 20);
  while (const auto count = std::fread(chunk.data(), 1, chunk.size(), stream.get())) {
    check(EVP_DigestUpdate(context.get(), chunk.data(), count));
  }
  if (std::ferror(stream.get()) != 0) {
    throw UsageError(system_error(fmt::format("read {}", file.string()), errno).what());
  }
  std::array<unsigned char, 32> digest;
  check(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr));
  std::string text;
  for (const auto byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace paretopipe
