#include "torch_backend.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <malloc.h>

#include "device.hpp"
#include "engine.hpp"
#include "inputs.hpp"
#include "runtime.hpp"
#include "tensors.hpp"
#include "with_libtorch.hpp"

namespace paretopipe::compute {

std::string reason_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const c10::Error*>(&error);
  std::string_view text = ours != nullptr ? ours->what_without_backtrace() : error.what();
  // In the interpreter's message, the operator's message follows the lines of code that led to it.
  constexpr std::string_view kLast = "RuntimeError: ";
  if (const auto last = text.rfind(kLast); last != text.npos) text.remove_prefix(last + kLast.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.remove_suffix(1);
  return text.empty() ? "LibTorch gives no reason" : std::string(text);
}

namespace {

class TorchBackend final : public stage::Backend {
 public:
  explicit TorchBackend(std::unique_ptr<const BlockSource> source) : source_(std::move(source)) {}

  std::vector<std::string> models() const override { return source_->models(); }

  nlohmann::json configure(const stage::ComputeOptions& options) override {
    return with_libtorch("configure LibTorch", [&] { return configure_runtime(options); });
  }

  std::string gpu_bus_address() const override { return bus_address(device()); }

  experiment::ModelDescription describe(const stage::ModelRequest& request) override {
    return with_libtorch("describe " + request.model, [&] {
      check_data(source_->sample_of(request), request);
      return source_->describe(request);
    });
  }

  std::int64_t held_parameter_bytes() const override { return engine_.held_bytes(); }

  std::optional<host::StageMemory> memory_of(experiment::BlockRange range) const override {
    if (!device().is_cpu()) return std::nullopt;
    return engine_.memory_of(range);
  }

  void keep_only(experiment::BlockRange range) override {
    engine_.keep_only(range);
    // malloc is tuned to keep freed memory and would otherwise hold it for good.
    malloc_trim(0);
  }

  void load(const stage::ModelRequest& request, experiment::BlockRange range) override {
    with_libtorch("load " + request.model, [&] {
      source_->sample_of(request);  // refuses what the source does not understand, before anything is dropped
      engine_.use(source_->identity(request));
      if (range.empty() || engine_.holds(range)) return;
      engine_.take(source_->open(request), range);
    });
  }

  std::unique_ptr<stage::TrainingPart> make_training_part(const stage::ModelRequest& request,
                                                          experiment::BlockRange range,
                                                          const experiment::Training& training) override {
    return source_->make_training_part(request, range, training);
  }

  void keep_prepared(std::int64_t bytes) override { engine_.keep_at_most(bytes); }

  std::optional<Preparation> prepare(experiment::BlockRange range, const stage::Boundary& incoming) override {
    return with_libtorch("optimise " + engine_.model(), [&] { return engine_.prepare(range, incoming); });
  }

  std::vector<stage::Activation> make_inputs(const stage::ModelRequest& request, int count) override {
    return with_libtorch("make inputs for " + request.model, [&] {
      std::vector<stage::Activation> inputs;
      for (auto& batch : make_input_batches(source_->sample_of(request), request, count)) {
        inputs.push_back(to_activation(std::move(batch)));
      }
      return inputs;
    });
  }

  std::vector<std::int64_t> make_labels(const stage::ModelRequest& request, int count) override {
    return with_libtorch("read labels for " + request.model,
                         [&] { return compute::make_labels(source_->sample_of(request), request, count); });
  }

  stage::Activation allocate(const wire::TensorSpec& spec) override {
    return with_libtorch(
        "allocate " + wire::to_string(spec), [&] { return allocate_activation(spec); }, ExitCode::environment);
  }

  /// The first block of every model leaves its input unchanged, so batches from `make_inputs` can be reused.
  stage::Activation forward(experiment::BlockRange range, stage::Activation input) override {
    if (range.empty()) return input;
    return with_libtorch("compute " + engine_.model(), [&] { return engine_.forward(range, std::move(input)); });
  }

  /// `forward` returns dense activations, so nothing has to be done on the CPU.
  stage::Activation encode(stage::Activation output) override {
    return with_libtorch("copy from the GPU", [&] { return to_host(std::move(output)); });
  }
  stage::Activation decode(stage::Activation received) override {
    return with_libtorch("copy to the GPU", [&] { return to_device(std::move(received), device()); });
  }

 private:
  std::unique_ptr<const BlockSource> source_;
  Engine engine_{*source_};
};

}  // namespace

std::unique_ptr<stage::Backend> make_torch_backend(std::unique_ptr<const BlockSource> source) {
  return std::make_unique<TorchBackend>(std::move(source));
}

}  // namespace paretopipe::compute
