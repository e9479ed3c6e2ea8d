#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/experiment/setting_values.hpp>

#include <chrono>
#include <utility>

namespace paretopipe::experiment {

std::string to_string(const Range& range) {
  if (range.max == Range{}.max) return fmt::format("{} or more", range.min);
  return range.max == range.min + 1 ? fmt::format("{} or {}", range.min, range.max)
                                    : fmt::format("{} … {}", range.min, range.max);
}

void check_range(const std::string& path, int value, const Range& range, const char* verb) {
  if (value >= range.min && value <= range.max) return;
  const bool open = range.max == Range{}.max;
  const auto bound = open ? fmt::format("at least {}", range.min) : fmt::format("from {} to {}", range.min, range.max);
  throw UsageError(fmt::format("{} {} {}; it must be {}", path, verb, value, bound));
}

nlohmann::json parse_whole_number(const std::string& text, const std::string& flag) {
  auto number = nlohmann::json::parse(text, nullptr, false);
  if (number.is_number_integer()) return number;
  throw UsageError(fmt::format("{}: \"{}\" is not a whole number in decimal digits", flag, text));
}

nlohmann::json parse_amount(const std::string& text, const std::string& flag) {
  auto number = nlohmann::json::parse(text, nullptr, false);
  if (number.is_number()) return number;
  throw UsageError(fmt::format("{}: \"{}\" is not a number such as 0.01", flag, text));
}

nlohmann::json parse_number_axis(const std::string& text, const std::string& flag) {
  // The largest number that any axis allows. check() knows the axis's own limit.
  if (const auto values = parse_number_list(text, kMostImages)) return nlohmann::json(Axis(*values));
  throw UsageError(fmt::format("{} is \"{}\"; it must be a number up to {}, or a list of them such as 1,2,4", flag,
                               text, kMostImages));
}

namespace {

constexpr int kMaxTrials = 10'000;

using Texts = std::vector<std::string>;

constexpr auto kPrecision = through(&Experiment::repeat, &Repeat::precision);
constexpr auto kBudget = through(&Experiment::repeat, &Repeat::budget_s);
constexpr auto kMostRepeats = through(&Experiment::repeat, &Repeat::trials);
constexpr auto kRates = through(&Experiment::server, &ServerSettings::rates);

/// Rounded up to whole seconds: rounds of trials cannot be timed more exactly.
nlohmann::json parse_share(const Texts& texts, const std::string& flag) {
  return with_prefix(flag + ": ", [&] { return parse_probability(texts.front()); });
}

int seconds_of_budget(const std::string& text, const std::string& flag) {
  const auto duration = with_prefix(flag + ": ", [&] { return parse_duration(text); });
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
  if (seconds >= 1 && seconds <= std::numeric_limits<int>::max()) return static_cast<int>(seconds);
  throw UsageError(fmt::format("{} is \"{}\"; it must be at least a second, such as 90s", flag, text));
}

}  // namespace

SettingValue selection_of_splits() {
  auto value = text(&Experiment::splits, "`\"all\"`, `\"0,2-5\"` or `[0, 2, 3]`");
  value.read = [](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    experiment.splits = with_prefix(path + ": ", [&] { return json.get<SplitSelection>(); });
  };
  return value;
}

void apply_splits(Experiment& experiment, const Texts& texts) {
  experiment.splits = parse_splits(texts.front());
  experiment.partitions.clear();
}

void apply_partitions(Experiment& experiment, const Texts& texts) {
  experiment.partitions = texts;
  experiment.splits = {};
}

namespace {

/// One text, or several, that `canonical` understands.
template <class Access, class Canonical>
SettingValue word_list(Access access, Canonical canonical, std::string allowed) {
  SettingValue value{.type = "LIST", .allowed = std::move(allowed)};
  value.write = [access](const Experiment& experiment) {
    const Texts& all = std::invoke(access, experiment);
    return all.empty() ? nlohmann::json() : all.size() == 1 ? nlohmann::json(all.front()) : nlohmann::json(all);
  };
  value.read = [access, canonical](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    if (json.is_null() && std::invoke(access, experiment).empty()) return;
    Texts texts;
    for (const auto& item : json.is_array() ? json : nlohmann::json::array({json})) {
      read_as(texts.emplace_back(), item, path);
    }
    std::invoke(access, experiment) = canonical(texts, path);
  };
  value.parse = [](const Texts& texts, const std::string&) {
    const auto names = split(texts.front());
    return nlohmann::json(Texts(names.begin(), names.end()));
  };
  return value;
}

}  // namespace

SettingValue codecs() {
  return word_list(&Experiment::codecs, canonical_codecs,
                   "`\"none\"`, another name, or a list: `[\"none\", \"sort8\"]`");
}

SettingValue input_codecs() {
  return word_list(&Experiment::codec_inputs, canonical_input_codecs, "`\"uint8\"`, another codec, or a list");
}

TrialValue codec_of_trial() {
  return {nullptr,
          [](const Trial& trial, nlohmann::json& json) {
            if (trial.codec != codec::kNone) json["codec"] = trial.codec;
          },
          [](const nlohmann::json& json, Trial& trial) { trial.codec = json.value("codec", codec::kNone); }};
}

SettingValue max_flips() {
  SettingValue value{.type = "SHARE", .allowed = "from 0 to 1"};
  value.write = [](const Experiment& experiment) {
    return experiment.max_flips ? nlohmann::json(*experiment.max_flips) : nlohmann::json();
  };
  value.read = [](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    experiment.max_flips.reset();
    if (!json.is_null()) read_as(experiment.max_flips.emplace(), json, path);
  };
  value.parse = parse_share;
  value.check = [](const Experiment& experiment, const std::string& path) {
    const auto share = experiment.max_flips.value_or(0);
    if (share >= 0 && share <= 1) return;
    throw UsageError(fmt::format("{} is {}; it must be from 0 to 1, such as 0.01 for 1 %", path, share));
  };
  return value;
}

SettingValue repeats() {
  SettingValue value{.type = "TEXT", .allowed = fmt::format("1 … {}, `\"auto\"`, or an object, see below", kMaxTrials)};
  value.write = [](const Experiment& experiment) {
    return experiment.repeat.adaptive ? nlohmann::json::object() : nlohmann::json(experiment.repeat.trials);
  };
  value.read = [](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    experiment.repeat = {};
    if (json.is_number_integer()) {
      read_as(experiment.repeat.trials, json, path);
    } else if (json == "auto" || json.is_object()) {
      experiment.repeat = {.adaptive = true, .trials = kMostAdaptiveTrials};
    } else {
      throw UsageError(
          fmt::format("{} is {}; it must be a number of trials, \"auto\", or an object that says when auto ends", path,
                      json.dump()));
    }
  };
  value.parse = [](const Texts& texts, const std::string& flag) {
    if (texts.front() == "auto") return nlohmann::json("auto");
    const auto number = nlohmann::json::parse(texts.front(), nullptr, false);
    if (number.is_number_integer()) return number;
    throw UsageError(fmt::format("{} is \"{}\"; it must be a number of trials, or auto", flag, texts.front()));
  };
  value.check = [](const Experiment& experiment, const std::string& path) {
    check_range(path, experiment.repeat.trials, {1, kMaxTrials});
  };
  return value;
}

SettingValue precision_of_auto() {
  auto value = plain(kPrecision, "SHARE", "between 0 and 1");
  value.parse = parse_share;
  value.check = [](const Experiment& experiment, const std::string& path) {
    const double precision = experiment.repeat.precision;
    if (precision > 0 && precision < 1) return;
    throw UsageError(fmt::format("{} is {}; it must be between 0 and 1, such as 0.02 for 2 %", path, precision));
  };
  return value;
}

SettingValue budget_of_auto() {
  auto value = whole_number(kBudget, {0});
  value.type = "DURATION";
  value.parse = [](const Texts& texts, const std::string& flag) {
    return nlohmann::json(seconds_of_budget(texts.front(), flag));
  };
  return value;
}

SettingValue trials_of_auto() {
  auto value = whole_number(kMostRepeats, {1, kMaxTrials});
  value.write = [](const Experiment& experiment) {
    return nlohmann::json(experiment.repeat.adaptive ? experiment.repeat.trials : kMostAdaptiveTrials);
  };
  return value;
}

SettingValue rates() {
  auto value = plain(kRates, "LIST", "0.001 … 1000000, each once: `[10, 20, 40]`");
  value.parse = [](const Texts& texts, const std::string& flag) {
    std::vector<double> rates;
    try {
      for (const auto& word : split(texts.front())) rates.push_back(parse_count(word));
    } catch (const UsageError&) {
      throw UsageError(fmt::format("{} is \"{}\"; it must be a number of images per second, or a list such as 10,20,40",
                                   flag, texts.front()));
    }
    return nlohmann::json(rates);
  };
  return value;
}

void apply_rates(Experiment& experiment, const Texts& texts) {
  rates().parse(texts, "--rate").get_to(experiment.server.rates);
  experiment.server.find_max_rate.clear();
}

void apply_search(Experiment& experiment, const Texts& texts) {
  parse_latency_bound(texts.front());
  experiment.server.find_max_rate = texts.front();
  experiment.server.rates.clear();
}

void apply_scenarios(Experiment& experiment, const Texts& texts) {
  const std::vector<std::string> known{"single-stream", "offline", "server"};
  std::vector<bool> named(known.size());
  for (const auto& word : split(texts.front())) {
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) {
      throw UsageError(
          fmt::format("--scenario is \"{}\"; it must be single-stream, offline or server, or a list of them{}",
                      texts.front(), did_you_mean(word, known)));
    }
    named[static_cast<std::size_t>(found - known.begin())] = true;
  }
  experiment.phases = named[0] == named[1] ? Phases::both : named[0] ? Phases::single_stream : Phases::offline;
  if (!named[2]) experiment.server = {};
}

