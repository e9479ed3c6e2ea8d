#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using support::contains;
using support::message_of;
using Names = std::vector<std::string>;

TEST_CASE("a device is the CPU or a GPU by its number", "[compute_device]") {
  CHECK(parse_compute_device("cpu") == "cpu");
  CHECK(parse_compute_device("cuda") == "cuda:0");
  CHECK(parse_compute_device("cuda:12") == "cuda:12");
  CHECK(parse_compute_device("cuda:01") == "cuda:1");
  for (const auto* text : {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1 ", "cuda:128", "cuda:9999999999", "cpu:0"}) {
    CAPTURE(text);
    CHECK(contains(message_of<UsageError>([&] { parse_compute_device(text); }), "cuda:1"));
  }
}

TEST_CASE("one device is every stage's, and the CPU alone is what there is without any", "[compute_device]") {
  CHECK(compute_devices({"cuda"}, 3) == Names{"cuda:0", "cuda:0", "cuda:0"});
  CHECK(compute_devices({"cpu", "cuda:1"}, 2) == Names{"cpu", "cuda:1"});
  CHECK(compute_devices({}, 2).empty());
  CHECK(compute_devices({"cpu"}, 2).empty());
  CHECK(compute_devices({"cpu", "cpu"}, 2).empty());
  CHECK(contains(message_of<UsageError>([] { compute_devices({"cpu", "cuda:0"}, 3); }), "one for each of the 3"));
  CHECK(compute_device_of({"cpu", "cuda:1"}, 1) == "cuda:1");
  CHECK(compute_device_of({}, 5) == "cpu");
}

TEST_CASE("an experiment's devices are known ones, and no synthetic model's", "[compute_device]") {
  Experiment experiment;
  experiment.compute_devices = {"cpu", "cuda:0"};
  CHECK_NOTHROW(validate(experiment));
  experiment.models = {"synthetic:1ms/4kB,1ms"};
  CHECK(contains(message_of<UsageError>([&] { validate(experiment); }), "names a GPU, and synthetic:1ms/4kB,1ms"));
  experiment.compute_devices = {"cpu"};
  CHECK_NOTHROW(validate(experiment));
  experiment.compute_devices = {"tpu"};
  CHECK(contains(message_of<UsageError>([&] { validate(experiment); }), "experiment.compute_devices: \"tpu\""));
}
