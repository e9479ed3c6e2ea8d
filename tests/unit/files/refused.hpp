#pragma once
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/core/error.hpp>

#include <string>
#include <string_view>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "files.hpp"

namespace paretopipe::files {

/// What the reader says about a file that it must not accept.
inline std::string refusal(const std::string& file) {
  return support::message_of<UsageError>([&] { read_tensors(bytes_of(file)); });
}

/// Whatever a damaged file is taken for, it is refused, or its tensors lie within it and can be read to their ends.
inline void check_harmless(const std::string& file) {
  TensorMap tensors;
  try {
    tensors = read_tensors(bytes_of(file));
  } catch (const UsageError&) {
    return;
  }
  const auto whole = bytes_of(file);
  for (const auto& [name, tensor] : tensors) {
    if (tensor.bytes.empty()) continue;
    REQUIRE(tensor.bytes.data() >= whole.data());
    REQUIRE(tensor.bytes.data() + tensor.bytes.size() <= whole.data() + whole.size());
    std::size_t last = 0;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      last += static_cast<std::size_t>((tensor.shape[i] - 1) * tensor.strides[i]);
    }
    REQUIRE((last + 1) * element_bytes(tensor.dtype) == tensor.bytes.size());
  }
}

/// Every prefix of the file, and every file that differs from it in one byte (which becomes 0, 255, one more, or has
/// its highest bit turned).
inline void check_all_damages(const std::string& good) {
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO("the first " << length << " bytes");
    CHECK(refusal(good.substr(0, length)) != "(nothing was thrown)");
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const auto value : {0, 255, good[i] + 1, good[i] ^ 0x80}) {
      auto damaged = good;
      damaged[i] = static_cast<char>(value);
      check_harmless(damaged);
    }
  }
}

}  // namespace paretopipe::files
