#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/experiment/devices.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/experiment/partition.hpp>
#include <paretopipe/experiment/scenario.hpp>
#include <paretopipe/experiment/settings.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

/// At this limit, a phase makes as many moments as the largest one whose batches are not cut.
constexpr std::int64_t kMaxMicroBatches = std::int64_t{2} * kMaxBatches;

/// Says why no batch can be cut into micro-batches of this size.
std::string misfit(int size, const Axis& batches) {
  const int batch = batches.first();
  if (batches.size() > 1)
    return fmt::format("{}, which divides none of the batches of {}", size, fmt::join(batches, ", "));
  return size >= 1 && size <= batch
             ? fmt::format("{}, which does not divide the batch of {}", size, batch)
             : fmt::format("{}; a batch of {} can be cut into micro-batches of 1 to {}", size, batch, batch);
}

void check_micro_batch_count(const Experiment& experiment, int batch, int size) {
  const int queries = loads_of(experiment.server).empty() ? 0 : experiment.server.queries;
  const auto batches = std::int64_t{experiment.warmup} + std::max(experiment.batches, queries);
  const auto micro_batches = batches * (batch / size);
  if (micro_batches <= kMaxMicroBatches) return;
  throw UsageError(
      fmt::format("experiment.micro_batches holds {}, which makes {} micro-batches of {} batches; at most {} can be "
                  "reported, so measure fewer batches or larger micro-batches",
                  size, micro_batches, batches, kMaxMicroBatches));
}

/// Requires `batch`, `batches`, `warmup` and `server` to be in range.
void check_micro_batches(const Experiment& experiment) {
  const auto& sizes = experiment.micro_batches;
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    const auto fits = [&](int batch) { return *size >= 1 && batch % *size == 0; };
    if (std::none_of(experiment.batch.begin(), experiment.batch.end(), fits)) {
      throw UsageError(fmt::format("experiment.micro_batches holds {}", misfit(*size, experiment.batch)));
    }
    if (std::find(sizes.begin(), size, *size) != size) {
      throw UsageError(fmt::format("experiment.micro_batches holds {} twice", *size));
    }
  }
  for (const int batch : experiment.batch) {
    const auto micro_batches = micro_batch_sizes(experiment, batch);
    if (micro_batches.empty()) {
      throw UsageError(fmt::format("experiment.batch holds {}, which can be cut into none of the micro-batches of {}",
                                   batch, fmt::join(sizes, ", ")));
    }
    for (const int size : micro_batches) check_micro_batch_count(experiment, batch, size);
  }
}

/// Names go into JSON, which is UTF-8: a trial's identity, its record, and the messages to the stages.
void check_text(const std::string& key, const std::string& text) {
  if (!is_utf8(text)) throw UsageError(fmt::format("experiment.{} is not valid UTF-8", key));
}

void check_models(const std::vector<std::string>& models) {
  if (models.empty()) throw UsageError("experiment.models is empty; name at least one model");
  for (auto model = models.begin(); model != models.end(); ++model) {
    check_text("models", *model);
    if (model->empty()) throw UsageError("experiment.models holds an empty name");
    if (std::find(models.begin(), model, *model) != model) {
      throw UsageError(fmt::format("experiment.models names \"{}\" twice", *model));
    }
  }
}

void check_archives(const Experiment& experiment) {
  const auto& models = experiment.models;
  check_text("cuts", experiment.cuts);
  check_archive_settings(models, experiment.input, experiment.cuts, experiment.max_crossing);
  if (experiment.num_classes != Experiment{}.num_classes && std::all_of(models.begin(), models.end(), names_archive)) {
    throw UsageError(fmt::format("experiment.num_classes is {}, but the head of {} is what it is; leave it out",
                                 experiment.num_classes, models.front()));
  }
}

void check_networks(const Experiment& experiment) {
  const auto& networks = experiment.networks;
  if (networks.empty()) throw UsageError("experiment.networks is empty; name at least one network profile");
  const auto shaping = parse_shaping(experiment.shaping);
  for (auto network = networks.begin(); network != networks.end(); ++network) {
    check_text("networks", *network);
    if (std::find(networks.begin(), network, *network) != network) {
      throw UsageError(fmt::format("experiment.networks names \"{}\" twice", *network));
    }
    if (load_network_profile(*network).shaped() && shaping == Shaping::none) {
      throw UsageError(
          fmt::format("experiment.shaping is \"none\", but the network profile {} asks for shaping", *network));
    }
  }
}

void check_splits(const SplitSelection& splits) {
  const auto& points = splits.points;
  if (splits.all) return;
  if (points.empty()) throw UsageError("experiment.splits is empty; name at least one split point, or \"all\"");
  if (points.front() < 0)
    throw UsageError(fmt::format("experiment.splits holds {}; it must be at least 0", points.front()));
}

