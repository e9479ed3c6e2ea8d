#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace paretopipe {

/// 64-bit FNV-1a (Fowler, Noll, Vo; RFC 9923). Stable over machines and releases, because identities and seeds depend
/// on it.
std::uint64_t fnv1a64(std::string_view bytes);

/// `value` as 16 lower-case hexadecimal digits.
std::string to_hex(std::uint64_t value);

}  // namespace paretopipe
