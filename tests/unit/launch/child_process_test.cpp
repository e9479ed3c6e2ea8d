#include <csignal>

#include <support/catch.hpp>
#include <support/processes.hpp>
#include <support/scoped_variable.hpp>

#include "shell_child.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

TEST_CASE("what a child prints is kept, on both streams in order, without the last line's end") {
  ShellChild child("echo one; echo two >&2; echo three; echo");
  CHECK(child.output_at_end() == "one\ntwo\nthree");
  CHECK(ShellChild("exit 0").output_at_end().empty());
}

TEST_CASE("of a talkative child the last words are kept") {
  ShellChild child("i=0; while [ $i -lt 2000 ]; do echo \"line $i\"; i=$((i+1)); done; echo the end");
  const auto output = child.output_at_end();
  CHECK(output.size() <= 2000);
  CHECK(output.ends_with("line 1999\nthe end"));
}

TEST_CASE("a child says how it ended, again and again") {
  const auto [script, how] = GENERATE(table<std::string, std::string>({
      {"exit 0", "exited with status 0"},
      {"exit 3", "exited with status 3"},
      {"kill -KILL $$", "was killed by signal 9 (Killed)"},
      {"kill -SEGV $$", "was killed by signal 11 (Segmentation fault)"},
  }));
  ShellChild child(script);
  for (int i = 0; i < 2; ++i) {
    CHECK(child.process().end(kPatienceMs) == how);
    CHECK(child.process().how_it_ended() == how);
  }
}

TEST_CASE("a running child has not ended, and is not waited for") {
  ShellChild child("read line <&3; exit 7");
  CHECK_FALSE(child.process().how_it_ended().has_value());
  child.say("go on\n");
  CHECK(child.process().end(kPatienceMs) == "exited with status 7");
}

TEST_CASE("a child that does not end in time is killed, and so is what it started") {
  ShellChild child("sleep 1000 & echo $! >&3; wait");
  const support::ProcessWatch grandchild(std::stoi(child.hear()));
  CHECK(child.process().end(1) == "was killed by signal 9 (Killed)");
  CHECK(grandchild.ended());
}

TEST_CASE("what a child that ended by itself had started does not outlive it") {
  ShellChild child("sleep 1000 & echo $! >&3; read line <&3");
  const support::ProcessWatch grandchild(std::stoi(child.hear()));
  child.say("end\n");
  CHECK(child.process().end(kPatienceMs) == "exited with status 0");
  CHECK(grandchild.ended());
}

TEST_CASE("the end of life kills and reaps, and leaves neither zombie nor descriptor") {
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    ShellChild running("echo ready >&3; exec sleep 1000");
    ShellChild ended("exit 0");
    CHECK(running.hear() == "ready");
    CHECK(ended.hear().empty());
    CHECK(support::own_children().size() == 2);
  }
  CHECK(support::own_children().empty());
  CHECK(open_descriptors() == before);
}

TEST_CASE("a child that was moved has one owner") {
  ShellChild child("read line <&3; exit 5");
  {
    launch::ChildProcess owner(std::move(child.process()));
    CHECK_FALSE(owner.how_it_ended().has_value());
    child.say("end\n");
    CHECK(owner.end(kPatienceMs) == "exited with status 5");
  }
  CHECK(support::own_children().empty());
}

TEST_CASE("the control link is descriptor 3, in both directions, and ends with either side") {
  ShellChild child("read line <&3; echo \"heard $line\" >&3; cat <&3; echo the end");
  child.say("hello\n");
  CHECK(child.hear() == "heard hello");
  child.say("more\n");
  child.hang_up();
  CHECK(child.output_at_end() == "more\nthe end");

  ShellChild silent("exit 0");
  CHECK(silent.hear().empty());  // the end of the stream: this process holds no copy of the child's end
}

TEST_CASE("settings go over what the environment has, and the rest is inherited") {
  const support::ScopedVariable inherited("PARETOPIPE_TEST_A", "inherited");
  const support::ScopedVariable replaced("PARETOPIPE_TEST_B", "not this");
  const support::ScopedVariable similar("PARETOPIPE_TEST_BB", "kept");
  ShellChild child(
      "echo \"$PARETOPIPE_TEST_A,$PARETOPIPE_TEST_B,$PARETOPIPE_TEST_BB,$PARETOPIPE_TEST_C\"; "
      "env | grep -c '^PARETOPIPE_TEST_B='",
      {{"PARETOPIPE_TEST_B", "a = b"}, {"PARETOPIPE_TEST_C", ""}});
  CHECK(child.output_at_end() == "inherited,a = b,kept,\n1");
  CHECK(std::getenv("PARETOPIPE_TEST_B") == std::string("not this"));
}

TEST_CASE("a child reads nothing from this process's standard input") {
  ShellChild child("cat; echo end");
  CHECK(child.output_at_end() == "end");
}