SettingValue schedules() {
  constexpr auto kSchedules = through(&Experiment::training, &TrainingSettings::schedules);
  const auto known = [](const Texts& texts, const std::string& path) {
    if (texts.empty()) throw UsageError(fmt::format("{} is empty; name at least one schedule", path));
    for (auto text = texts.begin(); text != texts.end(); ++text) {
      with_prefix("experiment.", [&] { parse_schedule(*text); });  // the error begins with the key
      if (std::find(texts.begin(), text, *text) != text) {
        throw UsageError(fmt::format("{} holds {} twice", path, *text));
      }
    }
    return texts;
  };
  return word_list(kSchedules, known, "`\"gpipe\"`, `\"1f1b\"`, `\"pipedream\"`, or a list");
}

SettingValue placement() {
  auto value = plain(&Experiment::placement, "LIST", "the device of each stage: `[0, 1, 0]`");
  value.parse = [](const Texts& texts, const auto&) { return nlohmann::json(parse_placement(texts.front())); };
  return value;
}

SettingValue seed() {
  auto value = plain(&Experiment::seed, "NUMBER", "0 … 2⁶⁴ − 1");
  value.parse = [](const Texts& texts, const std::string& flag) {
    const auto number = nlohmann::json::parse(texts.front(), nullptr, false);
    if (number.is_number_unsigned()) return number;
    throw UsageError(
        fmt::format("{}: \"{}\" is not a seed: it must be a whole number from 0 to 2^64 - 1", flag, texts.front()));
  };
  return value;
}

