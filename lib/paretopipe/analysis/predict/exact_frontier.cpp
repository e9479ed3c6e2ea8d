#include <paretopipe/analysis/predict/exact_frontier.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace paretopipe::predict {

StageTimes::StageTimes(int blocks) : blocks_(blocks) {
  if (blocks < 1) throw std::invalid_argument(fmt::format("a model of {} blocks cannot be cut", blocks));
  times_.assign(place(blocks, 0), 0);
}

void StageTimes::check(int begin, int end) const {
  if (0 <= begin && begin < end && end <= blocks_) return;
  throw std::invalid_argument(fmt::format("a model of {} blocks has no blocks {} to {}", blocks_, begin, end));
}

void StageTimes::set(int begin, int end, std::int64_t ns) {
  check(begin, end);
  if (ns < 0 || ns > kLongestNs) throw std::invalid_argument(fmt::format("a stage cannot take {} ns", ns));
  times_[place(begin, end)] = ns;
}

namespace {

/// More than any sum of times; two of them can be added.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

}  // namespace

void StageTimes::forbid(int begin, int end) {
  check(begin, end);
  times_[place(begin, end)] = kNever;
}

namespace {

/// One choice: `device` computes the next blocks, and the devices of `rest` what comes after them.
struct Choice {
  int device;
  int rest;  ///< number of a state
};

/// The devices that compute the rest of the pipeline. States with fewer devices come first, so a state only refers to
/// earlier ones. State 0 has no devices left.
struct State {
  int devices = 0;  ///< how many are left
  std::vector<Choice> choices{};
};

/// How the blocks from some block on are computed fastest.
struct Best {
  std::int64_t latency_ns = kNever;
  Choice choice{};
  int end = 0;  ///< of the choice's blocks
};

/// The dynamic programming for one bound on the period after another, each lower than the one before. Latencies only
/// grow from bound to bound. So what was best remains so until its own latency grows, and most of it is found only
/// once.
class Search {
 public:
  Search(std::span<const StageTimes> devices, std::span<const LinkTimes> links, std::vector<State> states)
      : devices_(devices),
        links_(links),
        states_(std::move(states)),
        blocks_(devices.front().blocks()),
        stages_(states_.back().devices) {
    const auto width = index(blocks_) + 1;
    best_.assign(states_.size(), std::vector<Best>(width));
    best_.front().back().latency_ns = 0;
    tail_.assign(states_.size(), std::vector<std::int64_t>(width, kNever));
    first_.assign(states_.size(), blocks_ + 1);
    last_end_.assign(devices.size(), std::vector<int>(width, blocks_));
  }

  /// The least latency with a period of at most `bound`. None if there is no such partition.
  std::optional<Solution> solve(std::int64_t bound) {
    fill_tail(0, bound);
    for (std::size_t state = 1; state < states_.size(); ++state) {
      fill(state, bound);
      fill_tail(state, bound);
    }
    solved_before_ = true;
    if (best_.back().front().latency_ns >= kNever) return std::nullopt;
    return recover();
  }

 private:
  /// The stage before the devices of a state.
  int stage_before(const State& state) const { return stages_ - state.devices - 1; }

  /// best[b] is how the blocks from b on are computed fastest on this state's devices.
  void fill(std::size_t number, std::int64_t bound) {
    const auto& state = states_[number];
    const int first = stages_ - state.devices;  // each stage before has a block at least
    for (int begin = first; begin + state.devices <= blocks_; ++begin) {
      auto& best = best_[number][index(begin)];
      if (solved_before_ && stays(best, begin, bound)) continue;
      best = {};
      for (const auto& choice : state.choices) improve(best, begin, choice, bound);
    }
  }

  bool stays(const Best& best, int begin, std::int64_t bound) const {
    if (best.latency_ns >= kNever) return true;
    const auto time = devices_[index(best.choice.device)].at(begin, best.end);
    return time <= bound && time + tail_[index(best.choice.rest)][index(best.end)] == best.latency_ns;
  }

  void improve(Best& best, int begin, const Choice& choice, std::int64_t bound) {
    const auto* times = devices_[index(choice.device)].row(begin);
    // Bounds only fall, so a run that is too long now stays too long.
    int& last = last_end_[index(choice.device)][index(begin)];
    while (last > begin && times[last] > bound) --last;
    const auto* tail = tail_[index(choice.rest)].data();
    const auto with_end = [&](int end) { return (times[end] > bound ? kNever : times[end]) + tail[end]; };
    const int first = std::max(begin + 1, first_[index(choice.rest)]);
    auto least = best.latency_ns;
    for (int end = first; end <= last; ++end) least = std::min(least, with_end(end));
    if (least >= best.latency_ns) return;
    int end = first;
    while (with_end(end) != least) ++end;
    best = {least, choice, end};
  }

  /// tail[e]: the latency from the end of the stage before, if its blocks end at e.
  void fill_tail(std::size_t number, std::int64_t bound) {
    const auto& state = states_[number];
    const int stage = stage_before(state);
    if (stage < 0) return;
    const auto& best = best_[number];
    auto& tail = tail_[number];
    first_[number] = blocks_ + 1;
    for (int cut = blocks_; cut > 0; --cut) {
      const auto way = time_of_link(stage, cut, bound);
      tail[index(cut)] = std::min(kNever, best[index(cut)].latency_ns + way);
      if (tail[index(cut)] < kNever) first_[number] = cut;
    }
  }

