#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on
#include <openssl/evp.h>

namespace paretopipe {

std::uint64_t fnv1a64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::string to_hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

namespace {

using Digest = std::array<unsigned char, 32>;

void require(int openssl_result) {
  if (openssl_result != 1) throw EnvironmentError("compute SHA-256: OpenSSL's libcrypto refuses to");
}

std::ifstream open(const std::filesystem::path& file) {
  const auto refuse = [&](int error) {
    throw UsageError(system_error(fmt::format("read {}", file.string()), error).what());
  };
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) refuse(EISDIR);  // it would open, and fail at the first read
  if (std::filesystem::is_other(status)) {                    // a pipe or a device may never end
    throw UsageError(fmt::format("read {}: it is not a regular file", file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(errno);
  return stream;
}

class Sha256 {
 public:
  Sha256() {
    require(context_ ? 1 : 0);
    require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
  }

  void add(const char* bytes, std::size_t count) { require(EVP_DigestUpdate(context_.get(), bytes, count)); }

  /// Call this once, last.
  std::string digits() {
    Digest digest{};
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
    return fmt::format("{:02x}", fmt::join(digest, ""));
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

}  // namespace

std::string sha256_of_file(const std::filesystem::path& file) {
  auto stream = open(file);
  Sha256 sum;
  std::vector<char> piece(1 << 20);
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.add(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) throw UsageError(system_error(fmt::format("read {}", file.string()), errno).what());
  return sum.digits();
}

std::string sha256_of_text(std::string_view text) {
  Sha256 sum;
  sum.add(text.data(), text.size());
  return sum.digits();
}

}  // namespace paretopipe
