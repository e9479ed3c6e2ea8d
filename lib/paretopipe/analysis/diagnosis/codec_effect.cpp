#include <paretopipe/analysis/diagnosis/codec_effect.hpp>
#include <paretopipe/experiment/codecs.hpp>

#include <algorithm>

namespace paretopipe::diagnosis {

namespace {

/// Smaller losses are within the scatter of measurements.
constexpr double kNotable = 0.02;

double payload(const Demands& demands) {
  double bytes = 0;
  for (const auto& link : demands.links) bytes += static_cast<double>(link.payload_bytes);
  return bytes;
}

bool encodes(const experiment::Trial& trial, int stage) {
  const auto cut = static_cast<std::size_t>(stage);
  return stage + 1 < trial.stage_count() && experiment::codec_of_cut(trial.codec, cut).encodes();
}

bool encoder_bounds(const ConfigurationDiagnosis& one, const ConfigurationDiagnosis& plain) {
  const auto& bottleneck = one.bounds.front();
  return bottleneck.kind == Kind::compute && encodes(one.trial(), bottleneck.stage) &&
         one.demands->throughput_image_per_s < (1 - kNotable) * plain.demands->throughput_image_per_s;
}

}  // namespace

double coding_ns(const record::Summary& summary) {
  double sum = 0;
  for (const auto& part : summary.breakdown) {
    if (part.part == record::Part::encode || part.part == record::Part::decode) sum += part.mean_ns;
  }
  return sum;
}

std::optional<double> break_even_bit_per_s(double saved_bytes, double added_ns) {
  if (saved_bytes <= 0 || added_ns <= 0) return std::nullopt;
  return 8 * saved_bytes / (added_ns * 1e-9);
}

std::optional<CodecEffect> codec_effect(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  if (one.trial().codec == codec::kNone || !one.demands) return std::nullopt;
  CodecEffect effect{.plain = group.measured({one.trial().split_points})};
  if (effect.plain == nullptr) return effect;
  const auto& plain = *effect.plain->demands;
  effect.saved_bytes = payload(plain) - payload(*one.demands);
  effect.added_ns = one.demands->idle.coding_ns - plain.idle.coding_ns;
  effect.break_even_bit_per_s = break_even_bit_per_s(effect.saved_bytes, effect.added_ns);
  effect.encoder_bounds = encoder_bounds(one, *effect.plain);
  return effect;
}

}  // namespace paretopipe::diagnosis