TrialValue one_of(Axis Experiment::*axis, int Trial::*in, const char* key) {
  auto value = always(&Experiment::batches, in, key);
  value.decide = [=](const Experiment& experiment, Trial& trial) { trial.*in = (experiment.*axis).first(); };
  return value;
}

SettingValue micro_batches() {
  auto value = plain(&Experiment::micro_batches, "LIST", "divisors of `batch`, each once: `[1, 4, 16]`");
  value.parse = [](const Texts& texts, const std::string& flag) {
    auto numbers = parse_number_axis(texts.front(), flag);
    return numbers.is_array() ? numbers : nlohmann::json::array({numbers});
  };
  return value;
}

TrialValue classes() {
  auto value = always(&Experiment::num_classes, &Trial::num_classes, "num_classes");
  value.write = [](const Trial& trial, nlohmann::json& json) {
    if (!trial.archive) json["num_classes"] = trial.num_classes;
  };
  value.read = [](const nlohmann::json& json, Trial& trial) {
    if (!json.contains("archive")) json.at("num_classes").get_to(trial.num_classes);
  };
  return value;
}

SettingValue object() {
  SettingValue value;
  value.allowed = "an object, see below";
  value.write = [](const Experiment&) { return nlohmann::json::object(); };
  value.read = [](Experiment&, const nlohmann::json& json, const std::string& path) { ObjectReader(json, path); };
  return value;
}

}  // namespace paretopipe::experiment
