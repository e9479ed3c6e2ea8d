#pragma once
#include <paretopipe/analysis/diagnosis/diagnosis.hpp>

#include <optional>

namespace paretopipe::diagnosis {

/// Mean time of encode and decode of a batch, over all stages, with one batch in flight.
double coding_ns(const record::Summary& summary);

/// Over links of a lower rate it takes longer to send `saved_bytes` than the codec takes: 8 · saved bytes / added time.
/// Absent if no bytes are saved, or if that takes no time.
std::optional<double> break_even_bit_per_s(double saved_bytes, double added_ns);

/// What a codec does to a cut, beside the same cut without one. Per batch, with one batch in flight.
struct CodecEffect {
  const ConfigurationDiagnosis* plain = nullptr;  ///< the same cut without a codec
  double saved_bytes = 0;                         ///< fewer bytes on all links; negative if there are more
  double added_ns = 0;                            ///< encode and decode beyond those without a codec

  std::optional<double> break_even_bit_per_s{};  ///< diagnosis::break_even_bit_per_s

  /// The throughput fell, and what bounds it is the compute of a stage that encodes: it had no time to spare.
  bool encoder_bounds = false;
};

/// Nothing for a configuration without a codec or without a result; without `plain` if that was not measured.
std::optional<CodecEffect> codec_effect(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
