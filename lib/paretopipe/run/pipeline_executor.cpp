#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/run/pipeline_executor.hpp>
#include <paretopipe/run/server_phase.hpp>
#include <paretopipe/run/trial_requests.hpp>
#include <paretopipe/stage/crossing.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::run {

Nanoseconds pause_before_start(int failed_starts) {
  constexpr Nanoseconds kFirst = std::chrono::seconds(1);
  constexpr Nanoseconds kLongest = std::chrono::seconds(60);
  if (failed_starts == 0) return Nanoseconds(0);
  return std::min(kLongest, kFirst * (1 << std::min(failed_starts - 1, 10)));
}

namespace {

/// Environment variables for a stage. Huge pages save 7 to 12 % of a batch's time, because weights and activations are
/// larger than the processor can translate at once. Tunables set by the user are kept.
std::vector<std::pair<std::string, std::string>> stage_environment(const experiment::ComputeTuning& tuning) {
  std::vector<std::pair<std::string, std::string>> result{
      {"OMP_WAIT_POLICY", tuning.passive_openmp_wait ? "passive" : "active"}};
  const bool tune_malloc = tuning.tune_malloc && std::getenv("GLIBC_TUNABLES") == nullptr;
  if (tune_malloc) result.emplace_back("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  return result;
}

/// True if links between devices have a profile.
bool shaped_between_devices(const experiment::UncutTrial& trial) {
  return !trial.on.empty() && trial.shaping != experiment::Shaping::none;
}

PipelineOptions pipeline_options(const ExecutorOptions& options, const experiment::UncutTrial& trial) {
  PipelineOptions result;
  result.command.program = options.stage_program;
  result.command.environment = stage_environment(trial.tuning);
  result.cpus = trial.cpus;
  for (int stage = 0; stage < static_cast<int>(trial.cpus.size()); ++stage) {
    result.compute.push_back({trial.threads_of(stage), trial.tuning.flush_denormals, trial.tuning.tune_malloc,
                              experiment::compute_device_of(trial.compute_devices, stage)});
  }
  result.placement = trial.placement;
  result.devices = trial.devices;
  result.tls = trial.encryption == experiment::Encryption::tls;
  if (!trial.on.empty()) result.shaping = trial.shaping;
  for (const auto& name : trial.on) result.on.push_back(options.devices.at(name));
  if (!trial.on.empty()) result.program_sha256 = options.provenance.stage_program_sha256;
  result.timeout_s = options.timeout_s;
  result.interrupt_descriptor = options.interrupt_descriptor;
  result.watching = options.watching;
  return result;
}

/// The options for the first `count` stages alone.
PipelineOptions first_stages(PipelineOptions options, std::size_t count) {
  options.cpus.resize(count);
  options.compute.resize(count);
  options.on.resize(count);
  if (!options.placement.empty()) options.placement.resize(count);
  return options;
}

/// The smallest range that contains both. An empty range adds nothing.
experiment::BlockRange cover(experiment::BlockRange left, experiment::BlockRange right) {
  if (left.empty()) return right;
  if (right.empty()) return left;
  return {std::min(left.begin, right.begin), std::max(left.end, right.end)};
}

bool contains(experiment::BlockRange outer, experiment::BlockRange inner) {
  return cover(outer, inner) == outer;
}

/// A stage whose device has little memory holds only what the trial needs, as if the split were deployed.
bool has_little_memory(const experiment::UncutTrial& trial, std::size_t stage) {
  return trial.device_profile(static_cast<int>(stage)).memory_limit_bytes.has_value();
}

}  // namespace

std::string denormals_notice(const std::vector<stage::ComputeOptions>& wanted,
                             const std::vector<stage::Configured>& applied) {
  std::vector<std::size_t> stages;
  for (std::size_t i = 0; i < applied.size(); ++i) {
    if (wanted.at(i).flush_denormals && !applied[i].compute.value("flush_denormals", true)) stages.push_back(i);
  }
  if (stages.empty()) return "";
  return fmt::format(
      "stage{} {} cannot compute denormal numbers as zero, because LibTorch was built without it there; where a "
      "model's numbers become so small, these stages are many times slower. --no-flush-denormals makes all stages "
      "alike",
      stages.size() == 1 ? "" : "s", fmt::join(stages, ", "));
}

PipelineExecutor::PipelineExecutor(ExecutorOptions options)
    : options_(std::move(options)), unsplit_(options_.timeout_s, options_.interrupt_descriptor, options_.watching) {}

record::Provenance PipelineExecutor::provenance_now() const {
  auto provenance = options_.provenance;
  provenance.started_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return provenance;
}

stage::ModelRequest PipelineExecutor::request_of(const experiment::UncutTrial& trial) const {
  const auto weights = trial.weights_sha256.empty() ? std::string() : options_.weights;
  const auto model = trial.archive ? options_.archives.at(trial.archive->sha256).string() : trial.model;
  const auto& identity = trial.data_identity;
  return {.model = model,
          .num_classes = trial.num_classes,
          .batch = trial.images_per_micro_batch(),
          .seed = trial.seed,
          .data = identity.sha256.empty() ? trial.data : options_.data.request,
          .weights = weights,
          .archive = trial.archive,
          .compute = trial.compute,
          .labels = identity.labels.empty() ? std::string() : options_.data.labels};
}

UnsplitSetup PipelineExecutor::setup_of(const experiment::UncutTrial& trial) const {
  const auto stages = pipeline_options(options_, trial);
  const UnsplitSetup setup{stages.command, stages.compute.front()};
  return elsewhere(trial, 0) ? apart_from_stages(setup) : setup;
}

UnsplitQuestion PipelineExecutor::question_of(const experiment::Trial& trial) const {
  return {setup_of(trial), request_of(trial), trial.micro_batches(), trial.warmup + trial.batches, elsewhere(trial, 0)};
}

experiment::ModelDescription PipelineExecutor::describe(const experiment::UncutTrial& trial) {
  ensure_pipeline(trial, true);
  unsplit_.start(setup_of(trial));
  return unsplit_.describe(request_of(trial));
}

std::optional<std::string> PipelineExecutor::obstacle_to_leases(
    const experiment::UncutTrial& trial, const std::vector<experiment::NetworkProfile>& profiles) {
  ensure_pipeline(trial, false);
  for (const auto& profile : profiles) {
    if (auto obstacle = between_devices_->obstacle_to(profile)) return obstacle;
  }
  return std::nullopt;
}

/// The boundary of a trial: after an error the rest of the pipeline is ended, and the next trial gets a new one.
std::optional<record::Failure> PipelineExecutor::attempt(
    const std::function<std::optional<record::Failure>(const char*& phase)>& steps) {
  const char* phase = "launch";
  try {
    auto failure = steps(phase);
    if (std::string_view(phase) == "run" && !ran_before()) that_ran_.push_back(*pipeline_options_);
    return failure;
  } catch (const StageError& error) {
    pipeline_.reset();
    unsplit_.end();
    // What a live stage refuses before the run (no such data set, no such CPU) it would refuse in the next trial too,
    // except for links: what is in the way of those that were made or shaped before may pass.
    const std::string_view where = phase;
    const bool may_pass =
        where == "run" || (where == "network" && shaped_before_) || (where == "launch" && ran_before());
    if (error.kind() == StageError::Kind::refused && !may_pass) throw Error(error.code(), error.what());
    return record::Failure{phase, error.stage(), error.what()};
  }
}

bool PipelineExecutor::ran_before() const {
  return std::ranges::any_of(that_ran_, [this](const auto& one) { return one.same_processes(*pipeline_options_); });
}

record::TrialRecord PipelineExecutor::run(const experiment::Trial& trial) {
  if (trial.training) return run_training(trial);
  TrialEvidence evidence;
  evidence.provenance = provenance_now();
  evidence.failure = attempt([&](const char*& phase) -> std::optional<record::Failure> {
    ensure_pipeline(trial, unsplit_.known(question_of(trial)) == nullptr, participants(trial));
    if (trial.data_parallel > 0 && pipeline_->join_star()) applied_.forget();
    phase = "load";
    ensure_unsplit(trial);
    if (auto too_small = EmulatedDevices::too_small_for(trial, answer_->description)) return too_small;
    ensure_loaded(trial);
    ensure_source(trial);
    phase = "network";
    ensure_network(trial);
    phase = "run";
    measure(trial, evidence);
    return std::nullopt;
  });
  return finish_record(trial, std::move(evidence));
}

/// Rests first, for as long as the person asked for.
void PipelineExecutor::ensure_network(const experiment::Trial& trial) {
  launch::poll_interruptibly({}, Clock::now() + std::chrono::seconds(options_.rest_s), options_.interrupt_descriptor,
                             "rest before a trial");
  applied_.ensure(*network_, trial.network, options_.interrupt_descriptor);
  shaped_before_ = shaped_before_ || trial.network.shaped();
}

void PipelineExecutor::describe_stages(std::size_t count, TrialEvidence& evidence) const {
  for (std::size_t i = 0; i < count; ++i) {
    evidence.configured.push_back(pipeline_->configured()[i]);
    evidence.devices.push_back(devices_->describe(static_cast<int>(i)));
  }
}

void PipelineExecutor::make_room() {
  if (!devices_ || !devices_->limited()) return;
  unsplit_.end();  // it is in the driver's cgroup, which ends with the devices'
  pipeline_.reset();
  devices_.reset();
}

BatchResult PipelineExecutor::last_result(const experiment::Trial& trial) {
  const auto& result = answer_->ends.result;
  return {stage::whole_batch(result, trial.micro_batches()),
          pipeline_->fetch_result(next_tag_ - 1, result, trial.micro_batches())};
}

void PipelineExecutor::ensure_pipeline(const experiment::UncutTrial& trial, bool asks_unsplit,
                                       std::optional<int> needed) {
  const auto wanted = pipeline_options(options_, trial);
  std::optional<PipelineOptions> least;
  if (needed && !trial.on.empty() && !shaped_between_devices(trial)) {
    least = first_stages(wanted, static_cast<std::size_t>(*needed));
  }
  const bool same_network = networked_ && networked_->shaping == trial.shaping &&
                            networked_->cpus.size() == trial.cpus.size() && networked_->placement == trial.placement &&
                            networked_->on == trial.on;
  const bool may_serve = pipeline_ && pipeline_->intact() && same_network;
  if (may_serve && pipeline_options_->same_processes(wanted)) return;
  if (may_serve && least && Clock::now() < next_start_ && pipeline_options_->same_processes(*least)) return;
  pipeline_.reset();
  loaded_request_.reset();
  source_question_.reset();
  if (!same_network || shaped_between_devices(trial)) make_network(trial);
  unsplit_.end();    // it runs in the driver's cgroup, and the devices' may have to be siblings of that
  devices_.reset();  // the next ones have the same cgroup names
  devices_.emplace(trial);
  if (asks_unsplit) unsplit_.start(setup_of(trial));  // while the stages start
  start_pipeline(wanted, least);
}

void PipelineExecutor::make_network(const experiment::UncutTrial& trial) {
  applied_.forget();
  networked_.reset();
  between_devices_ = nullptr;
  if (shaped_between_devices(trial)) {
    const bool relayed = trial.shaping == experiment::Shaping::emulated;
    auto network =
        relayed ? make_relayed_network(trial.placement, trial.on) : make_leased_network(trial.placement, trial.on);
    between_devices_ = network.get();
    network_ = std::move(network);
  } else {
    network_ = shaping::make_network(trial.shaping, static_cast<int>(trial.cpus.size()), trial.placement);
  }
  networked_ = trial;
}

void PipelineExecutor::start_pipeline(const PipelineOptions& wanted, const std::optional<PipelineOptions>& least) {
  if (least && Clock::now() < next_start_) return start(*least);
  launch::poll_interruptibly({}, next_start_, options_.interrupt_descriptor, "wait before stages are started again");
  try {
    start(wanted);
    failed_starts_ = 0;
    next_start_ = {};
  } catch (const StageError& error) {
    next_start_ = Clock::now() + pause_before_start(++failed_starts_);
    const bool refused = error.kind() == StageError::Kind::refused;
    const bool of_links = refused && ran_before();  // which a single stage has none of
    const bool is_needed = !least || error.stage().value_or(0) < static_cast<int>(least->cpus.size());
    const bool goes_without = of_links ? least && least->cpus.size() == 1 : !is_needed && !refused;
    if (!goes_without) throw;
    notice(fmt::format("this trial goes on, because it does not need what cannot be started: {}", error.what()));
    start(*least);
  }
}

void PipelineExecutor::start(const PipelineOptions& options) {
  pipeline_options_ = options;
  pipeline_.emplace(options, *network_, *devices_);
  if (between_devices_ != nullptr) between_devices_->use(*pipeline_);
  notice_denormals();
  for (const auto& text : other_build_notices(options.on, pipeline_->configured())) {
    if (other_builds_noticed_.insert(text).second) notice(text);
  }
}

void PipelineExecutor::notice_denormals() {
  const auto text = denormals_notice(pipeline_options_->compute, pipeline_->configured());
  if (text.empty() || denormals_noticed_) return;
  notice(text);
  denormals_noticed_ = true;
}

void PipelineExecutor::notice(const std::string& sentence) const {
  if (options_.watching.notice) options_.watching.notice(sentence);
}

/// Computes the models of all expected trials at once, so that the process is not needed again between two of them.
void PipelineExecutor::ensure_unsplit(const experiment::Trial& trial) {
  const auto question = question_of(trial);
  answer_ = unsplit_.known(question);
  if (answer_ == nullptr) {
    answer_ = &unsplit_.answer(question);
    expect_others([this](const experiment::Trial& other) { unsplit_.answer(question_of(other)); });
  }
  unsplit_.end();
}

/// If another trial's model ends the process, it is computed anew when that trial's turn comes.
void PipelineExecutor::expect_others(const std::function<void(const experiment::Trial&)>& compute) {
  try {
    for (const auto& other : expected_) compute(other);
  } catch (const StageError& error) {
    if (error.kind() == StageError::Kind::refused) throw;
  }
}

std::vector<experiment::BlockRange> PipelineExecutor::blocks_needed(const experiment::Trial& trial) const {
  const auto own = trial.stage_blocks();
  auto needed = own;
  for (const auto& other : expected_) {
    if (request_of(other) != request_of(trial) || other.stage_count() != trial.stage_count()) continue;
    const auto blocks = other.stage_blocks();
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!has_little_memory(trial, i)) needed[i] = cover(needed[i], blocks[i]);
    }
  }
  return needed;
}

