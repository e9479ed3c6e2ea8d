#include "order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>

namespace paretopipe::frontier {
namespace {

/// An item to sort and a key that orders like its cost. The key travels along because most comparisons need nothing
/// else, and looking up the costs misses the cache.
struct Keyed {
  std::uint64_t key = 0;
  std::size_t what = 0;
};

/// Maps a number to bits that order as the numbers do; negative numbers need their bits inverted. Adding 0 turns -0
/// into 0.
std::uint64_t ordered_bits(double cost) {
  constexpr auto kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(cost + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

constexpr int kDigitBits = 11;
constexpr int kDigits = 3;
/// Fewer entries are sorted by comparisons.
constexpr std::size_t kWorthDigits = 2048;

/// Radix-sorts by the digits behind the leading zeros that all keys share, the least significant digit first (Knuth,
/// "The Art of Computer Programming", volume 3, 5.2.5). Moves these digits to the top of the keys.
void sort_by_digits(std::vector<Keyed>& entries) {
  const auto [least, greatest] = std::minmax_element(
      entries.begin(), entries.end(), [](const Keyed& left, const Keyed& right) { return left.key < right.key; });
  const auto origin = least->key;
  const int zeros = std::min(63, std::countl_zero(greatest->key - origin));
  for (auto& entry : entries) entry.key = (entry.key - origin) << zeros;
  std::vector<Keyed> sorted(entries.size());
  for (int shift = 64 - kDigits * kDigitBits; shift < 64; shift += kDigitBits) {
    const auto digit = [&](const Keyed& entry) { return (entry.key >> shift) % (1U << kDigitBits); };
    std::array<std::size_t, 1U << kDigitBits> place{};
    for (const auto& entry : entries) ++place[digit(entry)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const auto& entry : entries) sorted[place[digit(entry)]++] = entry;
    entries.swap(sorted);
  }
}

/// Sorts by key, and by `before` if keys are equal.
template <class Before>
void sort_keyed(std::vector<Keyed>& entries, Before before) {
  const auto less = [&](const Keyed& left, const Keyed& right) {
    return left.key != right.key ? left.key < right.key : before(left.what, right.what);
  };
  if (entries.size() < kWorthDigits) return std::sort(entries.begin(), entries.end(), less);
  sort_by_digits(entries);
  const auto leading = [](const Keyed& entry) { return entry.key >> (64 - kDigits * kDigitBits); };
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end =
        std::find_if(begin, entries.end(), [&](const Keyed& entry) { return leading(entry) != leading(*begin); });
    std::sort(begin, end, less);
    begin = end;
  }
}

}  // namespace

std::vector<std::size_t> lexicographic_order(const Points& points, std::span<const std::size_t> chosen) {
  std::vector<Keyed> entries;
  entries.reserve(chosen.size());
  for (const auto point : chosen) entries.push_back({ordered_bits(points.costs(point).front()), point});
  sort_keyed(entries, [&](std::size_t left, std::size_t right) {
    const auto a = points.costs(left), b = points.costs(right);
    const auto [first, second] = std::mismatch(a.begin() + 1, a.end(), b.begin() + 1);
    return first != a.end() ? *first < *second : left < right;
  });
  std::vector<std::size_t> order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(), [](const Keyed& entry) { return entry.what; });
  return order;
}

std::vector<std::size_t> ranks(const Points& points, std::span<const std::size_t> chosen, std::size_t objective) {
  std::vector<Keyed> entries;
  entries.reserve(chosen.size());
  for (std::size_t place = 0; place < chosen.size(); ++place) {
    entries.push_back({ordered_bits(points.costs(chosen[place])[objective]), place});
  }
  sort_keyed(entries, std::less<>());
  std::vector<std::size_t> ranks(chosen.size());
  std::size_t rank = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].key != entries[i - 1].key) ++rank;
    ranks[entries[i].what] = rank;
  }
  return ranks;
}

}  // namespace paretopipe::frontier
