#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using run::StageClient;
using run::StageError;
using support::contains;

namespace {

/// A stage program that answers whatever it is asked with one JSON value, and then listens until the driver leaves.
class ParrotProgram {
 public:
  explicit ParrotProgram(const std::string& answer) {
    const auto header = wire::encode(wire::ControlFrame{answer.size()});
    support::write_file(folder_.path() / "frame",
                        std::string(reinterpret_cast<const char*>(header.data()), header.size()) + answer);
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
