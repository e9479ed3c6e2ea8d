#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>

using namespace paretopipe;
using run::StageClient;
using run::StageError;
using support::contains;

namespace {

/// A stage program that answers whatever it is asked with one JSON value, or all but its last bytes, and then listens
/// until the driver leaves.
class ParrotProgram {
 public:
  explicit ParrotProgram(const std::string& answer, std::size_t withheld = 0) {
    const auto header = wire::encode(wire::ControlFrame{answer.size()});
    const auto frame = std::string(reinterpret_cast<const char*>(header.data()), header.size()) + answer;
    support::write_file(folder_.path() / "frame", frame.substr(0, frame.size() - withheld));
    support::write_file(program(), "#!/bin/sh\ncat \"$(dirname \"$0\")/frame\" >&3\ncat <&3 >/dev/null\n");
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }

  std::filesystem::path program() const { return folder_.path() / "stage.sh"; }

 private:
  support::TemporaryFolder folder_;
};

template <class Reply>
Reply answer_of(const std::string& answer) {
  const ParrotProgram parrot(answer);
  StageClient client(2, {parrot.program(), {}});
  return client.receive<Reply>();
}

std::string complaint_about(const std::string& answer) {
  return support::message_of<StageError>([&] { answer_of<stage::Listening>(answer); });
}

}  // namespace

TEST_CASE("the reply that is due is what comes back") {
  CHECK(answer_of<stage::Listening>(R"({"type":"listening","body":{"port":5000}})").port == 5000);
}

TEST_CASE("an answer that is no message, or another one, is a stage error that says what was due") {
  for (const auto* answer : {R"({"type":"joined","body":{}})", "[]", "7", "null", "{}", R"("listening")"}) {
    CAPTURE(answer);
    const auto complaint = complaint_about(answer);
    CHECK(contains(complaint, "stage 2 answered with"));
    CHECK(contains(complaint, "where listening was due"));
  }
}

TEST_CASE("a malformed reply or fault is a stage error, not a defect of the driver") {
  for (const auto* answer : {R"({"type":"listening"})", R"({"type":"listening","body":{}})", R"({"type":7,"body":{}})",
                             R"({"type":"fault"})", R"({"type":"fault","body":{"reason":5}})", R"({"type":{}})"}) {
    CAPTURE(answer);
    CHECK(contains(complaint_about(answer), "stage 2 sent a malformed message where listening was due"));
  }
}

TEST_CASE("a fault keeps its reason, its code and what it says of the stage") {
  const auto [answered, kind] =
      GENERATE(table<stage::FaultKind, StageError::Kind>({{stage::FaultKind::refused, StageError::Kind::refused},
                                                          {stage::FaultKind::peer_lost, StageError::Kind::peer_lost},
                                                          {stage::FaultKind::process_lost, StageError::Kind::died}}));
  const auto fault = stage::wrap(stage::Fault{"no such data set", 2, answered}).dump();
  try {
    answer_of<stage::Listening>(fault);
    FAIL("a fault is not a reply");
  } catch (const StageError& error) {
    CHECK(error.kind() == kind);
    CHECK(error.code() == ExitCode::usage);
    CHECK(error.stage() == 2);
    CHECK(error.what() == std::string("no such data set"));
  }
}

namespace {

const std::string kAnswer = R"({"type":"listening","body":{"port":5000}})";

/// The stages' replies are awaited while the person, who waits until the driver has taken what came of the message,
/// interrupts it.
void interrupt_in_the_middle(StageClient& client) {
  const FileDescriptor interrupt(::eventfd(0, EFD_CLOEXEC));
  pollfd begun{client.descriptor(), POLLIN, 0};
  REQUIRE(::poll(&begun, 1, -1) == 1);
  std::thread person([&] {
    int left = 1;
    while (::ioctl(client.descriptor(), FIONREAD, &left) == 0 && left > 0) std::this_thread::yield();
    ::eventfd_write(interrupt.get(), 1);
  });
  CHECK_THROWS_AS(run::wait_for_reply<stage::Listening>(client, {Clock::time_point::max(), interrupt.get()}),
                  Interrupted);
  person.join();
}

}  // namespace

TEST_CASE(
    "the rest of a message that stops half-way is waited for no longer than the limits say, and a person can stop it") {
  const auto withheld = GENERATE(std::size_t{1}, kAnswer.size(), kAnswer.size() + 1);  // in the body, or the header
  CAPTURE(withheld);
  const ParrotProgram parrot(kAnswer, withheld);
  StageClient late(2, {parrot.program(), {}});
  pollfd begun{late.descriptor(), POLLIN, 0};
  REQUIRE(::poll(&begun, 1, -1) == 1);
  support::check_throws<StageError>(
      [&] { run::wait_for_reply<stage::Listening>(late, {Clock::now() + std::chrono::milliseconds(200)}); },
      {"stage 2 did not send in time the rest of what it began to send"});
  StageClient interrupted(2, {parrot.program(), {}});
  interrupt_in_the_middle(interrupted);
}

TEST_CASE("a message of more than sockets hold arrives as it is") {
  const ParrotProgram parrot(R"({"type":"listening","body":{"port":5000},"more":")" + std::string(4 << 20, 'x') +
                             "\"}");
  StageClient client(2, {parrot.program(), {}});
  const auto reply = run::wait_for_reply<stage::Listening>(client, {Clock::now() + std::chrono::seconds(600)});
  CHECK(reply.port == 5000);
}
