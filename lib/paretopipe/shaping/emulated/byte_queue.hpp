#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>

// Internal to shaping.
namespace paretopipe::shaping {

/// Bytes in the order in which they came, in blocks that are allocated as they fill and given back as they empty.
/// Sockets read into it and write from it without a copy in between.
class EmulatedByteQueue {
 public:
  static constexpr std::size_t kBlock = 64 << 10;

  std::size_t size() const { return size_; }

  /// Where the next bytes go: at most `most` (1 or more), and as many as fit in one block. Valid until the next call.
  std::span<std::byte> room(std::size_t most) {
    if (blocks_.empty() || end_ == kBlock) {
      blocks_.push_back(spare_ ? std::move(spare_) : std::make_unique_for_overwrite<Block>());
      end_ = 0;
    }
    return std::span(*blocks_.back()).subspan(end_, std::min(most, kBlock - end_));
  }

  /// The first `count` bytes of room() have been filled.
  void push(std::size_t count) {
    end_ += count;
    size_ += count;
  }

  /// The oldest bytes: at most `most`, and as many as lie in one block. Not when it is empty.
  std::span<const std::byte> front(std::size_t most) const {
    const std::size_t end = blocks_.size() == 1 ? end_ : kBlock;
    return std::span(*blocks_.front()).subspan(begin_, std::min(most, end - begin_));
  }

  /// The first `count` bytes of front() are gone.
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
  std::unique_ptr<Block> spare_;  ///< the block that emptied last: a stream at rest allocates nothing
  std::size_t begin_ = 0;         ///< of the oldest bytes, in the first block
  std::size_t end_ = 0;           ///< of the newest bytes, in the last block
  std::size_t size_ = 0;
};

}  // namespace paretopipe::shaping
