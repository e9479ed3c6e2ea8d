#include <paretopipe/run/stall.hpp>

#include <span>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace std::chrono_literals;
using run::Accusation;
using run::StageSight;
using stage::Doing;
using stage::Role;
using support::contains;

namespace {

const run::StallLimits kLimits;  // the defaults, which the manual states

/// What a stage of a ring of three answers: its three threads.
struct Answer {
  Doing compute = Doing::waiting;
  Doing receive = Doing::waiting;
  Doing send = Doing::waiting;
  std::int64_t computed = 5;
  std::int64_t received_bytes = 1000;
  std::int64_t sent_bytes = 1000;
  Nanoseconds cpu{};  ///< of the process so far
  Nanoseconds longest = 30ms;
};

constexpr int kStages = 3;

stage::Whereabouts whereabouts(int stage, Nanoseconds at, const Answer& answer) {
  const int previous = (stage + kStages - 1) % kStages;
  const int next = (stage + 1) % kStages;
  stage::Whereabouts result{(1h + at).count(), answer.cpu.count(), answer.longest.count(), {}};
  result.lanes = {{Role::compute, -1, answer.compute, answer.computed, 0},
                  {Role::receive, previous, answer.receive, 5, answer.received_bytes},
                  {Role::send, next, answer.send, 5, answer.sent_bytes}};
  return result;
}

/// Stages that answer the same at both moments.
std::vector<StageSight> standing_for(Nanoseconds duration, const std::vector<Answer>& answers) {
  std::vector<StageSight> sights;
  for (int stage = 0; stage < static_cast<int>(answers.size()); ++stage) {
    const auto& answer = answers[static_cast<std::size_t>(stage)];
    auto& sight = sights.emplace_back();
    sight.stage = stage;
    sight.answered(whereabouts(stage, 2s, answer));
    sight.answered(whereabouts(stage, 2s + duration, answer));
  }
  return sights;
}

const Answer kWaits{};
const Answer kComputes{.compute = Doing::working};

std::vector<Accusation> stalled(std::span<const StageSight> sights) {
  return run::find_stalled(sights, kLimits);
}

void check_one(const std::vector<Accusation>& found, std::optional<int> stage, const std::string& words) {
  REQUIRE(found.size() == 1);
  CAPTURE(found.front().what);
  CHECK(found.front().stage == stage);
  CHECK(contains(found.front().what, words));
}

}  // namespace

TEST_CASE("stages that wait for each other are never accused of a stall, however long it lasts", "[stall]") {
  const Answer sends{.send = Doing::sending, .sent_bytes = 1000};
  const Answer held_up{.compute = Doing::held_up, .receive = Doing::held_up};
  CHECK(stalled(standing_for(1h, {kWaits, kWaits, kWaits})).empty());
  CHECK(stalled(standing_for(1h, {sends, held_up, kWaits})).empty());
  CHECK(run::find_slow(standing_for(1h, {sends, held_up, kWaits}), kLimits).empty());
}

TEST_CASE("a stage that stands still in a batch without CPU time hangs, and nobody else", "[stall]") {
  CHECK(stalled(standing_for(9s, {kWaits, kComputes, kWaits})).empty());
  const auto found = stalled(standing_for(10s, {kWaits, kComputes, kWaits}));
  check_one(found, 1, "hangs: it has been computing the same batch for 10 s without using CPU time");
  CHECK(contains(found.front().what, "none took it longer than 0.03 s"));
}

TEST_CASE("a stage is given twenty times the longest that it took for a batch", "[stall]") {
  auto slow = kComputes;
  slow.longest = 2s;
  CHECK(stalled(standing_for(39s, {slow, kWaits, kWaits})).empty());
  check_one(stalled(standing_for(40s, {slow, kWaits, kWaits})), 0, "hangs");
}

TEST_CASE("the first batch may take a minute", "[stall]") {
  auto first = kComputes;
  first.longest = 0s;
  first.computed = 0;
  CHECK(stalled(standing_for(59s, {kWaits, kWaits, first})).empty());
  check_one(stalled(standing_for(60s, {kWaits, kWaits, first})), 2, "it is the first one");
}

