#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/model_description.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using nlohmann::json;

TEST_CASE("only what differs from eager float32 is written, and comes back") {
  auto object = json::object();
  write_compute_mode(object, {});
  CHECK(object.empty());
  CHECK(read_compute_mode(object) == ComputeMode{});
  CHECK(describe(ComputeMode{}).empty());
  const ComputeMode mode{Compute::optimized, Precision::bfloat16, MemoryFormat::channels_last};
  write_compute_mode(object, mode);
  CHECK(object == json{{"compute", "optimized"}, {"dtype", "bfloat16"}, {"memory_format", "channels_last"}});
  CHECK(read_compute_mode(object) == mode);
  CHECK(describe(mode) == "optimized bfloat16 channels_last");
  CHECK(describe_tensors(mode) == "bfloat16 channels_last");
}

TEST_CASE("a mode that there is not is refused with those that there are") {
  const auto refusal = [](const json& object) {
    return support::message_of<UsageError>([&] { read_compute_mode(object); });
  };
  CHECK(refusal({{"compute", "Optimized"}}) ==
        "compute is \"Optimized\"; it must be eager or optimized; did you mean \"optimized\"?");
  CHECK(refusal({{"dtype", "float64"}}) ==
        "dtype is \"float64\"; it must be float32 or bfloat16; did you mean \"float32\"?");
  CHECK(refusal({{"memory_format", ""}}) == "memory_format is \"\"; it must be contiguous or channels_last");
  CHECK_THROWS_AS(read_compute_mode({{"compute", 1}}), json::exception);
  const auto in_experiment = [](const json& object) {
    return support::message_of<UsageError>([&] { experiment_from_json(object); });
  };
  CHECK(in_experiment({{"compute", "fast"}}) == "experiment.compute is \"fast\"; it must be auto, eager or optimized");
  CHECK(in_experiment({{"dtype", 32}}) == "experiment.dtype has the wrong type or range: 32");
}

TEST_CASE("a key that an experiment leaves out keeps what it had") {
  Experiment defaults;
  defaults.compute.compute = Compute::optimized;
  CHECK(experiment_from_json({{"dtype", "bfloat16"}}, defaults).compute ==
        ComputeChoice{Compute::optimized, Precision::bfloat16, MemoryFormat::contiguous});
}

TEST_CASE("unless a person says otherwise, models compute optimized, and synthetic ones as they are") {
  const auto usual = Experiment{}.compute;
  CHECK(json(Experiment{}).at("compute") == "auto");
  CHECK(mode_for(usual, "resnet18") == ComputeMode{.compute = Compute::optimized});
  CHECK(mode_for(usual, "mine.pt") == ComputeMode{.compute = Compute::optimized});
  CHECK(mode_for(usual, "synthetic:5ms") == ComputeMode{});
  const auto narrow = experiment_from_json({{"dtype", "bfloat16"}}).compute;
  CHECK(mode_for(narrow, "resnet18") == ComputeMode{Compute::optimized, Precision::bfloat16, MemoryFormat::contiguous});
  const auto exact = experiment_from_json({{"compute", "eager"}}).compute;
  CHECK(mode_for(exact, "resnet18") == ComputeMode{});
  Experiment defaults;
  defaults.compute = exact;
  CHECK(mode_for(experiment_from_json({{"compute", "auto"}}, defaults).compute, "resnet18").compute ==
        Compute::optimized);
}

TEST_CASE("what is asked of a model that computes nothing is kept, to be refused by the stage") {
  CHECK(mode_for({.compute = Compute::optimized}, "synthetic:5ms").compute == Compute::optimized);
}

TEST_CASE("a model is synthetic if it begins so, well written or not") {
  CHECK(is_synthetic("synthetic:5ms"));
  CHECK(is_synthetic("synthetic:nonsense"));
  CHECK_FALSE(is_synthetic("synthetic"));
  CHECK_FALSE(is_synthetic("resnet18"));
  CHECK_FALSE(is_synthetic("a synthetic:5ms"));
}

TEST_CASE("eager mode tolerates no difference, whatever the type") {
  for (const auto dtype : {Precision::float32, Precision::bfloat16}) {
    for (const auto format : {MemoryFormat::contiguous, MemoryFormat::channels_last}) {
      CHECK(ComputeMode{Compute::eager, dtype, format}.relative_tolerance() == 0);
      CHECK(ComputeMode{Compute::optimized, dtype, format}.relative_tolerance() > 0);
    }
  }
}