void check_partitions(const Experiment& experiment) {
  const auto& partitions = experiment.partitions;
  if (!experiment.splits.all && (experiment.stages > 2 || !partitions.empty())) {
    throw UsageError(
        "experiment.splits are the split points of two stages; for more stages, or for a scheme, give partitions "
        "instead");
  }
  bool all = partitions.empty() && experiment.stages > 2;
  for (const auto& text : partitions) {
    check_text("partitions", text);
    const auto parsed =
        with_prefix("experiment.partitions: ", [&] { return parse_partition(text, experiment.stages); });
    if (std::holds_alternative<AllPartitions>(parsed)) all = true;
  }
  if (experiment.max_partitions > 0 && !all) {
    throw UsageError("experiment.max_partitions chooses among all partitions, but partitions does not hold \"all\"");
  }
}

void check_codecs(const Experiment& experiment) {
  const auto cuts = static_cast<std::size_t>(experiment.stages) - 1;
  for (const auto& codec : experiment.codecs) {
    const auto count = codec_count(codec);
    if (count == 1 || count == cuts) continue;
    throw UsageError(fmt::format("experiment.codec holds {}, which names {} codecs, and {} stages have {} cut{}", codec,
                                 count, experiment.stages, cuts, cuts == 1 ? "" : "s"));
  }
}

void check_codec_inputs(const Experiment& experiment) {
  const auto data = parse_data(experiment.data);
  if (data.of_images()) return;
  for (const auto& codec : experiment.codec_inputs) {
    if (!codec::parse(codec).of_images()) continue;
    throw UsageError(
        fmt::format("experiment.codec_input is {}, which encodes images, and the data are {}; use data "
                    "fashion-mnist, cifar10 or images:DIR",
                    codec, data.kind));
  }
}

void check_baselines(const std::vector<std::string>& baselines) {
  for (auto baseline = baselines.begin(); baseline != baselines.end(); ++baseline) {
    check_text("baselines", *baseline);
    with_prefix("experiment.baselines: ", [&] { parse_baseline(*baseline); });
    if (std::find(baselines.begin(), baseline, *baseline) != baseline) {
      throw UsageError(fmt::format("experiment.baselines names \"{}\" twice", *baseline));
    }
  }
}

/// Checks that the baseline data-parallel is possible. Each device needs two batches, because the first half is
/// warm-up.
void check_data_parallel(const Experiment& experiment) {
  const auto& baselines = experiment.baselines;
  if (std::find(baselines.begin(), baselines.end(), "data-parallel") == baselines.end()) return;
  if (experiment.task == Task::infer && experiment.batches < 2 * experiment.stages) {
    throw UsageError(fmt::format(
        "experiment.batches is {}, and the baseline data-parallel deals batches out to {} devices, of which each needs "
        "two; measure {} batches",
        experiment.batches, experiment.stages, 2 * experiment.stages));
  }
  if (experiment.task == Task::infer && !simplified(experiment.placement).empty()) {
    throw UsageError("the baseline data-parallel has a device for every stage; leave it or experiment.placement out");
  }
  if (!loads_of(experiment.server).empty()) {
    throw UsageError(
        "the baseline data-parallel has no Server phase; leave it out, or use the scenarios offline and single-stream");
  }
}

/// Refuses settings that need a phase that is left out.
void check_phases(const Experiment& experiment) {
  const auto phases = experiment.phases;
  if (phases == Phases::both) return;
  const auto& baselines = experiment.baselines;
  if (std::find(baselines.begin(), baselines.end(), "sequential") != baselines.end()) {
    throw UsageError(
        fmt::format("the baseline sequential compares the two phases, and experiment.phases is \"{}\"; leave one of "
                    "them out",
                    to_string(phases)));
  }
  if (has_offline(phases)) return;
  if (!experiment.server.find_max_rate.empty()) {
    throw UsageError(
        "the search for the highest rate begins at half the throughput that the phase offline measures, and "
        "experiment.phases is \"single-stream\"; measure offline, too, or name rates");
  }
  if (experiment.depth.size() > 1 && experiment.server.rates.empty()) {
    throw UsageError(
        "experiment.depth is a list, and experiment.phases is \"single-stream\", which has one batch in flight at any "
        "depth; name one depth, or measure offline, too");
  }
}

/// What training of replicas cannot be combined with, and why.
std::string obstacle_to_replicas(const Experiment& experiment) {
  const int devices = device_count(experiment.placement, experiment.stages);
  if (devices < 2) {
    return fmt::format(
        "the baseline data-parallel has a replica on each device, and the placement {} puts all stages on one; leave "
        "the baseline out",
        to_string(experiment.placement));
  }
  for (int device = 0; device < devices; ++device) {
    if (device_of(experiment.placement, device) == device) continue;
    return fmt::format(
        "the baseline data-parallel has a replica on the device of each of the first {} stages, which the placement {} "
        "puts on fewer; number the devices in the order of the stages, or leave the baseline out",
        devices, to_string(experiment.placement));
  }
  for (const int batch : experiment.batch) {
    for (const int size : micro_batch_sizes(experiment, batch)) {
      if (batch / size % devices == 0) continue;
      return fmt::format(
          "the baseline data-parallel shares the micro-batches of a step among {} devices, which {} of {} cannot be; "
          "choose --micro-batch so that their number is a multiple of {}",
          devices, batch / size, size, devices);
    }
  }
  if (experiment.encryption != Encryption::none) {
    return "the baseline data-parallel adds up gradients over connections of Gloo, which it does not encrypt; leave "
           "--link tls or the baseline out";
  }
  return "";
}