TEST_CASE("a stage that uses CPU time is slow, never hung", "[stall]") {
  StageSight sight;
  sight.stage = 1;
  auto answer = kComputes;
  sight.answered(whereabouts(1, 2s, answer));
  answer.cpu = 100ms;  // a hundredth of a CPU is enough to be alive
  sight.answered(whereabouts(1, 12s, answer));
  CHECK(stalled(std::vector{sight}).empty());
  check_one(run::find_slow(std::vector{sight}, kLimits), 1, "is slow: it has been computing the same batch for 10 s");
  sight.answered(whereabouts(1, 500s, answer));  // and then it stopped altogether: the mean tells in the end
  CHECK(stalled(std::vector{sight}).size() == 1);
}

TEST_CASE("progress begins the count anew, and so does another occupation", "[stall]") {
  StageSight sight;
  auto answer = kComputes;
  for (int look = 0; look < 100; ++look) {
    sight.answered(whereabouts(0, look * 8s, answer));
    CHECK(stalled(std::vector{sight}).empty());
    if (look % 2 == 0) {
      ++answer.computed;
    } else {
      answer.compute = answer.compute == Doing::working ? Doing::waiting : Doing::working;
    }
  }
}

TEST_CASE("a stopped process that does not answer is named, and those that wait for it are not", "[stall]") {
  auto sights = standing_for(20s, {kWaits, kWaits, kWaits});
  sights[1].state = 'T';
  sights[1].silent = 8s;
  CHECK(stalled(sights).empty());
  sights[1].silent = 10s;
  check_one(stalled(sights), 1, "hangs: its process is stopped (SIGSTOP), and has not answered for 10 s");
}

