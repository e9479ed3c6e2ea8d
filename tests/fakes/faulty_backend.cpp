#include "faulty_backend.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>

#include <unistd.h>

#include "seen_files.hpp"

namespace paretopipe::fakes {
namespace {

/// "synthetic:2ms/4kB,3ms" with blocks of 2200us and 3300us.
std::string a_tenth_longer(const std::string& model) {
  static const std::regex milliseconds("([0-9]+)ms");
  std::string result;
  auto rest = model.cbegin();
  for (std::sregex_iterator found(model.begin(), model.end(), milliseconds), end; found != end; ++found) {
    result.append(rest, (*found)[0].first);
    result += std::to_string(1100 * std::stoi((*found)[1])) + "us";
    rest = (*found)[0].second;
  }
  return result.append(rest, model.cend());
}

class FaultyBackend final : public stage::Backend {
 public:
  FaultyBackend(std::unique_ptr<stage::Backend> inner, const std::string& fault) : inner_(std::move(inner)) {
    slower_ = fault == "slower";
    denormals_ = fault == "denormals";
    reference_kernels_ = fault == "reference kernels";
    small_machine_ = fault == "small machine";
    if (fault.empty() || slower_ || denormals_ || reference_kernels_ || small_machine_) return;
    std::smatch match;
    if (!std::regex_match(fault, match, std::regex("([a-z]+)@([0-9]+)-([0-9]+)@([0-9]+)(?:@(.+))?"))) {
      throw UsageError("unreadable fault: " + fault);
    }
    action_ = match[1];
    range_ = {std::stoi(match[2]), std::stoi(match[3])};
    call_ = std::stoi(match[4]);
    marker_ = match[5].str();
  }

  std::vector<std::string> models() const override { return inner_->models(); }
  nlohmann::json configure(const stage::ComputeOptions& options) override {
    if (small_machine_ && (options.device != "cpu" || options.threads > std::ssize(host::current_affinity()))) {
      throw EnvironmentError("cannot compute on " + options.device + " with this many threads");
    }
    auto applied = inner_->configure(options);
    if (denormals_) applied["flush_denormals"] = false;
    if (reference_kernels_) applied["convolution_kernels"] = {"gemm:ref", "ref:any"};
    return applied;
  }
  experiment::ModelDescription describe(const stage::ModelRequest& request) override {
    auto inner = inner_request(request);
    read_data(inner);
    auto description = inner_->describe(inner);
    description.model = request.model;
    return description;
  }
  std::int64_t held_parameter_bytes() const override { return inner_->held_parameter_bytes(); }
  std::optional<host::StageMemory> memory_of(experiment::BlockRange range) const override {
    return inner_->memory_of(range);
  }
  void keep_only(experiment::BlockRange range) override { inner_->keep_only(range); }
  void load(const stage::ModelRequest& request, experiment::BlockRange range) override {
    if (request.archive && range.empty()) return;  // a model of blocks that are not needed is not read
    auto inner = inner_request(request);
    if (hidden_folder() != nullptr) inner.data = "random";  // and neither are data
    inner_->load(inner, range);
  }
  std::optional<Preparation> prepare(experiment::BlockRange range, const stage::Boundary& incoming) override {
    return inner_->prepare(range, incoming);
  }
  std::vector<stage::Activation> make_inputs(const stage::ModelRequest& request, int count) override {
    auto inner = inner_request(request);
    read_data(inner);
    return inner_->make_inputs(inner, count);
  }
  std::vector<std::int64_t> make_labels(const stage::ModelRequest& request, int count) override {
    if (hidden_folder() != nullptr && !request.labels.empty()) return read_labels(request, count);
    return inner_->make_labels(request, count);
  }
  stage::Activation allocate(const wire::TensorSpec& spec) override { return inner_->allocate(spec); }
  stage::Activation encode(stage::Activation output) override { return inner_->encode(std::move(output)); }
  stage::Activation decode(stage::Activation received) override { return inner_->decode(std::move(received)); }

  stage::Activation forward(experiment::BlockRange range, stage::Activation input) override {
    auto output = inner_->forward(range, std::move(input));
    computed(range, output);
    return output;
  }

  std::unique_ptr<stage::TrainingPart> make_training_part(const stage::ModelRequest& request,
                                                          experiment::BlockRange range,
                                                          const experiment::Training& training) override {
    auto inner = inner_request(request);
    inner.data = "random";  // of a part's request, data are not read
    return std::make_unique<FaultyPart>(inner_->make_training_part(inner, range, training), range, *this);
  }

