// The commands that start processes on other machines, tried with the shell that such a command would reach.
#include <paretopipe/core/text.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/launcher.hpp>

#include <algorithm>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>

#include "shell_child.hpp"

using namespace paretopipe;
using namespace paretopipe::launch;

namespace {

std::string output_of_shell(const std::string& script,
                            std::vector<std::pair<std::string, std::string>> environment = {}) {
  return run_command({.argv = {"/bin/sh", "-c", script}, .environment = std::move(environment)}, testing::kPatienceMs)
      .output;
}

}  // namespace

TEST_CASE("whatever is in a word, the shell reads that word", "[launcher]") {
  for (const std::string word :
       {"plain", "", "a b", "it's", "''", "$HOME `id` \\ \"", "a\nb", "*", "; rm -rf /", "é"}) {
    CAPTURE(word);
    CHECK(output_of_shell("printf %s " + quoted_for_shell(word)) == word);
  }
}

TEST_CASE("ssh hands a text to a shell, so its words are quoted; other launchers pass words on", "[launcher]") {
  CHECK(command_over({"/usr/bin/ssh", "pi"}, {"sh", "-c", "a b"}) ==
        std::vector<std::string>{"/usr/bin/ssh", "pi", "'sh'", "'-c'", "'a b'"});
  CHECK(command_over({"srun", "-n1"}, {"sh", "-c", "a b"}) ==
        std::vector<std::string>{"srun", "-n1", "sh", "-c", "a b"});
}

TEST_CASE("words are quoted once for each ssh of a launcher, wherever it stands, and not for other words like it") {
  const auto appended = [](std::vector<std::string> launcher) {
    return command_over(std::move(launcher), {"a b"}).back();
  };
  CHECK(appended({"sshpass", "-f", "pw", "ssh", "pi"}) == "'a b'");
  CHECK(appended({"sudo", "-u", "lab", "/usr/bin/ssh", "pi"}) == "'a b'");
  CHECK(appended({"gcloud", "compute", "ssh", "pi", "--"}) == "'a b'");
  CHECK(appended({"ssh", "gateway", "ssh", "pi"}) == quoted_for_shell("'a b'"));
  CHECK(appended({"ssh", "ssh"}) == "'a b'");
  CHECK(appended({"srun", "-w", "ssh"}) == "a b");
  CHECK(appended({"docker", "run", "--volume=/etc/ssh", "-v", "/root/ssh:/etc/ssh", "image"}) == "a b");
  CHECK(appended({"sshpass", "-f", "pw", "to-pi"}) == "a b");
}

TEST_CASE("no option of ours makes ssh ask, or trust more than the user's set-up does", "[launcher]") {
  const auto command = ssh_to("pi");
  CHECK(command.front() == "ssh");
  CHECK(command.back() == "pi");
  CHECK(std::count(command.begin(), command.end(), "BatchMode=yes") == 1);
  for (const auto& word : command) CHECK(word.find("HostKey") == std::string::npos);
}

TEST_CASE("a deployed program comes before an installed one, and a named one before both", "[launcher]") {
  const support::TemporaryFolder folder;
  const auto program = [&](const std::filesystem::path& file, const std::string& says) {
    std::filesystem::create_directories(file.parent_path());
    support::write_file(file, "#!/bin/sh\necho " + says + " $1\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  };
  const auto installed = program(folder.path() / "bin" / "paretopipe-stage", "installed");
  const auto named = program(folder.path() / "named", "named");
  const auto run = [&](const std::vector<std::string>& command, const std::string& cache) {
    std::string script;
    for (const auto& word : command) script += quoted_for_shell(word) + " ";
    return output_of_shell(script, {{"PATH", (folder.path() / "bin").string() + ":/usr/bin:/bin"},
                                    {"XDG_CACHE_HOME", cache},
                                    {"HOME", folder.path().string()}});
  };
  CHECK(run(guard_command("", "abc"), "") == "installed guard\n");
  program(folder.path() / ".cache" / "paretopipe" / "programs" / "abc" / "paretopipe-stage", "deployed");
  CHECK(run(guard_command("", "abc"), "") == "deployed guard\n");
  CHECK(run(guard_command("", "other"), "") == "installed guard\n");
  program(folder.path() / "cache" / "paretopipe" / "programs" / "abc" / "paretopipe-stage", "cached");
  CHECK(run(guard_command("", "abc"), (folder.path() / "cache").string()) == "cached guard\n");
  CHECK(run(guard_command(named, "abc"), "") == "named guard\n");
}
