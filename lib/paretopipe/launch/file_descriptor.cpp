#include <paretopipe/launch/file_descriptor.hpp>

#include <utility>

#include <unistd.h>

namespace paretopipe::launch {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    descriptor_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() {
  return std::exchange(descriptor_, -1);
}

void FileDescriptor::reset() {
  if (descriptor_ >= 0) ::close(release());
}

}  // namespace paretopipe::launch
