#include "stored_weights.hpp"

#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <set>

#include <ATen/ops/from_blob.h>
#include <fmt/ranges.h>

namespace paretopipe::zoo {

namespace {

using files::in_quotes;
using files::StoredTensor;

/// True for tensors that evaluation does not use: momentum's counters, the auxiliary classifier of torchvision's
/// Inception v3, and the numbers 0, 1, 2, … that transformers before 4.31 stores with RoBERTa.
bool is_needless(std::string_view name) {
  return name.ends_with(".num_batches_tracked") || name.starts_with("AuxLogits.") ||
         name == "roberta.embeddings.position_ids";
}

/// The type that a file must be convertible to, independent of the block's mode.
files::DType stored_type(at::ScalarType type) {
  return type == at::kLong ? files::DType::int64 : files::DType::float32;
}

/// float16 and bfloat16 convert to float32 without loss.
bool is_exact_in(files::DType wanted, files::DType stored) {
  using files::DType;
  return stored == wanted || (wanted == DType::float32 && (stored == DType::float16 || stored == DType::bfloat16));
}

std::string text_of(files::DType dtype, at::IntArrayRef shape) {
  return fmt::format("{} [{}]", to_string(dtype), fmt::join(shape, ", "));
}

/// Says why the file's tensor cannot be the block's; empty if it can.
std::string misfit(const NamedTensor& wanted, const StoredTensor& stored) {
  const auto dtype = stored_type(wanted.tensor.scalar_type());
  if (is_exact_in(dtype, stored.dtype) && at::IntArrayRef(stored.shape) == wanted.tensor.sizes()) return {};
  return fmt::format("{} is {}, not {}", in_quotes(wanted.name), text_of(stored.dtype, stored.shape),
                     text_of(dtype, wanted.tensor.sizes()));
}

/// Compares a model's tensors with a file's and collects what does not fit.
class Comparison {
 public:
  Comparison(const files::TensorMap& stored, std::int64_t num_classes) : stored_(stored), num_classes_(num_classes) {}

  void add(const NamedTensor& wanted) {
    wanted_.insert(wanted.name);
    const auto found = stored_.find(wanted.name);
    if (found == stored_.end()) {
      if (!is_needless(wanted.name)) missing_.push_back(in_quotes(wanted.name));
      return;
    }
    auto difference = misfit(wanted, found->second);
    if (difference.empty()) return;
    different_.push_back(std::move(difference));
    note_classes(wanted, found->second);
  }

  /// What does not fit; empty if everything fits.
  std::string findings() const {
    std::vector<std::string> extra;
    for (const auto& [name, tensor] : stored_) {
      if (!wanted_.contains(name) && !is_needless(name)) extra.push_back(in_quotes(name));
    }
    std::vector<std::string> findings;
    note(findings, "missing", missing_);
    note(findings, "extra", extra);
    note(findings, "of another shape or type", different_);
    if (!findings.empty() && classes_) {
      findings.push_back(
          fmt::format("its classifier has {} classes, not {}: add --classes {}", *classes_, num_classes_, *classes_));
    }
    return fmt::format("{}", fmt::join(findings, "; "));
  }

 private:
  static void note(std::vector<std::string>& findings, std::string_view what, std::vector<std::string> names) {
    constexpr std::size_t kShown = 5;
    if (names.empty()) return;
    const auto count = names.size();
    if (count > kShown) names.resize(kShown);
    findings.push_back(fmt::format("{} {} {} ({}{})", count, count == 1 ? "tensor is" : "tensors are", what,
                                   fmt::join(names, ", "), count > kShown ? ", ..." : ""));
  }

  /// Notes the file's number of classes. A classifier's tensors have one row per class.
  void note_classes(const NamedTensor& wanted, const StoredTensor& stored) {
    const auto shape = wanted.tensor.sizes();
    if (shape.empty() || stored.shape.size() != shape.size() || shape[0] != num_classes_) return;
    if (stored.shape[0] != num_classes_ && shape.slice(1) == at::IntArrayRef(stored.shape).slice(1))
      classes_ = stored.shape[0];
  }

  const files::TensorMap& stored_;
  std::int64_t num_classes_;
  std::set<std::string> wanted_;
  std::vector<std::string> missing_;
  std::vector<std::string> different_;
  std::optional<std::int64_t> classes_;  ///< of the file's classifier, if it differs from the model's
};

[[noreturn]] void refuse(const files::WeightsFile& file, std::string_view reason) {
  throw UsageError(fmt::format("read weights from {}: {}", file.path().string(), reason));
}

/// LibTorch's type for a file's type that can fit some tensor of a model.
at::ScalarType scalar_type(files::DType dtype) {
  switch (dtype) {
    case files::DType::int64:
      return at::kLong;
    case files::DType::float16:
      return at::kHalf;
    case files::DType::bfloat16:
      return at::kBFloat16;
    default:
      return at::kFloat;
  }
}

void copy(const NamedTensor& to, const files::WeightsFile& file) {
  const auto found = file.tensors().find(to.name);
  if (found == file.tensors().end()) {
    if (is_needless(to.name)) return;
    refuse(file, fmt::format("{} is missing", in_quotes(to.name)));
  }
  const auto& stored = found->second;
  if (const auto difference = misfit(to, stored); !difference.empty()) refuse(file, difference);
  try {
    verify(stored);
  } catch (const UsageError& error) {
    refuse(file, fmt::format("{} is {}", in_quotes(to.name), error.what()));
  }
  if (stored.bytes.empty()) return;
  // from_blob takes writable memory; the tensor on it is only read.
  auto* memory = const_cast<std::byte*>(stored.bytes.data());
  to.tensor.copy_(at::from_blob(memory, stored.shape, stored.strides, at::TensorOptions(scalar_type(stored.dtype))));
}

}  // namespace

void check_weights(const Model& model, std::int64_t num_classes, const files::WeightsFile& file) {
  Comparison comparison(file.tensors(), num_classes);
  for (const auto& plan : model.plan(num_classes)) {
    for (const auto& tensor : build_block(model.name, plan, std::nullopt).tensors) comparison.add(tensor);
  }
  const auto findings = comparison.findings();
  if (!findings.empty()) refuse(file, fmt::format("it does not fit {}: {}", model.name, findings));
}

Block build_block(std::string_view model, const BlockPlan& plan, const files::WeightsFile& file,
                  const experiment::ComputeMode& mode) {
  auto block = build_block(model, plan, std::nullopt, mode);
  for (const auto& tensor : block.tensors) copy(tensor, file);
  return block;
}

}  // namespace paretopipe::zoo
