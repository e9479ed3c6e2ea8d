#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/setting_values.hpp>
#include <paretopipe/experiment/settings.hpp>

#include <utility>

namespace paretopipe::experiment {
namespace {

constexpr int kMaxTrials = 10'000;

using Texts = std::vector<std::string>;

SettingValue selection_of_splits() {
  auto value = text(&Experiment::splits, "`\"all\"`, `\"0,2-5\"` or `[0, 2, 3]`");
  value.read = [](Experiment& experiment, const nlohmann::json& json, const std::string& path) {
    try {
      experiment.splits = json.get<SplitSelection>();
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", path, error.what()));
    }
  };
  return value;
}

/// Split points and partitions are two ways to say the same: a flag for one replaces both from a file.
void apply_splits(Experiment& experiment, const Texts& texts) {
  experiment.splits = parse_splits(texts.front());
  experiment.partitions.clear();
}

void apply_partitions(Experiment& experiment, const Texts& texts) {
  experiment.partitions = texts;
  experiment.splits = {};
}

/// A number of trials, "auto", or an object, which is "auto" with other bounds than its defaults.
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

/// One of the three bounds of "auto", which is a number in JSON.
template <class Access, class Parse>
SettingValue bound_of_auto(Access access, std::string type, std::string allowed, Parse parse) {
  auto value = plain(access, std::move(type), std::move(allowed));
  value.parse = [parse](const Texts& texts, const std::string& flag) {
    return nlohmann::json(parse(texts.front(), flag));
  };
  return value;
}

/// Rounded up to whole seconds: rounds of trials cannot be timed more exactly.
int seconds_of_budget(const std::string& text, const std::string& flag) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
  if (seconds >= 1 && seconds <= std::numeric_limits<int>::max()) return static_cast<int>(seconds);
  throw UsageError(fmt::format("{} is \"{}\"; it must be at least a second, such as 90s", flag, text));
}

constexpr auto kPrecision = [](auto& experiment) -> auto& {
  return experiment.repeat.precision;
};
constexpr auto kBudget = [](auto& experiment) -> auto& {
  return experiment.repeat.budget_s;
};
constexpr auto kMostRepeats = [](auto& experiment) -> auto& {
  return experiment.repeat.trials;
};
constexpr auto kRates = [](auto& experiment) -> auto& {
  return experiment.server.rates;
};
constexpr auto kSearch = [](auto& experiment) -> auto& {
  return experiment.server.find_max_rate;
};
constexpr auto kQueries = [](auto& experiment) -> auto& {
  return experiment.server.queries;
};

SettingValue precision_of_auto() {
  auto value = bound_of_auto(kPrecision, "SHARE", "between 0 and 1",
                             [](const std::string& text, const std::string&) { return parse_probability(text); });
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
  auto value = bound_of_auto(kMostRepeats, "NUMBER", fmt::format("1 … {}", kMaxTrials), parse_whole_number);
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
      for (const auto& word : split_at_commas(texts.front())) rates.push_back(parse_count(word));
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

/// Without the scenario server, an experiment file's load is dropped. If only server is named, both other phases run
/// before it.
void apply_scenarios(Experiment& experiment, const Texts& texts) {
  const std::vector<std::string> known{"single-stream", "offline", "server"};
  std::vector<bool> named(known.size());
  for (const auto& word : split_at_commas(texts.front())) {
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

/// An axis, of which a trial has one value: the first, until the plan chooses another.
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

/// An archive has the head that it has.
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

/// An object of a file that has the keys of others.
SettingValue object() {
  SettingValue value;
  value.allowed = "an object, see below";
  value.write = [](const Experiment&) { return nlohmann::json::object(); };
  value.read = [](Experiment&, const nlohmann::json& json, const std::string& path) { ObjectReader(json, path); };
  return value;
}

void append(std::vector<Setting>& all, const std::string& heading, std::vector<Setting> settings) {
  for (auto& setting : settings) {
    setting.heading = heading;
    all.push_back(std::move(setting));
  }
}

// A row holds what there is to know of a setting: its key, its flag, its meaning, its values, and where a trial has it.
// The default is that of its member of Experiment.

std::vector<Setting> what_is_measured() {
  return {
      {.key = "models",
       .flag = "--model",
       .meaning =
           "Model, or TorchScript archive: a path that contains a slash or ends in `.pt`, `.pth` or `.torchscript`. "
           "`paretopipe models` lists the models, and configs/README.md explains `synthetic:`",
       .kind = FlagKind::repeated,
       .value = texts(&Experiment::models, "names, each once")},
      {.key = "input",
       .flag = "--input",
       .meaning = "Shape of one sample of the archives, such as `3x224x224`",
       .unset = "no archives",
       .value = text(&Experiment::input, "`\"3x224x224\"`")},
      {.key = "cuts",
       .flag = "--cuts",
       .meaning = "Where archives can be cut: unit, all, modules or a pattern of names",
       .value = text(&Experiment::cuts, "`\"unit\"`, `\"all\"`, `\"modules\"`, or a pattern")},
      {.key = "max_crossing",
       .flag = "--max-crossing",
       .meaning = "Tensors that may cross a cut of the archives; the link carries all of them",
       .value = whole_number(&Experiment::max_crossing, {1, kMostCrossing})},
      {.key = "num_classes",
       .flag = "--classes",
       .meaning = "Classes of the model's head; an archive has the head that it has",
       .value = whole_number(&Experiment::num_classes, {1, 1'000'000}),
       .trial = classes()},
      {.key = "weights",
       .flag = "--weights",
       .meaning = "File with the weights of the only model: `.safetensors`, or `.pth` as torch.save writes it",
       .unset = "made from the seed",
       .value = text(&Experiment::weights, "a file")},
      {.key = "data",
       .flag = "--data",
       .meaning =
           "Input: `fashion-mnist[:DIR]`, `cifar10[:DIR]`, `random`, `images:DIR`, `tensor:FILE` or `tokens:FILE`",
       .value = text(&Experiment::data, "see the meaning")},
      {.key = "labels",
       .flag = "--labels",
       .meaning = "Class of each sample of the data, for the top-1 accuracy: a file with one a line, or `own` (the "
                  "data set's)",
       .unset = "unknown",
       .value = text(&Experiment::labels, "a file, or `\"own\"`")},
  };
}

std::vector<Setting> where_it_is_cut() {
  return {
      {.key = "splits",
       .flag = "--split",
       .meaning = "Split points of two stages: the first k blocks run on stage 0. 0 is all remote, the number of "
                  "blocks is all "
                  "local, and `all` is every k with both",
       .value = selection_of_splits(),
       .apply = apply_splits},
      {.key = "stages",
       .flag = "--stages",
       .meaning = "Stages that the model is cut into, each a process",
       .value = whole_number(&Experiment::stages, {2, kMostStages})},
      {.key = "partitions",
       .flag = "--partitions",
       .meaning = "How to cut the model into the stages: all, split points such as `4,9,14`, or a scheme (equal-load, "
                  "front-load, front-heavy, middle-load, end-load, end-heavy, equal-time)",
       .unset = "the splits of two stages, all partitions of more",
       .kind = FlagKind::repeated,
       .value = texts(&Experiment::partitions, "`\"all\"`, split points, schemes"),
       .apply = apply_partitions},
      {.key = "max_partitions",
       .flag = "--max-partitions",
       .meaning = "How many of all partitions to choose by chance, beside the endpoints",
       .unset = "every one, if there are at most 1000",
       .value = whole_number(&Experiment::max_partitions, {0, 10'000})},
      {.key = "baselines",
       .flag = "--baseline",
       .meaning =
           "What to measure beside the partitions: single (the whole model on one device), sequential (one batch in "
           "flight, which every trial measures) or data-parallel (the whole model on as many devices as there are "
           "stages)",
       .unset = "none",
       .kind = FlagKind::repeated,
       .value = texts(&Experiment::baselines, "`\"single\"`, `\"sequential\"`, `\"data-parallel\"`")},
  };
}

std::vector<Setting> how_much_is_measured() {
  return {
      {.key = "batch",
       .flag = "--batch",
       .meaning = "Images per batch, or a list such as 1,8,64, each of which is measured",
       .value = number_axis(&Experiment::batch, kMostImages),
       .trial = one_of(&Experiment::batch, &Trial::batch, "batch")},
      {.key = "micro_batches",
       .flag = "--micro-batch",
       .meaning =
           "Images per micro-batch that a batch is cut into, or a list such as 1,2,4; a batch is cut by the sizes that "
           "divide it",
       .unset = "not cut",
       .value = micro_batches()},
      {.key = "depth",
       .flag = "--depth",
       .meaning = "Batches in flight while throughput is measured, or a list",
       .value = number_axis(&Experiment::depth, 256),
       .trial = one_of(&Experiment::depth, &Trial::depth, "depth")},
      {.key = "batches",
       .flag = "--batches",
       .meaning = "Measured batches of each phase",
       .value = whole_number(&Experiment::batches, {2, kMaxBatches}),
       .trial = always(&Experiment::batches, &Trial::batches, "batches")},
      {.key = "warmup",
       .flag = "--warmup",
       .meaning = "Batches run and dropped before each phase",
       .value = whole_number(&Experiment::warmup, {0, kMaxBatches}),
       .trial = always(&Experiment::warmup, &Trial::warmup, "warmup")},
      {.key = "seed",
       .flag = "--seed",
       .meaning = "Seed of weights, random inputs and the order of trials",
       .value = seed(),
       .trial = always(&Experiment::seed, &Trial::seed, "seed")},
  };
}

std::vector<Setting> under_which_load() {
  return {
      {.key = "phases",
       .flag = "--scenario",
       .meaning =
           "What a trial measures: single-stream (latency, one batch in flight), offline (throughput, `depth` in "
           "flight) or both. The flag takes a list, and server for arrivals by chance, too",
       .value = word(&Experiment::phases, parse_phases, "`\"both\"`, `\"single-stream\"`, `\"offline\"`"),
       .apply = apply_scenarios,
       .trial = unless_default(&Experiment::phases, &Trial::phases, "phases")},
      {.key = "server",
       .meaning = "Load: a further phase of every trial, in which images arrive by chance",
       .value = object()},
      {.key = "server.rates",
       .flag = "--rate",
       .meaning = "Images that arrive per second, or a list such as 10,20,40; each rate in trials of its own",
       .unset = "no Server phase",
       .value = rates(),
       .apply = apply_rates},
      {.key = "server.find_max_rate",
       .flag = "--find-max-rate",
       .meaning =
           "Search the highest rate that keeps a bound on latency, such as `p99 < 100ms`, instead of rates. It begins "
           "at half the throughput",
       .unset = "no search",
       .value = text(kSearch, "`mean`, `p50`, `p90`, `p95`, `p99` or `max`, below a duration"),
       .apply = apply_search},
      {.key = "server.queries",
       .flag = "--queries",
       .meaning = "Measured arrivals at every rate, of a batch each",
       .value = whole_number(kQueries, {2, kMaxBatches})},
  };
}

std::vector<Setting> how_often_it_is_measured() {
  return {
      {.key = "repeat",
       .flag = "--repeat",
       .meaning = "Trials of every split, or auto: as many as it takes. An interval needs three or more",
       .value = repeats()},
      {.key = "repeat.precision",
       .flag = "--precision",
       .meaning = "auto: half of the 95 % intervals, as a share of the median",
       .value = precision_of_auto()},
      {.key = "repeat.trials",
       .flag = "--max-repeat",
       .meaning = "auto: the most trials of a split",
       .value = trials_of_auto()},
      {.key = "repeat.budget_s",
       .flag = "--budget",
       .meaning = "auto: seconds after which no further round begins; the flag takes a duration such as 90s",
       .unset = "no limit",
       .value = budget_of_auto()},
      {.key = "repeat_slow",
       .flag = "--repeat-slow",
       .meaning = "How often a trial that fell into a slow window of the machine is measured again",
       .value = whole_number(&Experiment::repeat_slow, {0, 100})},
  };
}

std::vector<Setting> what_lies_between() {
  return {
      {.key = "networks",
       .flag = "--network",
       .meaning = "Network profile, by name or file; `paretopipe net show` lists them",
       .kind = FlagKind::repeated,
       .value = texts(&Experiment::networks, "names or files, each once")},
      {.key = "shaping",
       .flag = "--shaping",
       .meaning = "netem (the kernel, between network namespaces), emulated (a relay in userspace), none, or auto",
       .value = text(&Experiment::shaping, "`\"auto\"`, `\"netem\"`, `\"emulated\"`, `\"none\"`")},
  };
}

std::vector<Setting> how_stages_compute() {
  return {
      {.key = "compute",
       .flag = "--compute",
       .meaning =
           "eager: operator by operator; optimized: each stage's own graph with fused and blocked kernels; auto: "
           "optimized, but eager for synthetic models",
       .value = word(
           [](auto& experiment) -> auto& { return experiment.compute.compute; }, parse_compute_choice,
           "`\"auto\"`, `\"eager\"`, `\"optimized\"`")},
      {.key = "dtype",
       .flag = "--dtype",
       .meaning = "Type of weights and of the activations that cross the links",
       .value = word(
           [](auto& experiment) -> auto& { return experiment.compute.dtype; }, parse_precision,
           "`\"float32\"`, `\"bfloat16\"`")},
      {.key = "memory_format",
       .flag = "--memory-format",
       .meaning = "Order of weights and activations with four dimensions: NCHW or NHWC",
       .value = word(
           [](auto& experiment) -> auto& { return experiment.compute.memory_format; }, parse_memory_format,
           "`\"contiguous\"`, `\"channels_last\"`")},
      {.key = "threads_per_stage",
       .flag = "--threads-per-stage",
       .meaning = "Compute threads of each stage, or a list",
       .value = number_axis(&Experiment::threads_per_stage, 1024),
       .trial = one_of(&Experiment::threads_per_stage, &Trial::threads_per_stage, "threads_per_stage")},
      {.key = "compute_devices",
       .flag = "--device",
       .meaning = "What a stage computes on: cpu, or a GPU as `cuda:0`; once for all stages, or once a stage",
       .unset = "cpu",
       .kind = FlagKind::repeated,
       .value = texts(&Experiment::compute_devices, "`[\"cuda:0\"]`, or one per stage")},
      {.key = "cpus",
       .flag = "--cpus",
       .meaning = "CPU list of a stage, such as 0-3; once a stage",
       .unset = "the CPUs are dealt out",
       .kind = FlagKind::repeated,
       .value = texts(&Experiment::cpus, "one list per stage: `[\"0-3\", \"4-7\"]`"),
       .trial = always(&Experiment::cpus, &Trial::cpus, "cpus")},
      {.key = "placement",
       .flag = "--placement",
       .meaning = "Device of each stage, such as 0,1,0: stages that share a device. Device 0 is the source's",
       .unset = "each on one of its own",
       .value = placement()},
      {.key = "device_profiles",
       .flag = "--device-profile",
       .meaning = "What a device may use of this machine: pi, server, a file, or none; once a device",
       .unset = "everything",
       .kind = FlagKind::repeated,
       .value = texts(&Experiment::device_profiles, "names or files: `[\"pi\", \"server\"]`")},
      {.key = "tuning", .meaning = "What a stage does to compute fast, as a deployment would", .value = object()},
      {.key = "tuning.flush_denormals",
       .flag = "--no-flush-denormals",
       .meaning = "Count numbers too small for a normal float as zero; some networks compute many times slower without",
       .kind = FlagKind::off,
       .value = enabled([](auto& experiment) -> auto& { return experiment.tuning.flush_denormals; })},
      {.key = "tuning.tune_malloc",
       .flag = "--no-malloc-tuning",
       .meaning =
           "Keep freed memory in the process, rather than fault it in again for every batch, and have it in huge pages",
       .kind = FlagKind::off,
       .value = enabled([](auto& experiment) -> auto& { return experiment.tuning.tune_malloc; })},
      {.key = "tuning.passive_openmp_wait",
       .flag = "--active-openmp-wait",
       .meaning = "Idle OpenMP threads sleep, rather than spin on a core that the other stage may need",
       .kind = FlagKind::off,
       .value = enabled([](auto& experiment) -> auto& { return experiment.tuning.passive_openmp_wait; })},
      {.key = "rest_s",
       .flag = "--rest",
       .meaning = "Seconds to wait before each trial, so that devices that throttle can cool down",
       .value = whole_number(&Experiment::rest_s, {0, 3600})},
      {.key = "trial_timeout_s",
       .flag = "--trial-timeout",
       .meaning = "Seconds after which a trial that is not ready is given up; a stage that hangs is, long before",
       .value = whole_number(&Experiment::trial_timeout_s, {1})},
  };
}

std::vector<Setting> make_settings() {
  std::vector<Setting> all;
  append(all, "What is measured", what_is_measured());
  append(all, "Where it is cut", where_it_is_cut());
  append(all, "How much is measured", how_much_is_measured());
  append(all, "Under which load", under_which_load());
  append(all, "How often it is measured", how_often_it_is_measured());
  append(all, "What lies between the stages", what_lies_between());
  append(all, "How stages compute", how_stages_compute());
  return all;
}

/// Refuses flags that mean nothing without others, or something else than others do.
void check_flags(const GivenFlags& given, const Experiment& experiment) {
  const auto has = [&](const char* key) { return given.contains(key); };
  if (!experiment.repeat.adaptive && (has("repeat.precision") || has("repeat.trials") || has("repeat.budget_s"))) {
    throw UsageError("--precision, --max-repeat and --budget say when --repeat auto ends; add it");
  }
  if (has("server.rates") && has("server.find_max_rate")) {
    throw UsageError("--rate measures at the rates that it names, and --find-max-rate searches one; give one of them");
  }
  const bool loaded = !loads_of(experiment.server).empty();
  const bool server_named = has("phases") && given.at("phases").front().find("server") != std::string::npos;
  if (has("phases") && !server_named && (has("server.rates") || has("server.find_max_rate"))) {
    throw UsageError("--rate and --find-max-rate are for --scenario server");
  }
  if (server_named && !loaded) {
    throw UsageError("--scenario server needs to know how fast images arrive: give --rate, or --find-max-rate");
  }
  if (has("server.queries") && !loaded) {
    throw UsageError("--queries counts the arrivals of --scenario server; give --rate or --find-max-rate, too");
  }
}

}  // namespace

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

nlohmann::json parse_number_axis(const std::string& text, const std::string& flag) {
  // The largest number that any axis allows. check() knows the axis's own limit.
  if (const auto values = parse_number_list(text, kMostImages)) return nlohmann::json(Axis(*values));
  throw UsageError(fmt::format("{} is \"{}\"; it must be a number up to {}, or a list of them such as 1,2,4", flag,
                               text, kMostImages));
}

const std::vector<Setting>& settings() {
  static const auto all = make_settings();
  return all;
}

std::string default_of(const Setting& setting) {
  if (!setting.unset.empty()) return setting.unset;
  const auto value = setting.value.write(Experiment{});
  const auto& first = value.is_array() ? value.front() : value;
  return first.is_string() ? first.get<std::string>() : value.dump();
}

void apply_flags(Experiment& experiment, const GivenFlags& given) {
  if (given.contains("splits") && given.contains("partitions")) {
    throw UsageError(
        "--split names the split points of two stages, and --partitions cuts in other ways; give one of them");
  }
  for (const auto& setting : settings()) {
    const auto found = given.find(setting.key);
    if (found == given.end()) continue;
    if (setting.apply) {
      setting.apply(experiment, found->second);
    } else {
      setting.value.read(experiment, setting.value.parse(found->second, setting.flag), setting.path());
    }
  }
  check_flags(given, experiment);
}

void check_ranges(const Experiment& experiment) {
  for (const auto& setting : settings()) setting.value.check(experiment, setting.path());
}

Trial common_trial(const Experiment& experiment) {
  Trial trial;
  for (const auto& setting : settings()) {
    if (setting.trial.decide) setting.trial.decide(experiment, trial);
  }
  return trial;
}

}  // namespace paretopipe::experiment
