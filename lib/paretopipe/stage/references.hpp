#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The reference outputs of every trial. One process computes them with the whole model and passes them to the source,
/// which then needs only its own blocks of the model.
namespace paretopipe::stage {

// Compares outputs of a model with the expected ones. All are float32, with one row for each image.

std::span<const float> as_floats(const Activation& activation);

/// The index of the largest number in a row, which must not be empty: the class that a classifier names.
std::size_t argmax(std::span<const float> row);

/// The magnitude of the largest number among all outputs.
double largest_magnitude(std::span<const Activation> outputs);

/// The findings on all results so far.
class Comparison {
 public:
  /// Compares bit for bit first. Throws Error(internal) if the two outputs differ in size.
  void add(const Activation& result, const Activation& expected);

  double max_abs_difference() const { return max_abs_difference_; }

  /// Over all numbers of all outputs, those that are equal included; 0 if there are none.
  double mean_abs_difference() const;

  /// The share of images whose class is the expected one; 0 if there are no images.
  double top1_agreement() const;

  std::int64_t images() const { return images_; }

 private:
  double max_abs_difference_ = 0;
  double sum_of_differences_ = 0;
  std::size_t values_ = 0;
  std::int64_t images_ = 0;
  std::int64_t agreeing_ = 0;
};

/// The source's inputs, as micro-batches of one batch after the other, and the unsplit model's output for each.
struct ReferenceSet {
  std::vector<Activation> inputs;
  std::vector<Activation> outputs;     ///< same length and order
  std::vector<std::int64_t> labels{};  ///< classes of the first images of the inputs; empty if unknown
};

/// The request for the inputs of whole batches; `model` is computed one micro-batch at a time. Throws
/// wire::ProtocolError for impossible numbers.
ModelRequest for_whole_batches(const ModelRequest& model, int distinct_inputs, int micro_batches);

/// The inputs of these batches, cut into micro-batches.
std::vector<Activation> make_micro_batches(const ModelRequest& whole, int distinct_inputs, int micro_batches,
                                           Backend& backend);

struct ComputedReferences {
  ReferencesFollow reply;
  std::vector<Activation> tensors;  ///< the outputs; then the inputs if they are wanted
};

/// Loads the whole model, which stays loaded, and computes the request's micro-batches. First compares an optimized
/// model, on a few images, with the same weights in eager float32. Throws UsageError if an output is not finite,
/// wire::ProtocolError for impossible numbers, and what the backend throws.
ComputedReferences compute_references(const ComputeReferences& request, Backend& backend);

/// The tensors that follow the request. Throws wire::ProtocolError for impossible numbers.
std::vector<wire::TensorSpec> tensors_of(const TakeReferences& request);

/// Copies of inputs that came over the control link, in memory of the backend like those that it makes. Frees each of
/// `received` once it is copied, because all of them may be a gibibyte.
std::vector<Activation> copy_inputs(std::span<Activation> received, Backend& backend);

/// Joins the outputs with the inputs that belong to them. `tensors` are the outputs, and behind them the inputs if the
/// request says so; otherwise the same inputs are made anew. Throws UsageError for labels that are not classes of the
/// model, and what the backend throws.
ReferenceSet take_references(const TakeReferences& request, std::vector<Activation> tensors, Backend& backend);

}  // namespace paretopipe::stage
