#pragma once
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/core/error.hpp>

#include <numeric>
#include <string>

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

/// Every prefix of the good bytes is refused, and every one with another byte somewhere (by default 0, 255, one more,
/// or its highest bit turned) is harmless.
template <class Refusal, class Harmless>
void check_all_damages(const std::string& good, Refusal refusal_of, Harmless check, bool with_every_value = true) {
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO("the first " << length << " bytes");
    CHECK(refusal_of(good.substr(0, length)) != "(nothing was thrown)");
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<int> values{0, 255, good[i] + 1, good[i] ^ 0x80};
    if (with_every_value) {
      values.resize(256);
      std::iota(values.begin(), values.end(), 0);
    }
    for (const auto value : values) {
      auto damaged = good;
      damaged[i] = static_cast<char>(value);
      check(damaged);
    }
  }
}

/// Of a whole file.
inline void check_all_damages(const std::string& good) {
  check_all_damages(good, refusal, check_harmless, false);
}

}  // namespace paretopipe::files
