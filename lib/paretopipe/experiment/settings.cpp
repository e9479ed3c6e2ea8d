#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/setting_values.hpp>

#include <utility>

namespace paretopipe::experiment {
namespace {

constexpr auto kOptimizer = through(&Experiment::training, &TrainingSettings::optimizer, &Optimizer::kind);
constexpr auto kLearningRate = through(&Experiment::training, &TrainingSettings::optimizer, &Optimizer::learning_rate);
constexpr auto kMomentum = through(&Experiment::training, &TrainingSettings::optimizer, &Optimizer::momentum);
constexpr auto kWeightDecay = through(&Experiment::training, &TrainingSettings::optimizer, &Optimizer::weight_decay);
constexpr auto kRateSchedule = through(&Experiment::training, &TrainingSettings::optimizer, &Optimizer::schedule);
constexpr auto kRateWarmup = through(&Experiment::training, &TrainingSettings::optimizer, &Optimizer::warmup);

// A row holds what there is to know of a setting: its key, its flag, its meaning, its values, and where a trial has it.
// The default is that of its member of Experiment.

std::vector<Setting> what_is_measured() {
  return {
      {.key = "models",
       .flag = "--model",
       .meaning = "Model, or TorchScript archive: a path that contains a slash or ends in `.pt`, `.pth` or "
                  "`.torchscript`. `paretopipe models` lists the models, and configs/README.md explains `synthetic:`",
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
       .alias = "--init",
       .meaning = "File with the weights of the only model: `.safetensors`, or `.pth` as torch.save writes it",
       .unset = "made from the seed",
       .value = text(&Experiment::weights, "a file")},
      {.key = "data",
       .flag = "--data",
       .meaning = "Input: `fashion-mnist[:DIR]`, `fashion-mnist-train[:DIR]`, `cifar10[:DIR]`, `random`, `images:DIR`, "
                  "`tensor:FILE` or `tokens:FILE`",
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
                  "blocks is all local, and `all` is every k with both",
       .value = selection_of_splits(),
       .apply = apply_splits},
      {.key = "stages",
       .flag = "--stages",
       .meaning = "Stages that the model is cut into, each a process",
       .value = whole_number(&Experiment::stages, {2, kMostStages})},
      {.key = "partitions",
       .flag = "--partitions",
       .meaning = "How to cut the model into the stages: all, best (what could be on the frontier by predictions), "
                  "split points such as `4,9,14`, or a scheme (equal-load, front-load, front-heavy, middle-load, "
                  "end-load, end-heavy, equal-time)",
       .unset = "the splits of two stages, all partitions of more",
       .value = texts(&Experiment::partitions, "`\"all\"`, `\"best\"`, split points, schemes"),
       .apply = apply_partitions},
      {.key = "max_partitions",
       .flag = "--max-partitions",
       .meaning = "How many of all partitions to choose by chance, beside the endpoints",
       .unset = "every one, if there are at most 1000",
       .value = whole_number(&Experiment::max_partitions, {0, 10'000})},
      {.key = "baselines",
       .flag = "--baseline",
       .meaning = "What to measure beside the partitions: single (the whole model on one device), sequential (one "
                  "batch in flight, which every trial measures) or data-parallel (the whole model on as many devices "
                  "as there are stages)",
       .unset = "none",
       .value = texts(&Experiment::baselines, "`\"single\"`, `\"sequential\"`, `\"data-parallel\"`")},
  };
}

std::vector<Setting> what_crosses_a_cut() {
  return {
      {.key = "codec",
       .flag = "--codec",
       .meaning = "Codec of the activations that cross a cut, or a list such as none,channel8,sort8+zstd, each of "
                  "which is measured; `none/sort8` names one for each of several cuts. `paretopipe codecs` lists them",
       .value = codecs(),
       .trial = codec_of_trial()},
      {.key = "codec_input",
       .flag = "--codec-input",
       .meaning = "Codec of the model's input where that crosses a cut (split 0), in place of `--codec`, or a list: "
                  "`uint8` is the image as a camera has it, and `jpeg:75` its JPEG of that quality",
       .unset = "as `codec`",
       .value = input_codecs()},
      {.key = "max_flips",
       .flag = "--max-flips",
       .meaning = "Share of images whose top-1 class a lossy codec may change, such as 1%; a trial with more fails",
       .unset = "any, and recorded",
       .value = max_flips(),
       .trial = always(&Experiment::max_flips, &Trial::max_flips, "max_flips")},
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
       .meaning = "Images per micro-batch that a batch is cut into, or a list such as 1,2,4; a batch is cut by the "
                  "sizes that divide it",
       .unset = "not cut",
       .value = micro_batches()},
      {.key = "depth",
       .flag = "--depth",
       .meaning = "Batches in flight while throughput is measured, or a list",
       .value = number_axis(&Experiment::depth, 256),
       .trial = one_of(&Experiment::depth, &Trial::depth, "depth")},
      {.key = "batches",
       .flag = "--batches",
       .alias = "--steps",
       .meaning = "Measured batches of each phase; of training, steps",
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
       .meaning = "What a trial measures: single-stream (latency, one batch in flight), offline (throughput, `depth` "
                  "in flight) or both. The flag takes a list, and server for arrivals by chance, too",
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
       .meaning = "Search the highest rate that keeps a bound on latency, such as `p99 < 100ms`, instead of rates. It "
                  "begins at half the throughput",
       .unset = "no search",
       .value = text(through(&Experiment::server, &ServerSettings::find_max_rate),
                     "`mean`, `p50`, `p90`, `p95`, `p99` or `max`, below a duration"),
       .apply = apply_search},
      {.key = "server.queries",
       .flag = "--queries",
       .meaning = "Measured arrivals at every rate, of a batch each",
       .value = whole_number(through(&Experiment::server, &ServerSettings::queries), {2, kMaxBatches})},
  };
}

std::vector<Setting> how_it_is_trained() {
  return {
      {.key = "task",
       .flag = "--task",
       .meaning = "What the stages do with the model: infer, or train it, where a trial is steps of an optimizer",
       .value = word(&Experiment::task, parse_task, "`\"infer\"`, `\"train\"`")},
      {.key = "schedule",
       .flag = "--schedule",
       .meaning = "Order in which stages train on micro-batches, or a list of gpipe, 1f1b and pipedream, each of which "
                  "is measured",
       .value = schedules()},
      {.key = "optimizer",
       .flag = "--optimizer",
       .meaning = "How gradients change the weights",
       .value = word(kOptimizer, parse_optimizer, "`\"sgd\"`, `\"adam\"`, `\"adamw\"`")},
      {.key = "lr", .flag = "--lr", .meaning = "Learning rate", .value = real_number(kLearningRate, 1000)},
      {.key = "lr_schedule",
       .flag = "--lr-schedule",
       .meaning = "How the learning rate falls over all steps: not at all, as half a cosine, or in a straight line",
       .value = word(kRateSchedule, parse_rate_schedule, "`\"constant\"`, `\"cosine\"`, `\"linear\"`")},
      {.key = "lr_warmup",
       .flag = "--lr-warmup",
       .meaning = "Updates in which the learning rate first grows to its value: their number, or below 1 a share of "
                  "all (the flag takes 10%, too)",
       .value = share_or_number(kRateWarmup, 1e9)},
      {.key = "momentum", .flag = "--momentum", .meaning = "Momentum of sgd", .value = real_number(kMomentum, 1)},
      {.key = "weight_decay",
       .flag = "--weight-decay",
       .meaning = "Weight decay",
       .value = real_number(kWeightDecay, 1)},
      {.key = "recompute",
       .flag = "--recompute",
       .meaning = "Keep only a stage's inputs, and compute forward again for the backward: less memory, more time",
       .value = switched(through(&Experiment::training, &TrainingSettings::recompute), FlagKind::on)},
      {.key = "loss_sum",
       .flag = "--loss-sum",
       .meaning = "The loss of a batch is the sum of its micro-batches' losses, as some pipelines have it, rather than "
                  "their mean",
       .value = switched(through(&Experiment::training, &TrainingSettings::loss_sum), FlagKind::on)},
  };
}

std::vector<Setting> how_often_it_is_measured() {
  return {
      {.key = "repeat",
       .flag = "--repeat",
       .meaning = "Trials of every split, or auto: as many as it takes. An interval needs two or more",
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
       .value = texts(&Experiment::networks, "names or files, each once")},
      {.key = "link",
       .flag = "--link",
       .meaning = "What the links between stages are: plain TCP, whose ends have proved who they are, or tls, which "
                  "also encrypts, and costs time",
       .value = word(&Experiment::encryption, parse_encryption, "`\"plain\"`, `\"tls\"`"),
       .trial = unless_default(&Experiment::encryption, &Trial::encryption, "link")},
      {.key = "shaping",
       .flag = "--shaping",
       .meaning = "netem (the kernel: network namespaces, or the interfaces of two devices), emulated (a relay in "
                  "userspace), none, or auto: netem where that works, and otherwise emulated",
       .value = text(&Experiment::shaping, "`\"auto\"`, `\"netem\"`, `\"emulated\"`, `\"none\"`")},
  };
}

std::vector<Setting> how_stages_compute() {
  return {
      {.key = "compute",
       .flag = "--compute",
       .meaning = "eager: operator by operator; optimized: each stage's own graph with fused and blocked kernels; "
                  "auto: optimized, but eager for synthetic models",
       .value = word(through(&Experiment::compute, &ComputeChoice::compute), parse_compute_choice,
                     "`\"auto\"`, `\"eager\"`, `\"optimized\"`")},
      {.key = "dtype",
       .flag = "--dtype",
       .meaning = "Type of weights and of the activations that cross the links",
       .value = word(through(&Experiment::compute, &ComputeChoice::dtype), parse_precision,
                     "`\"float32\"`, `\"bfloat16\"`")},
      {.key = "memory_format",
       .flag = "--memory-format",
       .meaning = "Order of weights and activations with four dimensions: NCHW or NHWC",
       .value = word(through(&Experiment::compute, &ComputeChoice::memory_format), parse_memory_format,
                     "`\"contiguous\"`, `\"channels_last\"`")},
      {.key = "threads_per_stage",
       .flag = "--threads-per-stage",
       .meaning = "Compute threads of each stage, or a list",
       .value = number_axis(&Experiment::threads_per_stage, 1024),
       .trial = one_of(&Experiment::threads_per_stage, &Trial::threads_per_stage, "threads_per_stage")},
  };
}

std::vector<Setting> where_stages_run() {
  return {
      {.key = "compute_devices",
       .flag = "--device",
       .meaning = "What a stage computes on: cpu, or a GPU as `cuda:0`; once for all stages, or once a stage",
       .unset = "cpu",
       .value = texts(&Experiment::compute_devices, "`[\"cuda:0\"]`, or one per stage")},
      {.key = "cpus",
       .flag = "--cpus",
       .meaning = "CPU list of a stage, such as 0-3; once a stage",
       .unset = "the CPUs are dealt out",
       .value = texts(&Experiment::cpus, "one list per stage: `[\"0-3\", \"4-7\"]`"),
       .trial = always(&Experiment::cpus, &Trial::cpus, "cpus")},
      {.key = "on",
       .flag = "--on",
       .meaning = "Device that a stage runs on: a name of the devices file, `local`, or `ssh:USER@HOST`; once a stage",
       .unset = "all on this machine",
       .value = texts(&Experiment::on, "one name per stage: `[\"pi\", \"server\"]`"),
       .trial = unless_default(&Experiment::on, &Trial::on, "on")},
      {.key = "devices",
       .flag = "--devices",
       .meaning = "File that says how each device is reached",
       .unset = "devices.json in the user's configuration folder",
       .value = text(&Experiment::devices_file, "a file")},
      {.key = "placement",
       .flag = "--placement",
       .meaning = "Device of each stage, such as 0,1,0: stages that share a device. Device 0 is the source's",
       .unset = "each on one of its own",
       .value = placement()},
      {.key = "device_profiles",
       .flag = "--device-profile",
       .meaning = "What a device may use of this machine: pi, server, a file, or none; once a device",
       .unset = "everything",
       .value = texts(&Experiment::device_profiles, "names or files: `[\"pi\", \"server\"]`")},
  };
}

std::vector<Setting> how_a_stage_is_run() {
  return {
      {.key = "tuning", .meaning = "What a stage does to compute fast, as a deployment would", .value = object()},
      {.key = "tuning.flush_denormals",
       .flag = "--no-flush-denormals",
       .meaning = "Count numbers too small for a normal float as zero; some networks compute many times slower without",
       .value = switched(through(&Experiment::tuning, &ComputeTuning::flush_denormals), FlagKind::off)},
      {.key = "tuning.tune_malloc",
       .flag = "--no-malloc-tuning",
       .meaning =
           "Keep freed memory in the process, rather than fault it in again for every batch, and have it in huge pages",
       .value = switched(through(&Experiment::tuning, &ComputeTuning::tune_malloc), FlagKind::off)},
      {.key = "tuning.passive_openmp_wait",
       .flag = "--active-openmp-wait",
       .meaning = "Idle OpenMP threads sleep, rather than spin on a core that the other stage may need",
       .value = switched(through(&Experiment::tuning, &ComputeTuning::passive_openmp_wait), FlagKind::off)},
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
  const auto append = [&](const char* heading, std::vector<Setting> group) {
    for (auto& setting : group) {
      setting.heading = heading;
      all.push_back(std::move(setting));
    }
  };
  append("What is measured", what_is_measured());
  append("Where it is cut", where_it_is_cut());
  append("Where it is cut", what_crosses_a_cut());
  append("How much is measured", how_much_is_measured());
  append("Under which load", under_which_load());
  append("How it is trained", how_it_is_trained());
  append("How often it is measured", how_often_it_is_measured());
  append("What lies between the stages", what_lies_between());
  append("How stages compute", how_stages_compute());
  append("How stages compute", where_stages_run());
  append("How stages are run", how_a_stage_is_run());
  return all;
}

}  // namespace

const std::vector<Setting>& settings() {
  static const auto all = make_settings();
  return all;
}

}  // namespace paretopipe::experiment
