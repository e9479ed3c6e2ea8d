// Sums over replicas by Gloo, with the stores of two replicas in one process.
#include <paretopipe/compute/train/gloo.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include <support/catch.hpp>

namespace paretopipe::train {
namespace {

/// Two replicas that know each other's entries as the driver would pass them on.
struct TwoReplicas {
  explicit TwoReplicas(const std::string& address, int timeout_s = 60) {
    std::vector<std::unique_ptr<stage::ReplicaMeeting>> meetings;
    stage::StoreEntries all;
    for (int rank = 0; rank < 2; ++rank) {
      meetings.push_back(
          std::make_unique<stage::ReplicaMeeting>(join_by_gloo, stage::ReplicaPlace{rank, 2, address, timeout_s}));
    }
    std::vector<stage::ReplicaMeeting*> waiting{meetings[0].get(), meetings[1].get()};
    while (!waiting.empty()) {
      std::erase_if(waiting, [&](stage::ReplicaMeeting* meeting) {
        const auto writes = meeting->go_on(all);
        all.insert(writes.entries.begin(), writes.entries.end());
        return writes.connected;
      });
    }
    for (auto& meeting : meetings) replicas.push_back(meeting->take());
  }

  template <class Number>
  std::vector<std::vector<Number>> sums(std::vector<std::vector<Number>> of) {
    auto first = std::async(std::launch::async, [&] { replicas[0]->sum(std::span(of[0])); });
    replicas[1]->sum(std::span(of[1]));
    first.get();
    return of;
  }

  std::vector<std::unique_ptr<stage::AllReduce>> replicas;
};

}  // namespace

TEST_CASE("replicas have the sum of their numbers, the same on both, over the address that they were told") {
  TwoReplicas two("127.0.0.2");
  std::vector<float> one(100'000), other(one.size()), sum(one.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    one[i] = 1.0F / static_cast<float>(i + 1);
    other[i] = 0.1F * static_cast<float>(i);
    sum[i] = one[i] + other[i];
  }
  CHECK(two.sums<float>({one, other}) == std::vector{sum, sum});
  CHECK(two.sums<double>({{1e-9, 2}, {1, 3}}) == std::vector<std::vector<double>>{{1 + 1e-9, 5}, {1 + 1e-9, 5}});
}

TEST_CASE("a replica whose neighbour is gone is told so") {
  TwoReplicas two("127.0.0.1");
  two.replicas[1].reset();
  std::vector<float> numbers(1000);
  CHECK_THROWS_AS(two.replicas[0]->sum(std::span(numbers)), wire::ConnectionLost);
}

TEST_CASE("a replica whose neighbour says nothing is told so when its time is over") {
  std::optional<TwoReplicas> two;
  for (int timeout_s = 1; !two;
       timeout_s *= 2) {  // their time limits their meeting, too, for which a busy machine takes longer
    try {
      two.emplace("127.0.0.1", timeout_s);
    } catch (const EnvironmentError&) {
      if (timeout_s > 30) throw;
    }
  }
  std::vector<float> numbers(1000);
  CHECK_THROWS_AS(two->replicas[0]->sum(std::span(numbers)), wire::ConnectionLost);
}

TEST_CASE("an address that is not this machine's cannot be met at") {
  stage::ReplicaMeeting meeting(join_by_gloo, {0, 2, "192.0.2.1", 5});
  CHECK_THROWS_AS(
      [&] {
        while (!meeting.go_on({}).connected) continue;
      }(),
      EnvironmentError);
}

}  // namespace paretopipe::train
