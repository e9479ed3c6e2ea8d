#include "ring.hpp"

#include <paretopipe/compute/synthetic/synthetic_backend.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include "../../fakes/faulty_backend.hpp"

namespace paretopipe::testing {

stage::ModelRequest a_model() {
  return {kModel, 10, kBatch, 7, "random"};
}

std::unique_ptr<stage::Backend> make_backend(const std::string& fault) {
  auto backend = fakes::make_faulty_backend(synthetic::make_synthetic_backend(), fault);
  backend->load(a_model(), {0, kBlocks});
  return backend;
}

stage::ReferenceSet make_references(int count) {
  const auto backend = make_backend();
  stage::ReferenceSet references{backend->make_inputs(a_model(), count), {}, {}};
  for (const auto& input : references.inputs) references.outputs.push_back(backend->forward({0, kBlocks}, input));
  return references;
}

std::vector<stage::Run> make_runs(const RingSetup& setup) {
  const auto references = make_references(1);
  const auto model = make_backend()->describe(a_model());
  std::vector<stage::Run> runs(setup.splits.size() + 1);
  int begin = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto& run = runs[i];
    const int end = i < setup.splits.size() ? setup.splits[i] : kBlocks;
    run.tag = 42;
    run.stage_count = static_cast<int>(runs.size());
    run.blocks = {begin, end};
    run.incoming = {{wire::DType::float32, wire::MemoryFormat::contiguous, model.shape_at(begin)}};
    if (i == 0) run.incoming = {references.outputs.front().spec};
    if (i > 0) run.incoming_codec = codec::parse(setup.codec);
    if (i + 1 < runs.size()) run.outgoing_codec = codec::parse(setup.codec);
    run.warmup = setup.warmup;
    run.batches = setup.batches;
    run.depth = setup.depth;
    run.micro_batches = setup.micro_batches;
    run.phases = setup.phases;
    run.server = !setup.arrivals.empty();
    if (i == 0) run.arrivals = setup.arrivals;
    begin = end;
  }
  return runs;
}

std::pair<wire::Link, wire::Link> TcpLoopback::connect() {
  wire::Listener listener("127.0.0.1", {});
  auto ends =
      wire::join_ring(listener, {{}, "127.0.0.1", listener.port(), {}}, Clock::now() + std::chrono::seconds(120));
  return {std::move(ends.next), std::move(ends.previous)};
}

std::pair<wire::Link, wire::Link> Socketpair::connect() {
  return wire::make_link_pair();
}

Ring::Ring(const RingSetup& setup, Connect connect) : runs_(make_runs(setup)), references_(make_references(3)) {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    backends_.push_back(make_backend(i < setup.faults.size() ? setup.faults[i] : ""));
    links_.push_back(connect());
  }
}

std::vector<std::future<stage::RunOutcome>> Ring::start() {
  std::vector<std::future<stage::RunOutcome>> outcomes;
  const auto count = runs_.size();
  for (std::size_t i = 0; i < count; ++i) {
    stage::Neighbours neighbours;
    if (count > 1) neighbours = {&links_[(i + count - 1) % count].second, &links_[i].first};
    outcomes.push_back(std::async(std::launch::async, [this, i, neighbours] {
      return stage::run_pipeline(runs_[i], *backends_[i], neighbours, i == 0 ? &references_ : nullptr);
    }));
  }
  return outcomes;
}

std::vector<stage::RunReport> Ring::run() {
  std::vector<stage::RunReport> reports;
  for (auto& outcome : start()) reports.push_back(outcome.get().report);
  return reports;
}

}  // namespace paretopipe::testing
