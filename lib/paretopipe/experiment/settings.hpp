#pragma once
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/trial.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// How often a setting's flag may be given, and whether it has a value.
enum class FlagKind {
  once,      ///< with a value
  repeated,  ///< with one value each time: the values of a list
  on,        ///< without a value: turns the setting on
  off,       ///< without a value: turns the setting off
};

/// The values of one type of setting: how they are written as JSON and on the command line, and which are allowed.
struct SettingValue {
  std::string type{};     ///< of the flag's value, for --help: "NUMBER", "TEXT"
  std::string allowed{};  ///< Markdown: "2 … 16", "`"eager"`, `"optimized"`"
  FlagKind kind = FlagKind::once;
  std::function<nlohmann::json(const Experiment&)> write{};
  /// Throws UsageError that begins with `path`, e.g. "experiment.batch", for a wrong type or an unknown word.
  std::function<void(Experiment&, const nlohmann::json&, const std::string& path)> read{};
  /// The JSON that the texts of a flag mean; `flag` is its name, for errors. Throws UsageError.
  std::function<nlohmann::json(const std::vector<std::string>& texts, const std::string& flag)> parse{};
  /// Throws UsageError that begins with `path` for a value out of range.
  std::function<void(const Experiment&, const std::string& path)> check = [](const auto&, const auto&) {};
};

/// What a setting decides of a trial that has it in common with all others of its sweep, and how the trial's canonical
/// JSON says it.
struct TrialValue {
  std::function<void(const Experiment&, Trial&)> decide{};
  std::function<void(const Trial&, nlohmann::json&)> write{};
  std::function<void(const nlohmann::json&, Trial&)> read{};
};

/// One setting of an experiment, and all that there is to know of it besides its use.
struct Setting {
  std::string key{};      ///< in an experiment file; "server.queries" is `queries` of the object `server`
  std::string flag{};     ///< "--batch"; empty: none
  std::string alias{};    ///< of the flag, where people know it by another name
  std::string heading{};  ///< of the group of flags in --help
  std::string meaning{};  ///< Markdown, for --help and for the keys of configs/README.md
  std::string unset{};    ///< what an empty default means: "the CPUs are dealt out"
  SettingValue value{};
  /// Where a flag means more than its own value. Texts are those given with the flag.
  std::function<void(Experiment&, const std::vector<std::string>& texts)> apply{};
  TrialValue trial{};

  std::string path() const { return "experiment." + key; }
};

/// Every setting, in the order of --help and of configs/README.md.
const std::vector<Setting>& settings();

/// The default as JSON writes it, or what an empty one means.
std::string default_of(const Setting& setting);

/// The flags that a person gave: the texts of each, by the setting's key. Without a value, an empty text.
using GivenFlags = std::map<std::string, std::vector<std::string>>;

/// Applies flags to an experiment, whose settings they win over. Throws UsageError for a value that cannot be read and
/// for flags that contradict each other or need another one; validate() checks ranges.
void apply_flags(Experiment& experiment, const GivenFlags& given);

/// Throws UsageError for the first setting whose value is out of its own range. validate() also holds settings against
/// each other.
void check_ranges(const Experiment& experiment);

}  // namespace paretopipe::experiment
