#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/dealer.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/wire/link.hpp>

#include <optional>
#include <utility>

namespace paretopipe::stage {

namespace {

/// The loops of the source and their shared state. The source computes for device 0; for each other device, one thread
/// sends inputs and one receives results.
class DealerRun {
 public:
  DealerRun(const Run& run, Backend& backend, const std::vector<Neighbours>& neighbours, const ReferenceSet& references,
            RunProgress& progress)
      : run_(run),
        backend_(backend),
        neighbours_(neighbours),
        progress_(progress),
        deal_(run.deal()),
        source_(run, references),
        loops_([this] { release(); }) {
    for (const auto member : kStageMoments) (timeline_.*member).resize(run.total_micro_batches());
    const TensorWatch watch;
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      result_micro_batches_.push_back(
          parts_of(backend.allocate(whole_batch(run.incoming.at(0), run.micro_batches)), run.micro_batches));
    }
    needs_.buffers = watch.now();
  }

  void execute() {
    for (std::size_t device = 1; device < deal_.devices; ++device) {
      loops_.start([this, device] { send(device); });
      loops_.start([this, device] { receive(device); });
    }
    loops_.finish_with([this] { compute(); });
  }

  void fill(RunOutcome& outcome) {
    outcome.report.memory = needs_.with(backend_.memory_of(run_.blocks));
    stage::fill(outcome, run_, std::move(timeline_), &source_);
  }

 private:
  const Neighbours& links_of(std::size_t device) const { return neighbours_.at(device - 1); }

  /// The number of micro-batches that a device gets in all phases.
  std::size_t micro_batches_for(std::size_t device) const {
    return static_cast<std::size_t>(run_.phase_count()) * deal_.share_of(device) * run_.micro_batches_of_batch();
  }

  /// The index of the device's own micro-batch `own` among all micro-batches.
  std::size_t sequence_of(std::size_t device, std::size_t own) const {
    const auto micro_batches = run_.micro_batches_of_batch();
    return deal_.batch_of(device, own / micro_batches) * micro_batches + own % micro_batches;
  }

  void compute() {
    auto& lane = progress_.compute();
    source_.start();
    for (std::size_t own = 0; own < micro_batches_for(0); ++own) {
      auto job = source_.jobs(0).pop();
      if (!job) return;
      lane.now(Doing::working);
      const auto sequence = job->sequence;
      const TensorWatch watch;
      timeline_.compute_begin[sequence] = now_ns();
      auto output = backend_.forward(run_.blocks, std::move(job->activation));
      timeline_.compute_end[sequence] = now_ns();
      output = backend_.encode(std::move(output));
      const auto moment = now_ns();
      needs_.computed(watch);
      timeline_.encoded[sequence] = timeline_.codec_begin[sequence] = moment;
      timeline_.send_begin[sequence] = timeline_.send_end[sequence] = moment;
      progress_.worked(moment - timeline_.compute_begin[sequence]);
      source_.complete(sequence, moment, moment, output);
      lane.next(Doing::waiting);
    }
  }

  /// Each device numbers its micro-batches without gaps, as any stage does.
  void send(std::size_t device) {
    auto& lane = progress_.send(device - 1);
    for (std::size_t own = 0; own < micro_batches_for(device); ++own) {
      const auto job = source_.jobs(device).pop();
      if (!job) return;
      lane.now(Doing::sending);
      const auto& input = job->activation;
      const auto times = links_of(device).next->send_tensor(run_.tag, own, input.spec, input.bytes);
      const auto sequence = job->sequence;
      const auto handed_over = source_.issued()[sequence];
      timeline_.compute_begin[sequence] = timeline_.compute_end[sequence] = timeline_.encoded[sequence] = handed_over;
      timeline_.codec_begin[sequence] = timeline_.send_begin[sequence] = times.begin_ns;
      timeline_.send_end[sequence] = times.end_ns;
      lane.next(Doing::waiting);
    }
  }

  void receive(std::size_t device) {
    const auto& results = result_micro_batches_.at(device - 1);
    auto& lane = progress_.receive(device - 1);
    for (std::size_t own = 0; own < micro_batches_for(device); ++own) {
      const auto& result = results[own % results.size()];
      const auto times = links_of(device).previous->receive_tensor(run_.tag, own, result.spec, result.bytes);
      lane.now(Doing::working);
      source_.complete(sequence_of(device, own), times.begin_ns, times.end_ns, result);
      lane.next(Doing::waiting);
    }
    lane.now(Doing::held_up);  // by the other devices; a thread that waits says that a result is still to come
  }

  /// Closing the queues and links releases all waiting threads.
  void release() {
    source_.close();
    for (const auto& links : neighbours_) {
      links.previous->shutdown();
      links.next->shutdown();
    }
  }

  const Run run_;
  Backend& backend_;
  const std::vector<Neighbours> neighbours_;
  RunProgress& progress_;
  const Deal deal_;
  StageTimeline timeline_;
  TensorNeeds needs_;
  Source source_;
  std::vector<std::vector<Activation>> result_micro_batches_;  // by device: the parts of one batch's result
  Loops loops_;
};

}  // namespace

RunOutcome run_dealer(const Run& run, Backend& backend, const std::vector<Neighbours>& neighbours,
                      const ReferenceSet& references, Progress* progress) {
  const ShownRun shown(progress, run, neighbours);
  std::optional<DealerRun> dealer;
  auto outcome = observe(backend, [&] {
    dealer.emplace(run, backend, neighbours, references, shown.progress());
    dealer->execute();
  });
  dealer->fill(outcome);
  return outcome;
}

}  // namespace paretopipe::stage
