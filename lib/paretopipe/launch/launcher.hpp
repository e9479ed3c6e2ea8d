#pragma once
#include <string>
#include <vector>

// Commands that start a process on another machine. Their stdin and stdout reach it.
namespace paretopipe::launch {

/// ssh(1) to `destination`, with the user's ssh_config, keys and known hosts. It asks nothing, because there is nobody
/// to answer. It sets up no forwardings, and notices within some eight seconds that the host has vanished. No option
/// makes it trust more than the user's own set-up does.
std::vector<std::string> ssh_to(const std::string& destination);

/// `launcher` with `command` appended. Each word is quoted where the launcher hands them to a shell as a text, as ssh
/// does: once for each of its words that is ssh, such as in "sshpass -f FILE ssh HOST" or "ssh GATEWAY ssh HOST".
std::vector<std::string> command_over(std::vector<std::string> launcher, const std::vector<std::string>& command);

/// `command` with the path of its program, which is looked for as find_program does it. Throws EnvironmentError.
std::vector<std::string> with_found_program(std::vector<std::string> command);

/// What a script says if a launcher passed it on unquoted, as a program around ssh does that command_over knows nothing
/// of. A shell then runs the script without the variable that it begins with. So scripts give their variables names
/// that no login uses, and expand them with this message.
inline constexpr const char* kUnquoted =
    "the launcher took this command apart; let the devices file name ssh itself, not a program around it";

/// The folder of a device's cache, in the syntax of the shell there.
std::string cache_folder();

/// The folder in it for the stage program whose SHA-256 is `sha256`.
std::string program_folder(const std::string& sha256);

/// The command that starts the guard of a stage (guard.hpp) on a device: `program`, or, if that is empty, the program
/// that was deployed there under `sha256`, or else the one that is installed.
std::vector<std::string> guard_command(const std::string& program, const std::string& sha256);

}  // namespace paretopipe::launch