 private:
  /// The same faults while a part is trained.
  class FaultyPart final : public stage::TrainingPart {
   public:
    FaultyPart(std::unique_ptr<stage::TrainingPart> inner, experiment::BlockRange range, FaultyBackend& backend)
        : inner_(std::move(inner)), range_(range), backend_(backend) {}

    stage::Activation forward(stage::MicroBatch which, stage::Activation input,
                              experiment::Backward backward) override {
      auto output = inner_->forward(which, std::move(input), backward);
      backend_.computed(range_, output);
      return output;
    }
    stage::Learned loss(stage::MicroBatch which, std::span<const std::int64_t> labels, double share) override {
      auto learned = inner_->loss(which, labels, share);
      if (backend_.diverged_) learned.loss = std::numeric_limits<double>::quiet_NaN();
      return learned;
    }
    stage::Activation backward(stage::MicroBatch which, stage::Activation gradient) override {
      auto result = inner_->backward(which, std::move(gradient));
      if (backend_.no_gradients_ && !result.bytes.empty()) {
        *reinterpret_cast<float*>(result.bytes.data()) = std::numeric_limits<float>::quiet_NaN();
      }
      return result;
    }
    std::span<float> gradients() override { return inner_->gradients(); }
    void update(double learning_rate) override { inner_->update(learning_rate); }
    std::vector<std::string> digests() const override { return inner_->digests(); }
    stage::TrainingBytes bytes() const override { return inner_->bytes(); }
    std::vector<stage::NamedState> state() const override { return inner_->state(); }

   private:
    std::unique_ptr<stage::TrainingPart> inner_;
    experiment::BlockRange range_;
    FaultyBackend& backend_;
  };

  void computed(experiment::BlockRange range, stage::Activation& output) {
    if (!action_.empty() && range == range_ && ++calls_ == call_ && first_time()) misbehave(output);
    if (tired_ && range == range_) rest();
  }

  /// The synthetic model computes nothing that could be optimised; here it is computed in any mode alike.
  stage::ModelRequest inner_request(stage::ModelRequest request) const {
    request.compute = {};
    read_model(request);
    if (slower_) request.model = a_tenth_longer(request.model);
    return request;
  }

  bool first_time() const {
    if (marker_.empty()) return true;
    if (std::filesystem::exists(marker_)) return false;
    std::ofstream(marker_) << ::getpid();
    return true;
  }

  static std::int64_t own_cpu_time_ns() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
  }

  static void toil() {
    const auto end = own_cpu_time_ns() + 2'000'000'000;
    while (own_cpu_time_ns() < end) {
    }
  }

  static void rest() {
    const timespec moment{0, 5'000'000};
    ::nanosleep(&moment, nullptr);
  }

  void wait_at_gate() const {
    while (std::filesystem::exists(marker_)) rest();
  }

  void misbehave(stage::Activation& output) {
    if (action_ == "kill") ::kill(::getpid(), SIGKILL);
    if (action_ == "hang") {
      for (;;) ::pause();
    }
    if (action_ == "stop") ::kill(::getpid(), SIGSTOP);
    if (action_ == "toil") toil();
    if (action_ == "gate") wait_at_gate();
    if (action_ == "tire") tired_ = true;
    if (action_ == "throw") throw EnvironmentError("the block broke on purpose");
    if (action_ == "wrong") output.bytes.front() ^= std::byte{1};
    if (action_ == "off") *reinterpret_cast<float*>(output.bytes.data()) += 1;
    diverged_ = action_ == "nan";
    no_gradients_ = action_ == "nogradients";
    if (action_ == "nan") *reinterpret_cast<float*>(output.bytes.data()) = std::numeric_limits<float>::quiet_NaN();
  }

  std::unique_ptr<stage::Backend> inner_;
  bool slower_ = false;
  bool denormals_ = false;
  bool reference_kernels_ = false;
  bool small_machine_ = false;
  std::string action_;
  experiment::BlockRange range_;
  int call_ = 0;
  int calls_ = 0;
  bool tired_ = false;
  bool diverged_ = false;      ///< a loss is NaN from then on
  bool no_gradients_ = false;  ///< gradients hold NaN from then on
  std::string marker_;
};

}  // namespace

std::unique_ptr<stage::Backend> make_faulty_backend(std::unique_ptr<stage::Backend> inner, const std::string& fault) {
  return std::make_unique<FaultyBackend>(std::move(inner), fault);
}

}  // namespace paretopipe::fakes
