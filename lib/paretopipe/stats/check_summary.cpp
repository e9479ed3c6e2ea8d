#include <paretopipe/core/error.hpp>
#include <paretopipe/core/stored_json.hpp>
#include <paretopipe/stats/check_summary.hpp>
#include <paretopipe/stats/summarise.hpp>

namespace paretopipe::stats {
namespace {

using nlohmann::json;

/// A longer warm-up than was asked for is no damage; fewer batches are.
void check_batches(const record::PhaseSamples& samples, const plan::Trial& trial, const char* phase) {
  if (samples.chunks != trial.chunks()) {
    throw UsageError(fmt::format("the record's \"{}\" has batches of {} chunks, and its trial asks for {}", phase,
                                 samples.chunks, trial.chunks()));
  }
  const auto asked = static_cast<std::size_t>(trial.warmup) + static_cast<std::size_t>(trial.batches);
  const auto batches = samples.results.completed.size() / static_cast<std::size_t>(samples.chunks);
  if (samples.warmup >= trial.warmup && batches >= asked) return;
  throw UsageError(
      fmt::format("the record's \"{}\" has {} batches, {} of them to warm up, and its trial asks for {} and {}", phase,
                  batches, samples.warmup, asked, trial.warmup));
}

}  // namespace

void check_summary(const record::TrialRecord& record) {
  if (!record.summary || !record.single_stream || !record.offline) return;
  check_batches(*record.single_stream, record.trial, "single_stream");
  check_batches(*record.offline, record.trial, "offline");
  const auto recorded = json(*record.summary).flatten();
  const auto derived =
      json(summarise(*record.single_stream, *record.offline, record.trial.batch, record.links)).flatten();
  for (const auto& [place, value] : derived.items()) {
    const auto found = recorded.find(place);
    if (found != recorded.end() && nearly_equal(*found, value)) continue;
    throw UsageError(fmt::format("the record's \"summary{}\" is {}, and its samples say {}: was it edited by hand?",
                                 place, found == recorded.end() ? "missing" : found->dump(), value.dump()));
  }
}

}  // namespace paretopipe::stats
