#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/architecture.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <elf.h>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>

namespace paretopipe::launch {
namespace {

TEST_CASE("a program's architecture is read from its header, in uname's words") {
  CHECK(architecture_of("/proc/self/exe") == own_architecture());
  const support::TemporaryFolder folder;
  const auto program = folder.path() / "program";
  support::write_program_for(EM_AARCH64, program);
  CHECK(architecture_of(program) == "aarch64");
  support::write_program_for(EM_M32, program);
  CHECK(architecture_of(program) == "machine 1");
  std::string big_endian("\177ELF\2\2\1", 7);
  big_endian.resize(20);
  big_endian[19] = EM_PPC64;
  support::write_file(program, big_endian);
  CHECK(architecture_of(program) == "ppc64");
  for (const auto* text : {"", "\177ELF", "#!/bin/sh\nexec the-real-program \"$@\"\n"}) {
    support::write_file(program, text);
    CHECK(architecture_of(program).empty());
  }
  CHECK(architecture_of(folder.path()).empty());
  CHECK(architecture_of(folder.path() / "nothing").empty());
}

TEST_CASE(
    "a program of another architecture is refused with both names, and one that is no program with the kernel's "
    "words") {
  const support::TemporaryFolder folder;
  const auto program = folder.path() / "stage";
  const auto start = [&] { run_command({{program.string()}}, 1000); };
  support::write_program_for(EM_M32, program);
  support::check_throws<EnvironmentError>(
      start, {"start " + program.string(), "is built for machine 1", "this machine is " + own_architecture()});
  support::write_file(program, "neither a script nor a program");
  support::check_throws<EnvironmentError>(start, {"Exec format error"});
}

TEST_CASE("what shells and the kernel say of another architecture is recognised") {
  CHECK(tells_of_other_architecture("bash: line 1: /opt/stage: cannot execute binary file: Exec format error"));
  CHECK(tells_of_other_architecture("/opt/stage: 1: \177ELF\2\1\1: not found"));
  CHECK_FALSE(tells_of_other_architecture("sh: 1: exec: ELF: not found"));
  CHECK_FALSE(tells_of_other_architecture(""));
}

}  // namespace
}  // namespace paretopipe::launch