/// What training cannot be combined with, and why.
std::string obstacle_to_training(const Experiment& experiment) {
  const auto& compute = experiment.compute;
  if (experiment.phases != Phases::both || !loads_of(experiment.server).empty()) {
    return "a trial that trains has steps in place of scenarios; leave --scenario out";
  }
  if (compute.compute == Compute::optimized) return "optimized graphs have no backward; leave --compute out";
  if (compute.dtype != Precision::float32 || compute.memory_format != MemoryFormat::contiguous) {
    return "it is measured in float32 and contiguous only; leave --dtype and --memory-format out";
  }
  const auto& on = experiment.compute_devices;
  if (std::any_of(on.begin(), on.end(), [](const auto& device) { return device != kCpu; })) {
    return "stages train on the CPU only yet; leave --device out";
  }
  for (const auto& baseline : experiment.baselines) {
    if (baseline == "sequential") return "the baseline sequential is of inference; leave it out";
    if (baseline != "data-parallel") continue;
    if (auto reason = obstacle_to_replicas(experiment); !reason.empty()) return reason;
  }
  if (experiment.max_flips) return "nothing compares classes while a model learns; leave --max-flips out";
  if (experiment.depth.size() > 1) return "a schedule decides how much is in flight; leave --depth out";
  const auto& optimizer = experiment.training.optimizer;
  if (optimizer.momentum > 0 && optimizer.kind != OptimizerKind::sgd) {
    return fmt::format("{} has no momentum to choose; leave --momentum out", to_string(optimizer.kind));
  }
  return "";
}

void check_training(const Experiment& experiment) {
  if (experiment.task == Task::infer) {
    if (experiment.phases == Phases::training) {
      throw UsageError("experiment.phases is \"training\"; a model is trained with experiment.task \"train\"");
    }
    if (experiment.training == TrainingSettings{}) return;
    throw UsageError(
        "schedule, optimizer, lr, lr_schedule, lr_warmup, momentum, weight_decay, recompute and loss_sum say how a "
        "model is trained; add --task train");
  }
  if (const auto reason = obstacle_to_training(experiment); !reason.empty()) {
    throw UsageError(fmt::format("experiment.task is \"train\", and {}", reason));
  }
}

void check_data(const Experiment& experiment) {
  check_text("data", experiment.data);
  check_text("labels", experiment.labels);
  with_prefix("experiment.data is ", [&] { check_data_choice(experiment.data, experiment.labels); });
}

void check_weights(const Experiment& experiment) {
  if (experiment.weights.empty()) return;
  check_text("weights", experiment.weights);
  if (experiment.models.size() == 1) return;
  throw UsageError(
      fmt::format("experiment.weights is \"{}\", and a file holds the weights of one model; name one model, not {}",
                  experiment.weights, experiment.models.size()));
}

/// On a device that is named, no list means all of its CPUs.
void check_cpus(const std::vector<std::string>& cpus, int stages, const std::vector<std::string>& on) {
  if (!cpus.empty() && cpus.size() != static_cast<std::size_t>(stages)) {
    throw UsageError(fmt::format(
        "experiment.cpus holds {} list(s); it must hold one for each of the {} stages, or none", cpus.size(), stages));
  }
  for (std::size_t stage = 0; stage < cpus.size(); ++stage) {
    if (!on.empty() && cpus[stage].empty()) continue;
    with_prefix(fmt::format("experiment.cpus[{}]: ", stage), [&] { host::parse_cpu_list(cpus[stage]); });
  }
}

}  // namespace

void check_ranges(const Experiment& experiment) {
  for (const auto& setting : settings()) setting.value.check(experiment, setting.path());
}

void validate(const Experiment& experiment) {
  check_models(experiment.models);
  check_archives(experiment);
  check_splits(experiment.splits);
  check_ranges(experiment);
  for (const int batch : experiment.batch) validate(experiment.server, experiment.warmup, batch);
  check_micro_batches(experiment);
  check_partitions(experiment);
  check_codecs(experiment);
  check_codec_inputs(experiment);
  check_baselines(experiment.baselines);
  check_data_parallel(experiment);
  check_phases(experiment);
  check_training(experiment);
  check_data(experiment);
  check_weights(experiment);
  check_cpus(experiment.cpus, experiment.stages, experiment.on);
  check_networks(experiment);
  check_devices(experiment);
}

}  // namespace paretopipe::experiment
