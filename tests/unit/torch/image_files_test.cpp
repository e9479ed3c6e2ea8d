#include <paretopipe/compute/torch/image_files.hpp>
#include <paretopipe/core/error.hpp>

#include <zlib.h>

#include <support/catch.hpp>
#include <support/image_folder.hpp>
#include <support/thrown.hpp>

namespace paretopipe::compute {
namespace {

using namespace support;

constexpr std::uint32_t kMagic = 0x803;

/// The error names the file and what is wrong with it.
void check_refused(Images (*read)(const std::filesystem::path&), const std::filesystem::path& file,
                   std::string_view reason) {
  check_throws<EnvironmentError>([&] { read(file); }, {file.string(), reason});
}

std::vector<std::uint8_t> compressed(const std::vector<std::uint8_t>& bytes, const ImageFolder& folder) {
  const auto path = folder.path() / "compressed";
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("an IDX file is read, plain or compressed") {
  const ImageFolder folder;
  const auto bytes = idx_file({kMagic, 3, 4, 5}, 60);
  for (const auto& content : {bytes, compressed(bytes, folder)}) {
    const auto images = read_idx_images(folder.write("images", content));
    CHECK(images.count == 3);
    CHECK(images.channels == 1);
    CHECK(images.height == 4);
    CHECK(images.width == 5);
    REQUIRE(images.pixels.size() == 60);
    CHECK(images.pixels[59] == 59);
  }
}

TEST_CASE("a truncated IDX file is refused with its name and what is missing") {
  const ImageFolder folder;
  const auto path = folder.write("images", idx_file({kMagic, 3, 4, 5}, 59));
  check_refused(read_idx_images, path, "truncated: 59 of 60");
  check_refused(read_idx_images, folder.write("images", {}), "bytes of header");
}

TEST_CASE("a truncated or damaged gzip file is refused") {
  const ImageFolder folder;
  const auto whole = compressed(idx_file({kMagic, 30, 20, 20}, 12000), folder);
  auto truncated = whole;
  truncated.resize(whole.size() / 2);
  check_refused(read_idx_images, folder.write("images.gz", truncated), "truncated");
  auto wrong_checksum = whole;
  wrong_checksum[whole.size() - 6] ^= 0xff;
  check_refused(read_idx_images, folder.write("images.gz", wrong_checksum), "damaged");
}

TEST_CASE("an IDX file of labels, or no IDX file at all, is refused by its magic number") {
  const ImageFolder folder;
  check_refused(read_idx_images, folder.write("labels", idx_file({0x801, 10}, 20)), "0x00000801");
}

TEST_CASE("an IDX header is checked before memory is allocated") {
  const ImageFolder folder;
  const auto header = GENERATE(values<std::vector<std::uint32_t>>({
      {kMagic, 0, 28, 28},
      {kMagic, 10, 0, 28},
      {kMagic, 10, 28, 0},
      {kMagic, 0xffffffff, 28, 28},
      {kMagic, 10, 0xffffffff, 0xffffffff},
      {kMagic, 10'000'000, 4096, 4096},
  }));
  const auto path = folder.write("images", idx_file(header, 1000));
  check_refused(read_idx_images, path, "damaged");
}

TEST_CASE("an IDX file that is longer than its header says is refused") {
  const ImageFolder folder;
  const auto path = folder.write("images", idx_file({kMagic, 3, 4, 5}, 61));
  check_refused(read_idx_images, path, "more data");
}

TEST_CASE("a file that is not there is an environment error with its name") {
  check_refused(read_cifar10_images, "/nowhere/batch.bin", "/nowhere/batch.bin: No such file");
}

TEST_CASE("a CIFAR-10 file is read, and its labels are left out") {
  const ImageFolder folder;
  const auto images = read_cifar10_images(folder.write("test_batch.bin", cifar10_file(3)));
  CHECK(images.count == 3);
  CHECK(images.channels == 3);
  CHECK(images.height == 32);
  CHECK(images.width == 32);
  REQUIRE(images.pixels.size() == 3 * 3072);
  CHECK(images.pixels[0] == 0);
  CHECK(images.pixels[2 * 3072] == 20);
  CHECK(images.pixels[3 * 3072 - 1] == 22);
}

TEST_CASE("a truncated, damaged or empty CIFAR-10 file is refused with its name") {
  const ImageFolder folder;
  auto bytes = cifar10_file(3);
  bytes.pop_back();
  const auto path = folder.write("test_batch.bin", bytes);
  check_refused(read_cifar10_images, path, "truncated: 3072 of the 3073");
  bytes = cifar10_file(3);
  bytes[3073] = 10;
  check_refused(read_cifar10_images, folder.write("test_batch.bin", bytes), "label 10");
  check_refused(read_cifar10_images, folder.write("test_batch.bin", {}), "empty");
}

}  // namespace
}  // namespace paretopipe::compute