  std::int64_t time_of_link(int stage, int cut, std::int64_t bound) const {
    if (stages_ == 1) return 0;
    const auto& link = links_[index(stage)];
    return link.busy_ns[index(cut)] > bound ? kNever : link.latency_ns[index(cut)];
  }

  Solution recover() const {
    Solution solution{.latency_ns = best_.back().front().latency_ns};
    int begin = 0;
    for (auto state = states_.size() - 1; state != 0;) {
      const auto& [latency_ns, choice, end] = best_[state][index(begin)];
      const int stage = stages_ - states_[state].devices;
      solution.stages.push_back({choice.device, begin, end});
      solution.period_ns = std::max(solution.period_ns, devices_[index(choice.device)].at(begin, end));
      if (stages_ > 1) solution.period_ns = std::max(solution.period_ns, links_[index(stage)].busy_ns[index(end)]);
      begin = end;
      state = index(choice.rest);
    }
    return solution;
  }

  std::span<const StageTimes> devices_;
  std::span<const LinkTimes> links_;
  std::vector<State> states_;
  int blocks_;
  int stages_;
  std::vector<std::vector<Best>> best_;          ///< by state and first block
  std::vector<std::vector<std::int64_t>> tail_;  ///< by state and cut
  std::vector<int> first_;                       ///< by state: the first cut whose tail is possible
  std::vector<std::vector<int>> last_end_;       ///< by device and first block: no run that ends later keeps the bound
  bool solved_before_ = false;
};

std::vector<Solution> all_solutions(Search search) {
  std::vector<Solution> frontier;
  auto bound = StageTimes::kLongestNs;
  while (auto solution = search.solve(bound)) {
    bound = solution->period_ns - 1;
    if (!frontier.empty() && frontier.back().latency_ns == solution->latency_ns) frontier.pop_back();
    frontier.push_back(*std::move(solution));
    if (bound < 0) break;
  }
  return frontier;
}

void check(std::span<const StageTimes> devices, std::span<const LinkTimes> links, std::size_t wanted_links) {
  if (devices.empty()) throw std::invalid_argument("a pipeline has at least one device");
  const auto blocks = devices.front().blocks();
  for (const auto& device : devices) {
    if (device.blocks() != blocks) throw std::invalid_argument("devices compute different numbers of blocks");
  }
  if (links.size() != wanted_links && wanted_links > 1) {
    throw std::invalid_argument(fmt::format("{} links where {} were due", links.size(), wanted_links));
  }
  for (const auto& link : links) {
    if (link.latency_ns.size() != index(blocks) + 1 || link.busy_ns.size() != index(blocks) + 1) {
      throw std::invalid_argument("a link's times are not one for each cut");
    }
  }
}

/// State s has the last s devices.
std::vector<State> states_in_order(int devices) {
  std::vector<State> states(1);
  for (int left = 1; left <= devices; ++left) states.push_back({left, {{devices - left, left - 1}}});
  return states;
}

/// The sets of at most `stages` devices, smaller ones first. The last state chooses the first stage, too.
std::vector<State> states_in_any_order(int devices, int stages) {
  std::vector<unsigned> sets;
  for (unsigned set = 0; set < 1U << devices; ++set) {
    if (std::popcount(set) <= stages) sets.push_back(set);
  }
  std::stable_sort(sets.begin(), sets.end(), [](auto a, auto b) { return std::popcount(a) < std::popcount(b); });
  std::vector<int> number_of(std::size_t{1} << devices);
  std::vector<State> states;
  State whole{stages, {}};  // the choices of all sets that can be the whole pipeline
  for (const auto set : sets) {
    State state{std::popcount(set), {}};
    for (int device = 0; device < devices; ++device) {
      if ((set >> device & 1U) != 0) state.choices.push_back({device, number_of[set & ~(1U << device)]});
    }
    if (state.devices == stages) {
      whole.choices.insert(whole.choices.end(), state.choices.begin(), state.choices.end());
      continue;
    }
    number_of[set] = static_cast<int>(states.size());
    states.push_back(std::move(state));
  }
  states.push_back(std::move(whole));
  return states;
}

}  // namespace

std::vector<Solution> frontier_in_order(std::span<const StageTimes> devices, std::span<const LinkTimes> links) {
  check(devices, links, devices.size());
  if (devices.front().blocks() < static_cast<int>(devices.size())) return {};
  return all_solutions(Search(devices, links, states_in_order(static_cast<int>(devices.size()))));
}

std::vector<Solution> frontier_in_any_order(std::span<const StageTimes> devices, int stages, const LinkTimes& link) {
  const auto count = static_cast<int>(devices.size());
  if (count > kMostDevicesInAnyOrder) {
    throw UsageError(
        fmt::format("try every order of {} devices: that is NP-hard, and beyond {} devices it takes too long; leave "
                    "some out, or give an order and leave --any-order out",
                    count, kMostDevicesInAnyOrder));
  }
  if (stages < 1 || stages > count) {
    throw UsageError(fmt::format("choose {} of {} devices: name at least one device for each stage", stages, count));
  }
  const std::vector<LinkTimes> links(index(stages), link);
  check(devices, links, index(stages));
  if (devices.front().blocks() < stages) return {};
  return all_solutions(Search(devices, links, states_in_any_order(count, stages)));
}

}  // namespace paretopipe::predict