TEST_CASE("the sender that is blocked by a stopped receiver is not accused, nor is the link", "[stall]") {
  const Answer sends{.send = Doing::sending, .sent_bytes = 900'000};
  auto sights = standing_for(2min, {sends, kWaits, kWaits});
  sights[1].state = 'T';
  sights[1].silent = 8s;
  CHECK(stalled(sights).empty());
  sights[1].silent = 12s;
  check_one(stalled(sights), 1, "SIGSTOP");
}

TEST_CASE("a silent process that is not stopped gets a minute, and for ever if it uses CPU time", "[stall]") {
  auto sights = standing_for(2s, {kWaits, kWaits});
  sights[0].state = GENERATE('R', 'S', 'D', 't', '?');
  sights[0].silent = 58s;
  CHECK(stalled(sights).empty());
  sights[0].silent = 60s;
  check_one(stalled(sights), 0, "has not answered for 60 s, in which it used no CPU time");
  sights[0].used_cpu = true;
  CHECK(stalled(sights).empty());
}

TEST_CASE("a silent process on another machine, whose CPU time nobody sees, gets five minutes", "[stall]") {
  auto sights = standing_for(2s, {kWaits, kWaits});
  sights[0].unseen = true;
  sights[0].silent = 298s;
  CHECK(stalled(sights).empty());
  sights[0].silent = 300s;
  check_one(stalled(sights), 0, "hangs: it has not answered for 300 s");
}

TEST_CASE("a silent machine whose guard gives no sign of life any more has vanished after 20 s", "[stall]") {
  auto sights = standing_for(2s, {kWaits, kWaits});
  sights[0].unseen = true;
  sights[0].silent = 60s;
  sights[0].lifeless = 18s;
  CHECK(stalled(sights).empty());
  sights[0].lifeless = 20s;
  check_one(stalled(sights), 0, "has vanished: for 20 s it has not answered");
  sights[0].silent = 18s;  // what it says is a sign of life, too
  CHECK(stalled(sights).empty());
}

TEST_CASE("an answer ends the silence", "[stall]") {
  StageSight sight;
  sight.state = 'T';
  sight.silent = 60s;
  sight.answered(whereabouts(0, 2s, kWaits));
  CHECK(stalled(std::vector{sight}).empty());
}

TEST_CASE("a link is named where one side has sent and nothing arrives at the other, which waits for it", "[stall]") {
  const Answer sent{.sent_bytes = 5000};
  const auto receive = GENERATE(Doing::waiting, Doing::held_up, Doing::working);
  const Answer lacks{.receive = receive, .received_bytes = 4000};
  CHECK(stalled(standing_for(59s, {sent, lacks, kWaits})).empty() == (receive != Doing::working));
  const auto found = stalled(standing_for(60s, {sent, lacks, kWaits}));
  if (receive == Doing::waiting) {
    check_one(found, std::nullopt, "the link from stage 0 to stage 1 hangs");
  } else if (receive == Doing::working) {
    check_one(found, 1, "taking in the same result or input");
  } else {
    CHECK(found.empty());
  }
}

TEST_CASE("a link that brings a byte now and then is slow, not stalled", "[stall]") {
  auto sights = standing_for(1s, {Answer{.sent_bytes = 5000}, kWaits, kWaits});
  auto lacks = kWaits;
  for (int look = 1; look < 20; ++look) {
    ++lacks.received_bytes;
    sights[1].answered(whereabouts(1, look * 30s, lacks));
    CHECK(stalled(sights).empty());
  }
}

TEST_CASE("a link is named, too, whose sender is through with everything and replied a minute ago", "[stall]") {
  auto sights = standing_for(90s, {kWaits, kWaits, kWaits});
  CHECK(stalled(sights).empty());
  sights[0].replied = true;
  sights[0].since_reply = 60s;
  check_one(stalled(sights), std::nullopt,
            "the link from stage 0 to stage 1 hangs: stage 0 has sent, and for 60 s nothing has arrived");
}

TEST_CASE("however long a stage has waited, what was just sent to it is given a minute to arrive", "[stall]") {
  auto sights = standing_for(1h, {kWaits, kWaits, kWaits});
  sights[0].answered(whereabouts(0, 1h + 4s, Answer{.sent_bytes = 5000}));
  sights[1].answered(whereabouts(1, 1h + 4s, kWaits));
  CHECK(stalled(sights).empty());
  sights[0].answered(whereabouts(0, 1h + 63s, Answer{.sent_bytes = 5000}));
  sights[1].answered(whereabouts(1, 1h + 63s, kWaits));
  CHECK(stalled(sights).empty());
  sights[0].answered(whereabouts(0, 1h + 64s, Answer{.sent_bytes = 5000}));
  check_one(stalled(sights), std::nullopt, "stage 0 has sent, and for 60 s nothing has arrived");
}

TEST_CASE("the last tensor of a slow sender has a minute from its reply, however long it was waited for", "[stall]") {
  auto sights = standing_for(10min, {kWaits, kWaits});  // a bottleneck, or a gradient that takes so long
  sights[0].replied = true;
  CHECK(stalled(sights).empty());
  sights[0].since_reply = 58s;
  CHECK(stalled(sights).empty());
}

TEST_CASE("a stage that is through with everything that a finished peer sent is not taken to wait for it", "[stall]") {
  const Answer held_up{.receive = Doing::held_up};
  auto sights = standing_for(10min, {kWaits, held_up});
  sights[0].replied = true;
  sights[0].since_reply = 10min;
  CHECK(stalled(sights).empty());
}

TEST_CASE("several that hang are all named, and a silent one before one that stands still", "[stall]") {
  auto sights = standing_for(20s, {kComputes, kWaits, kComputes});
  CHECK(stalled(sights).size() == 2);
  sights[1].state = 'T';
  sights[1].silent = 20s;
  check_one(stalled(sights), 1, "SIGSTOP");
}

TEST_CASE("at the timeout those are named that do something, or nothing at all, but not those that wait", "[stall]") {
  check_one(run::find_late(standing_for(20s, {kWaits, kComputes, kWaits})), 1,
            "it was computing the same batch for at least 20 s, and used 0.0 s of CPU time");
  auto sights = standing_for(20s, {kWaits, kWaits, kWaits});
  CHECK(run::find_late(sights).size() == 3);
  sights[2].silent = 1s;
  check_one(run::find_late(sights), 2, "gave no answer in time");
  sights[2].state = 'T';
  check_one(run::find_late(sights), 2, "its process is stopped (SIGSTOP)");
}

TEST_CASE("at the timeout of a request that is no run, the stage that is still at it is named", "[stall]") {
  std::vector<StageSight> sights(2);
  sights[1].stage = 1;
  for (auto& sight : sights) sight.answered({.at_ns = 1, .cpu_time_ns = 1, .longest_compute_ns = 0, .lanes = {}});
  sights[0].replied = true;
  check_one(run::find_late(sights), 1, "is still at what it was asked for");
  CHECK(stalled(sights).empty());
}
