#include <paretopipe/core/file_descriptor.hpp>

#include <type_traits>

#include <support/catch.hpp>

#include "shell_child.hpp"

using namespace paretopipe::testing;
using paretopipe::FileDescriptor;

namespace {

int open_one() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

static_assert(!std::is_copy_constructible_v<FileDescriptor> && !std::is_copy_assignable_v<FileDescriptor>);

TEST_CASE("a descriptor is closed at the end of life, once") {
  const int number = open_one();
  { const FileDescriptor owner(number); }
  CHECK_FALSE(is_open(number));
  CHECK(FileDescriptor().get() == -1);
}

TEST_CASE("a descriptor that was moved is closed by its new owner only") {
  const int number = open_one();
  FileDescriptor first(number);
  {
    FileDescriptor second(std::move(first));
    CHECK(second.get() == number);
    CHECK(first.get() == -1);  // NOLINT: what is left is documented to be none
    first = FileDescriptor();
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("assignment closes what was held before, but not when it is the same object") {
  const int before = open_one();
  const int after = open_one();
  FileDescriptor owner(before);
  owner = FileDescriptor(after);
  CHECK_FALSE(is_open(before));
  auto& same = owner;
  owner = std::move(same);
  CHECK(owner.get() == after);
  CHECK(is_open(after));
}

TEST_CASE("release gives away, reset closes, and both leave none") {
  FileDescriptor owner(open_one());
  const int number = owner.release();
  CHECK(owner.get() == -1);
  CHECK(is_open(number));
  owner = FileDescriptor(number);
  owner.reset();
  owner.reset();
  CHECK_FALSE(is_open(number));
}
