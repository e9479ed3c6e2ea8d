// The looks that a watch takes are called one by one: no clock decides.
#include <paretopipe/run/stall_watch.hpp>
#include <paretopipe/wire/frame.hpp>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace std::chrono_literals;
using run::StageClient;
using stage::Doing;
using stage::Role;

namespace {

constexpr int kAnswers = 40;

/// A stage program that says forty times, every 2 s by its own clock, that it waits for stage 0; and then listens until
/// the driver leaves. When it is asked does not matter.
class WaitingProgram {
 public:
  WaitingProgram() {
    std::string frames;
    for (int i = 0; i < kAnswers; ++i) {
      const auto at = 1h + i * 2s;
      const auto answer =
          stage::wrap(
              stage::Whereabouts{Nanoseconds(at).count(), 0, 1000, {{Role::receive, 0, Doing::waiting, 5, 4000}}})
              .dump();
      const auto header = wire::encode(wire::ControlFrame{answer.size()});
      frames.append(reinterpret_cast<const char*>(header.data()), header.size()).append(answer);
    }
    support::write_file(folder_.path() / "frames", frames);
    support::write_script(program(), "cat \"$(dirname \"$0\")/frames\" >&3\ncat <&3 >/dev/null");
  }

  std::filesystem::path program() const { return folder_.path() / "stage.sh"; }

 private:
  support::TemporaryFolder folder_;
};

/// The complaint at the look after which the wait is over, and the number of looks before.
struct End {
  std::string complaint;
  int looks = 0;
};

/// Stage 1 answers at every look; stage 0 is waited for at the first `awaited` looks, without an answer.
End look_until_the_end(int awaited) {
  const WaitingProgram program;
  StageClient sender(0, {program.program(), {}});
  StageClient receiver(1, {program.program(), {}});
  const run::StallWatching watching;
  run::StallWatch watch({&sender, &receiver}, {.deadline = Clock::now() + 1h, .watching = &watching});
  End end;
  for (; end.looks < kAnswers; ++end.looks) {
    std::vector<StageClient*> waiting{&receiver};
    if (end.looks < awaited) waiting.push_back(&sender);
    end.complaint = support::message_of<run::StageError>([&] { watch.look(waiting); });
    if (end.complaint != "(nothing was thrown)") break;
    receiver.take_message();
  }
  return end;
}

}  // namespace

TEST_CASE("what a stage sent before it replied is given a minute to arrive from the look that finds the reply") {
  // The receiver's first answer is read at the second look, and has stood for a minute at the thirty-second.
  const auto [awaited, looks] = GENERATE(table<int, int>({{0, 31}, {5, 35}}));
  CAPTURE(awaited);
  const auto end = look_until_the_end(awaited);
  CHECK(support::contains(end.complaint, "the link from stage 0 to stage 1 hangs"));
  CHECK(end.looks == looks);
}
