#include "model_router.hpp"

#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/stage/training_part.hpp>

namespace paretopipe {
namespace {

class ModelRouter final : public stage::Backend {
 public:
  ModelRouter(std::unique_ptr<stage::Backend> networks, std::unique_ptr<stage::Backend> archives,
              std::unique_ptr<stage::Backend> synthetic)
      : networks_(std::move(networks)),
        archives_(std::move(archives)),
        synthetic_(std::move(synthetic)),
        loaded_(networks_.get()) {}

  std::vector<std::string> models() const override {
    auto names = networks_->models();
    for (const auto* others : {archives_.get(), synthetic_.get()}) {
      for (auto& name : others->models()) names.push_back(std::move(name));
    }
    return names;
  }

  nlohmann::json configure(const stage::ComputeOptions& options) override {
    synthetic_->configure(options);
    return networks_->configure(options);  // LibTorch's options apply to the whole process, archives included
  }

  std::string gpu_bus_address() const override { return networks_->gpu_bus_address(); }

  experiment::ModelDescription describe(const stage::ModelRequest& request) override {
    return choose(request).describe(request);
  }

  std::int64_t held_parameter_bytes() const override {
    return networks_->held_parameter_bytes() + archives_->held_parameter_bytes();
  }

  std::optional<host::StageMemory> memory_of(experiment::BlockRange range) const override {
    return loaded_->memory_of(range);
  }

  void keep_only(experiment::BlockRange range) override { loaded_->keep_only(range); }

  void load(const stage::ModelRequest& request, experiment::BlockRange range) override {
    use(choose(request));
    loaded_->load(request, range);
  }

  std::unique_ptr<stage::TrainingPart> make_training_part(const stage::ModelRequest& request,
                                                          experiment::BlockRange range,
                                                          const experiment::Training& training) override {
    use(choose(request));  // which allocates what the part receives
    return loaded_->make_training_part(request, range, training);
  }

  /// The whole budget goes to the loaded backend.
  void keep_prepared(std::int64_t bytes) override {
    kept_bytes_ = bytes;
    loaded_->keep_prepared(bytes);
  }

  std::optional<Preparation> prepare(experiment::BlockRange range, const stage::Boundary& incoming) override {
    return loaded_->prepare(range, incoming);
  }

  std::vector<stage::Activation> make_inputs(const stage::ModelRequest& request, int count) override {
    return choose(request).make_inputs(request, count);
  }

  std::vector<std::int64_t> make_labels(const stage::ModelRequest& request, int count) override {
    return choose(request).make_labels(request, count);
  }

  stage::Activation allocate(const wire::TensorSpec& spec) override { return loaded_->allocate(spec); }

  stage::Activation forward(experiment::BlockRange range, stage::Activation input) override {
    return loaded_->forward(range, std::move(input));
  }

  stage::Activation encode(stage::Activation output) override { return loaded_->encode(std::move(output)); }
  stage::Activation decode(stage::Activation received) override { return loaded_->decode(std::move(received)); }

 private:
  void use(stage::Backend& chosen) {
    if (&chosen == loaded_) return;
    loaded_->keep_prepared(0);
    loaded_->keep_only({});
    chosen.keep_prepared(kept_bytes_);
    loaded_ = &chosen;
  }

  stage::Backend& choose(const stage::ModelRequest& request) {
    if (request.archive) return *archives_;
    return experiment::is_synthetic(request.model) ? *synthetic_ : *networks_;
  }

  std::unique_ptr<stage::Backend> networks_;
  std::unique_ptr<stage::Backend> archives_;
  std::unique_ptr<stage::Backend> synthetic_;
  stage::Backend* loaded_;
  std::int64_t kept_bytes_ = 0;
};

}  // namespace

std::unique_ptr<stage::Backend> make_model_router(std::unique_ptr<stage::Backend> networks,
                                                  std::unique_ptr<stage::Backend> archives,
                                                  std::unique_ptr<stage::Backend> synthetic) {
  return std::make_unique<ModelRouter>(std::move(networks), std::move(archives), std::move(synthetic));
}

}  // namespace paretopipe
