#include "compressors.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include "kernels.hpp"

namespace paretopipe::codec {

namespace {

const char* chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

char* chars(std::span<std::byte> bytes) {
  return reinterpret_cast<char*>(bytes.data());
}

/// A body's first byte says in which order the bytes are.
constexpr std::size_t kOrderBytes = 1;
constexpr std::byte kAsItIs{0}, kShuffled{1};

/// False for lz4 if at least one value in eight of a sample is 0: lz4 finds whole zeros better than their bytes apart.
bool shuffle_pays(Compressor compressor, std::span<const std::byte> bytes, std::size_t width) {
  if (compressor != Compressor::lz4) return true;
  constexpr std::size_t kSample = 4096;
  const auto values = bytes.size() / width, step = std::max<std::size_t>(1, values / kSample);
  std::size_t seen = 0, zeros = 0;
  for (std::size_t i = 0; i < values; i += step, ++seen) {
    const auto value = bytes.subspan(i * width, width);
    zeros += std::all_of(value.begin(), value.end(), [](std::byte byte) { return byte == std::byte{0}; }) ? 1U : 0U;
  }
  return zeros * 8 < seen;
}

/// liblz4 counts in int.
constexpr std::size_t kIntMost = std::numeric_limits<int>::max();

int lz4_size(std::size_t bytes) {
  if (bytes <= LZ4_MAX_INPUT_SIZE) return static_cast<int>(bytes);
  throw UsageError(
      fmt::format("lz4 takes at most {} bytes, and the tensor has {}; use zstd", LZ4_MAX_INPUT_SIZE, bytes));
}

ZSTD_CCtx* compressing(Scratch& scratch) {
  if (!scratch.compressing) {
    scratch.compressing = {ZSTD_createCCtx(), [](void* state) { ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(state)); }};
  }
  return static_cast<ZSTD_CCtx*>(scratch.compressing.get());
}

ZSTD_DCtx* decompressing(Scratch& scratch) {
  if (!scratch.decompressing) {
    scratch.decompressing = {ZSTD_createDCtx(), [](void* state) { ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(state)); }};
  }
  return static_cast<ZSTD_DCtx*>(scratch.decompressing.get());
}

std::size_t compress_zstd(std::span<const std::byte> bytes, int level, std::span<std::byte> into, Scratch& scratch) {
  const auto size =
      ZSTD_compressCCtx(compressing(scratch), into.data(), into.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) == 0) return size;
  throw Error(ExitCode::internal, fmt::format("libzstd: {}", ZSTD_getErrorName(size)));
}

std::size_t compress_lz4(std::span<const std::byte> bytes, std::span<std::byte> into) {
  const int room = static_cast<int>(std::min(into.size(), kIntMost));
  const int size = LZ4_compress_default(chars(bytes), chars(into), lz4_size(bytes.size()), room);
  if (size > 0) return static_cast<std::size_t>(size);
  throw Error(ExitCode::internal, "liblz4 had no room for what it bounds itself");
}

void decompress_plain(Compressor compressor, std::span<const std::byte> body, std::span<std::byte> into,
                      Scratch& scratch) {
  if (compressor == Compressor::zstd) {
    const auto size = ZSTD_decompressDCtx(decompressing(scratch), into.data(), into.size(), body.data(), body.size());
    if (ZSTD_isError(size) != 0) throw Damaged(fmt::format("libzstd: {}", ZSTD_getErrorName(size)));
    if (size != into.size()) throw Damaged(fmt::format("{} bytes instead of {}", size, into.size()));
    return;
  }
  // A tensor that does not get smaller gets a little larger, so a body may be longer than the longest tensor of lz4.
  if (body.size() > kIntMost) throw Damaged(fmt::format("lz4 makes no body of {} bytes", body.size()));
  const int size = LZ4_decompress_safe(chars(body), chars(into), static_cast<int>(body.size()), lz4_size(into.size()));
  if (size < 0) throw Damaged("liblz4 cannot read it");
  if (static_cast<std::size_t>(size) != into.size())
    throw Damaged(fmt::format("{} bytes instead of {}", size, into.size()));
}

}  // namespace

std::size_t most_compressed(Compressor compressor, std::size_t bytes) {
  if (compressor == Compressor::zstd) return kOrderBytes + ZSTD_compressBound(bytes);
  return kOrderBytes + static_cast<std::size_t>(LZ4_compressBound(lz4_size(bytes)));
}

std::size_t compress(const Codec& codec, std::span<const std::byte> bytes, std::size_t width, std::span<std::byte> into,
                     Scratch& scratch) {
  const bool shuffled = width > 1 && shuffle_pays(codec.compressor, bytes, width);
  into.front() = shuffled ? kShuffled : kAsItIs;
  into = into.subspan(kOrderBytes);
  if (shuffled) {
    scratch.shuffled.resize(bytes.size());
    shuffle(bytes, width, scratch.shuffled.data());
    bytes = scratch.shuffled;
  }
  if (codec.compressor == Compressor::lz4) return kOrderBytes + compress_lz4(bytes, into);
  return kOrderBytes + compress_zstd(bytes, codec.zstd_level, into, scratch);
}

void decompress(Compressor compressor, std::span<const std::byte> body, std::size_t width, std::span<std::byte> into,
                Scratch& scratch) {
  if (body.empty() || (body.front() != kAsItIs && (body.front() != kShuffled || width <= 1))) {
    throw Damaged("its first byte says no order of bytes");
  }
  const bool shuffled = body.front() == kShuffled;
  body = body.subspan(kOrderBytes);
  if (!shuffled) return decompress_plain(compressor, body, into, scratch);
  scratch.shuffled.resize(into.size());
  decompress_plain(compressor, body, scratch.shuffled, scratch);
  unshuffle(scratch.shuffled, width, into.data());
}

}  // namespace paretopipe::codec
