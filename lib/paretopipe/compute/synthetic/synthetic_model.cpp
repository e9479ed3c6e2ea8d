#include <paretopipe/compute/synthetic/synthetic_model.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>

namespace paretopipe::synthetic {

namespace {

constexpr std::string_view kUsage =
    "synthetic:DURATION/BYTES,...,DURATION, one item a block and the last one without bytes (for example "
    "synthetic:5ms/2MB,3ms), and for training FORWARD+BACKWARD in place of a duration";

constexpr std::int64_t kFloatBytes = 4;
/// Anything longer is a typing mistake. The largest value of 64 bits would overflow a deadline.
constexpr Nanoseconds kMaxDuration = std::chrono::hours(1);
/// One tensor dimension of the wire protocol holds at most 2^32 - 1 elements.
constexpr std::int64_t kMaxOutputBytes = std::int64_t{4} << 30;

/// How much longer a backward usually takes: it computes two gradients where a forward computes one product.
constexpr int kBackwardPerForward = 2;

SyntheticBlock parse_block(std::string_view item, bool last) {
  const auto slash = item.find('/');
  const auto times = item.substr(0, slash);
  const auto plus = times.find('+');
  SyntheticBlock block;
  block.duration = parse_duration(times.substr(0, plus));
  block.backward =
      plus == std::string_view::npos ? kBackwardPerForward * block.duration : parse_duration(times.substr(plus + 1));
  if (block.duration > kMaxDuration || block.backward > kBackwardPerForward * kMaxDuration) {
    throw UsageError(fmt::format("\"{}\": a block takes at most an hour", item));
  }
  if (last != (slash == std::string_view::npos)) {
    throw UsageError(fmt::format(
        "\"{}\" {}; write {}", item,
        last ? "is the last block and emits the logits, so it takes no bytes" : "lacks its output bytes", kUsage));
  }
  if (!last) {
    block.output_bytes = parse_bytes(item.substr(slash + 1));
    if (block.output_bytes <= 0 || block.output_bytes % kFloatBytes != 0 || block.output_bytes > kMaxOutputBytes) {
      throw UsageError(fmt::format("\"{}\": output bytes must be a positive multiple of {} and at most {}", item,
                                   kFloatBytes, format_bytes(static_cast<double>(kMaxOutputBytes))));
    }
  }
  return block;
}

}  // namespace

SyntheticModel parse(const std::string& spec) {
  SyntheticModel model{spec, {}};
  std::string_view rest(spec);
  if (!experiment::is_synthetic(spec) || rest.size() == experiment::kSyntheticPrefix.size()) {
    throw UsageError(fmt::format("\"{}\" is not a synthetic model; write {}", spec, kUsage));
  }
  rest.remove_prefix(experiment::kSyntheticPrefix.size());
  const auto blocks = split(rest);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    model.blocks.push_back(parse_block(blocks[i], i + 1 == blocks.size()));
  return model;
}

experiment::ModelDescription describe(const SyntheticModel& model, int batch, int num_classes) {
  experiment::ModelDescription description;
  description.model = model.spec;
  description.batch = batch;
  description.input_shape = {batch, 3, 32, 32};
  description.input_bytes = std::int64_t{batch} * 3 * 32 * 32 * kFloatBytes;
  for (std::size_t i = 0; i < model.blocks.size(); ++i) {
    const auto bytes = model.blocks[i].output_bytes;
    experiment::BlockDescription block;
    block.name = fmt::format("block.{}", i);
    block.output_shape =
        bytes > 0 ? std::vector<std::int64_t>{bytes / kFloatBytes} : std::vector<std::int64_t>{batch, num_classes};
    block.activation_bytes = bytes > 0 ? bytes : std::int64_t{batch} * num_classes * kFloatBytes;
    description.blocks.push_back(std::move(block));
  }
  return description;
}

}  // namespace paretopipe::synthetic
