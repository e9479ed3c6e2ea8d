#pragma once

namespace paretopipe::launch {

/// Owns a file descriptor and closes it at the end of life.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }

  int get() const { return descriptor_; }

  /// Gives up ownership of the descriptor and returns it.
  int release();
  void reset();

 private:
  int descriptor_ = -1;
};

}  // namespace paretopipe::launch
