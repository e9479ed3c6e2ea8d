#include <paretopipe/core/error.hpp>
#include <paretopipe/core/stored_json.hpp>
#include <paretopipe/stats/check_summary.hpp>
#include <paretopipe/stats/server_summary.hpp>
#include <paretopipe/stats/summarise.hpp>

#include <algorithm>

namespace paretopipe::stats {
namespace {

using nlohmann::json;

/// A warm-up that is longer than requested is no damage; fewer batches are.
void check_batches(const record::PhaseSamples& samples, const plan::Trial& trial, const char* phase) {
  if (samples.micro_batches != trial.micro_batches()) {
    throw UsageError(fmt::format("the record's \"{}\" has batches of {} micro-batches, and its trial asks for {}",
                                 phase, samples.micro_batches, trial.micro_batches()));
  }
  if (samples.devices != std::max(1, trial.data_parallel)) {
    throw UsageError(fmt::format("the record's \"{}\" was dealt out to {} devices, and its trial asks for {}", phase,
                                 samples.devices, std::max(1, trial.data_parallel)));
  }
  const auto asked = static_cast<std::size_t>(trial.warmup) + static_cast<std::size_t>(trial.batches);
  const auto batches = samples.results.completed.size() / static_cast<std::size_t>(samples.micro_batches);
  if (samples.warmup >= trial.warmup && batches >= asked) return;
  throw UsageError(
      fmt::format("the record's \"{}\" has {} batches, {} of them to warm up, and its trial asks for {} and {}", phase,
                  batches, samples.warmup, asked, trial.warmup));
}

/// Compares `recorded` with `derived`, which is computed anew from the samples.
void check_derived(const json& recorded, const json& derived, std::string_view what) {
  const auto flat = recorded.flatten();
  const auto expected = derived.flatten();
  for (const auto& [place, value] : expected.items()) {
    const auto found = flat.find(place);
    if (found != flat.end() && nearly_equal(*found, value)) continue;
    throw UsageError(fmt::format("the record's \"{}{}\" is {}, and its samples say {}: was it edited by hand?", what,
                                 place, found == flat.end() ? "missing" : found->dump(), value.dump()));
  }
}

void check_server(const record::ServerRecord& server, const plan::Trial& trial) {
  if (!trial.server) throw UsageError("the record has a Server phase, and its trial asks for none");
  const auto asked = static_cast<std::size_t>(trial.warmup) + static_cast<std::size_t>(trial.server->queries);
  for (const auto& run : server.runs) {
    if (run.warmup < trial.warmup || run.moments.scheduled.size() < asked) {
      throw UsageError(fmt::format("the record's \"server\" has a run of {} queries, and its trial asks for {}",
                                   run.moments.scheduled.size(), asked));
    }
    check_derived(run.summary, summarise_server(run.moments, run.warmup, trial.batch), "server/runs/summary");
  }
  if (trial.server->bound) {
    if (!server.runs.empty() && server.max_rate == max_rate_of(server.runs, *trial.server->bound)) return;
    throw UsageError("the record's \"server/max_rate\" is not what its runs say: was it edited by hand?");
  }
  if (server.runs.size() != 1 || server.runs.front().rate_image_per_s != trial.server->rate_image_per_s ||
      server.max_rate) {
    throw UsageError("the record's \"server\" must have one run, at the rate of its trial");
  }
}

}  // namespace

void check_summary(const record::TrialRecord& record) {
  if (!record.summary || (!record.single_stream && !record.offline)) return;
  if (record.single_stream) check_batches(*record.single_stream, record.trial, "single_stream");
  if (record.offline) check_batches(*record.offline, record.trial, "offline");
  check_derived(*record.summary, summarise(record.single_stream, record.offline, record.trial.batch, record.links),
                "summary");
  if (record.server) check_server(*record.server, record.trial);
}

}  // namespace paretopipe::stats
