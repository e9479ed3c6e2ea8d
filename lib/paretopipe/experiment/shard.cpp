#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/shard.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

std::optional<int> parse_shard_number(std::string_view text) {
  const auto number = parse_number<int>(text);
  return number && *number >= 1 && *number <= kMostShards ? number : std::nullopt;
}

/// Says for one configuration after the other which shard it goes to.
class ShardDealer {
 public:
  explicit ShardDealer(int shards) : order_(static_cast<std::size_t>(shards)) {
    std::iota(order_.begin(), order_.end(), 1);
  }

  int next() {
    if (dealt_ % order_.size() == 0) shuffle(order_, random_);
    return order_[dealt_++ % order_.size()];
  }

 private:
  std::vector<int> order_;
  std::size_t dealt_ = 0;
  std::mt19937_64 random_{fnv1a64("shards")};
};

}  // namespace

Shard parse_shard(const std::string& text) {
  const auto slash = std::min(text.find('/'), text.size());
  const auto number = parse_shard_number(std::string_view(text).substr(0, slash));
  const auto count = parse_shard_number(std::string_view(text).substr(std::min(slash + 1, text.size())));
  if (number && count && *number <= *count) return {*number, *count};
  throw UsageError(fmt::format(
      "\"{}\" is not a shard; it must be its number and how many there are, from 1/1 to {}/{}, such as 3/16", text,
      kMostShards, kMostShards));
}

std::string to_string(const Shard& shard) {
  return fmt::format("{}/{}", shard.number, shard.count);
}

std::vector<Trial> trials_of(const Shard& shard, const std::vector<Trial>& plan) {
  if (shard == Shard{}) return plan;
  ShardDealer dealer(shard.count);
  std::unordered_map<std::string, int> shards;  // by configuration
  std::vector<Trial> trials;
  for (const auto& trial : plan) {
    const auto [place, first] = shards.try_emplace(trial.configuration_id(), 0);
    if (first) place->second = dealer.next();
    if (place->second == shard.number) trials.push_back(trial);
  }
  return trials;
}

}  // namespace paretopipe::experiment