bool PipelineExecutor::holds_blocks_of(const experiment::Trial& trial) const {
  const auto own = trial.stage_blocks();
  if (loaded_request_ != answer_->model || loaded_blocks_.size() != own.size()) return false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (has_little_memory(trial, i) ? loaded_blocks_[i] != own[i] : !contains(loaded_blocks_[i], own[i])) return false;
  }
  return true;
}

void PipelineExecutor::ensure_loaded(const experiment::Trial& trial) {
  devices_->expect(trial, answer_->description);
  if (holds_blocks_of(trial)) return;
  loaded_request_.reset();
  loaded_blocks_ = blocks_needed(trial);
  std::vector<stage::Load> requests;
  // Stages that could not be started take no part in this trial.
  const auto count = static_cast<std::size_t>(std::min(pipeline_->stage_count(), trial.stage_count()));
  for (std::size_t i = 0; i < count; ++i) {
    // A stage without blocks needs no file.
    const auto request = loaded_blocks_[i].empty() ? answer_->model : with_files_of(i, trial, answer_->model);
    requests.push_back({request, loaded_blocks_[i], has_little_memory(trial, i)});
  }
  pipeline_->load(requests);
  loaded_request_ = answer_->model;
}

void PipelineExecutor::ensure_source(const experiment::Trial& trial) {
  auto question = question_of(trial);
  if (source_question_ == question) return;
  source_question_.reset();
  pipeline_->take_references({answer_->model, answer_->distinct_inputs, trial.micro_batches(), answer_->ends,
                              question.with_inputs, answer_->labels},
                             answer_->outputs, answer_->inputs);
  source_question_ = std::move(question);
}

void PipelineExecutor::measure(const experiment::Trial& trial, TrialEvidence& evidence) {
  const auto requests = make_run_requests(trial, answer_->description, answer_->ends, next_tag_++);
  if (trial.compute.compute == experiment::Compute::optimized || !trial.compute_devices.empty()) {
    evidence.prepared = pipeline_->prepare(make_prepare_requests(requests, answer_->ends));
  }
  network_->begin_trial();
  auto network = applied_.evidence();
  evidence.reports = pipeline_->run(requests);
  describe_stages(evidence.reports.size(), evidence);
  evidence.model = answer_->description;
  evidence.unsplit = answer_->process;
  evidence.unsplit_against_eager = answer_->against_eager;
  const auto run_again = [this](std::vector<stage::Run> runs) {
    for (auto& run : runs) run.tag = next_tag_;
    ++next_tag_;
    return pipeline_->run(runs);
  };
  run_server_phases(trial, requests, run_again, evidence);
  if (trial.shaping == experiment::Shaping::none) return;
  network_->end_trial(network);
  evidence.network = std::move(network);
}

}  // namespace paretopipe::run
