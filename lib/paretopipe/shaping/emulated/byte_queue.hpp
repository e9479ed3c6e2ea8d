#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>

// Internal to shaping.
namespace paretopipe::shaping {

/// Bytes in first-in, first-out order, in blocks that are allocated as they fill and freed as they empty. Sockets read
/// into it and write from it without an intermediate copy.
class EmulatedByteQueue {
 public:
  static constexpr std::size_t kBlock = 64 << 10;

  std::size_t size() const { return size_; }

  /// The space for the next bytes: at most `most` (1 or more), within one block. Valid until the next call.
  std::span<std::byte> room(std::size_t most) {
    if (blocks_.empty() || end_ == kBlock) {
      blocks_.push_back(spare_ ? std::move(spare_) : std::make_unique_for_overwrite<Block>());
      end_ = 0;
    }
    return std::span(*blocks_.back()).subspan(end_, std::min(most, kBlock - end_));
  }

  /// Adds the first `count` bytes of room(), which have been filled.
  void push(std::size_t count) {
    end_ += count;
    size_ += count;
  }

  /// The oldest bytes: at most `most`, within one block. Not when it is empty.
  std::span<const std::byte> front(std::size_t most) const {
    const std::size_t end = blocks_.size() == 1 ? end_ : kBlock;
    return std::span(*blocks_.front()).subspan(begin_, std::min(most, end - begin_));
  }

  /// Removes the first `count` bytes of front().
  void pop(std::size_t count) {
    begin_ += count;
    size_ -= count;
    const bool emptied = size_ == 0 || begin_ == kBlock;
    if (!emptied) return;
    spare_ = std::move(blocks_.front());
    blocks_.pop_front();
    begin_ = 0;
  }

  void clear() {
    while (size_ > 0) pop(front(size_).size());
  }

 private:
  using Block = std::array<std::byte, kBlock>;

  std::deque<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Block> spare_;  ///< the last emptied block: a stream at rest allocates nothing
  std::size_t begin_ = 0;         ///< of the oldest bytes, in the first block
  std::size_t end_ = 0;           ///< of the newest bytes, in the last block
  std::size_t size_ = 0;
};

}  // namespace paretopipe::shaping
