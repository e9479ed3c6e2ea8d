#include "star_all_reduce.hpp"

#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <chrono>
#include <deque>
#include <string>

#include <fmt/format.h>

namespace paretopipe::fakes {

namespace {

using Numbers = std::span<std::byte>;

wire::LinkSecurity security_of(int rank) {
  return {wire::Key{}, false, fmt::format("replica {}", rank)};
}

wire::TensorSpec spec_of(Numbers numbers) {
  return {wire::DType::int64, wire::MemoryFormat::contiguous, {static_cast<std::int64_t>(numbers.size() / 8)}};
}

class StarAllReduce final : public stage::AllReduce {
 public:
  StarAllReduce(std::deque<wire::Link> links, bool first) : links_(std::move(links)), first_(first) {}

  void sum(std::span<float> numbers) override {
    std::vector<double> wide(numbers.begin(), numbers.end());
    add_up<float>(wide);
    for (std::size_t i = 0; i < wide.size(); ++i) numbers[i] = static_cast<float>(wide[i]);
  }
  void sum(std::span<double> numbers) override { add_up<double>(numbers); }

 private:
  template <class Sum>
  void add_up(std::span<double> numbers) {
    const auto bytes = std::as_writable_bytes(numbers);
    const auto sequence = sequence_++;
    if (!first_) {
      links_.front().send_tensor(0, sequence, spec_of(bytes), bytes);
      links_.front().receive_tensor(0, sequence, spec_of(bytes), bytes);
      return;
    }
    std::vector<double> other(numbers.size());
    const auto received = std::as_writable_bytes(std::span(other));
    for (auto& link : links_) {
      link.receive_tensor(0, sequence, spec_of(received), received);
      for (std::size_t i = 0; i < other.size(); ++i) {
        numbers[i] = static_cast<Sum>(static_cast<Sum>(numbers[i]) + static_cast<Sum>(other[i]));
      }
    }
    for (auto& link : links_) link.send_tensor(0, sequence, spec_of(bytes), bytes);
  }

  std::deque<wire::Link> links_;
  bool first_;
  std::uint64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<stage::AllReduce> join_star(const stage::ReplicaPlace& place,
                                            std::shared_ptr<stage::MeetingStore> store) {
  const auto deadline = Clock::now() + std::chrono::seconds(place.timeout_s);
  std::deque<wire::Link> links;
  const auto at_of = [](int rank) { return fmt::format("at/{}", rank); };
  const auto here = [](int rank) { return fmt::format("here/{}", rank); };
  if (place.rank > 0) {
    store->set(here(place.rank), {1});
    const auto entry = store->get(at_of(place.rank), std::chrono::seconds(place.timeout_s));
    const std::string at(entry.begin(), entry.end());
    const auto space = at.find(' ');
    const auto port = static_cast<std::uint16_t>(std::stoi(at.substr(space)));
    links.push_back(wire::connect_peer(at.substr(0, space), port, security_of(place.rank), deadline));
    return std::make_unique<StarAllReduce>(std::move(links), false);
  }
  std::deque<wire::Listener> listeners;
  for (int rank = 1; rank < place.size; ++rank) {
    const auto port = listeners.emplace_back(place.address, wire::PortRange{}).port();
    const auto at = fmt::format("{} {}", place.address, port);
    store->set(at_of(rank), {at.begin(), at.end()});
  }
  for (int rank = 1; rank < place.size; ++rank) {
    store->get(here(rank), std::chrono::seconds(place.timeout_s));
    links.push_back(wire::accept_peer(listeners[static_cast<std::size_t>(rank) - 1], security_of(rank), deadline));
  }
  return std::make_unique<StarAllReduce>(std::move(links), true);
}

}  // namespace paretopipe::fakes
