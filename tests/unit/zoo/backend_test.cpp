#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <cstring>
#include <limits>

#include <support/catch.hpp>
#include <support/thrown.hpp>
#include <torch/cuda.h>

namespace paretopipe::zoo {
namespace {

using namespace support;

const stage::ModelRequest kRequest{.model = "mobilenet_v2", .num_classes = 10, .batch = 1, .seed = 1, .data = "random"};

bool this_thread_flushes() {
  volatile float smallest_normal = std::numeric_limits<float>::min();
  return smallest_normal * 0.5F == 0.0F;
}

TEST_CASE("configure applies the options and reports what holds") {
  auto backend = make_model_backend();
  const auto applied = backend->configure({.threads = 2, .flush_denormals = true, .tune_malloc = true});
  CHECK(applied.at("backend") == "libtorch");
  CHECK(applied.at("threads") == 2);
  CHECK(applied.at("interop_threads") == 1);
  CHECK(applied.at("flush_denormals") == true);
  CHECK(applied.at("tune_malloc") == true);
  CHECK(applied.at("torch_version").get<std::string>().find('.') != std::string::npos);
  CHECK(applied.at("blas").is_array());
  CHECK(applied.at("mkldnn").is_boolean());
  CHECK(applied.contains("cpu_capability"));
  CHECK(applied.contains("omp_wait_policy"));
  CHECK(applied.contains("glibc_tunables"));
  CHECK(this_thread_flushes());
}

TEST_CASE("configure can be called again with other options") {
  auto backend = make_model_backend();
  backend->configure({.threads = 2, .flush_denormals = true});
  const auto applied = backend->configure({.threads = 1, .flush_denormals = false});
  CHECK(applied.at("threads") == 1);
  CHECK(applied.at("flush_denormals") == false);
  CHECK_FALSE(this_thread_flushes());
  CHECK(backend->configure({}).at("flush_denormals") == true);
}

TEST_CASE("a GPU that is not there is refused with the reason, and the CPU computes on") {
  auto backend = make_model_backend();
  const auto name = fmt::format("cuda:{}", torch::cuda::device_count());
  check_throws<EnvironmentError>([&] { backend->configure({.device = name}); },
                                 {"cannot compute on " + name, "--device cpu"});
  CHECK(backend->configure({}).at("device") == "cpu");
}

TEST_CASE("an unknown model is a usage error that lists the known ones, and so are blocks and threads that cannot be") {
  auto backend = make_model_backend();
  auto request = kRequest;
  request.model = "resnet19";
  const auto parts = {std::string_view("\"resnet19\""), std::string_view("alexnet"), std::string_view("inception_v3")};
  check_throws<UsageError>([&] { backend->describe(request); }, parts);
  check_throws<UsageError>([&] { backend->load(request, {0, 1}); }, parts);
  check_throws<UsageError>([&] { backend->make_inputs(request, 1); }, parts);
  for (const auto& [begin, end] : {std::pair(0, 21), {-1, 2}, {3, 2}}) {
    CHECK_THROWS_AS(backend->load(kRequest, {begin, end}), UsageError);
  }
  CHECK_THROWS_AS(backend->configure({.threads = 0}), UsageError);
}

TEST_CASE("blocks of the same model are kept, another model's are dropped") {
  auto backend = make_model_backend();
  CHECK(backend->held_parameter_bytes() == 0);
  const auto description = backend->describe(kRequest);
  backend->load(kRequest, {0, 5});
  backend->load(kRequest, {10, 12});
  CHECK(backend->held_parameter_bytes() == description.parameter_bytes({0, 5}) + description.parameter_bytes({10, 12}));
  auto other_seed = kRequest;
  other_seed.seed = 2;
  backend->load(other_seed, {0, 1});
  CHECK(backend->held_parameter_bytes() == description.parameter_bytes({0, 1}));
}

TEST_CASE("computing a block that is not loaded is an internal error that names it") {
  auto backend = make_model_backend();
  backend->load(kRequest, {0, 1});
  const auto input = backend->make_inputs(kRequest, 1).at(0);
  check_throws<Error>([&] { backend->forward({0, 2}, input); }, {"block 1 of mobilenet_v2"});
}

TEST_CASE("LibTorch's own errors come out as paretopipe's, with the attempt") {
  auto backend = make_model_backend();
  backend->load(kRequest, {1, 2});
  const auto input = backend->make_inputs(kRequest, 1).at(0);  // three channels, where block 1 takes 32
  check_throws<Error>([&] { backend->forward({1, 2}, input); }, {"mobilenet_v2", "channels"});
}

TEST_CASE("an empty range, encode and decode return their argument itself") {
  auto backend = make_model_backend();
  const auto input = backend->allocate({.shape = {2, 3, 4, 5}});
  CHECK(backend->forward({3, 3}, input).bytes.data() == input.bytes.data());
  CHECK(backend->encode(input).bytes.data() == input.bytes.data());
  CHECK(backend->decode(input).bytes.data() == input.bytes.data());
}

TEST_CASE("allocated memory has the size and the spec that were asked for") {
  auto backend = make_model_backend();
  using wire::DType;
  using wire::MemoryFormat;
  const wire::TensorSpec plain{DType::float32, MemoryFormat::contiguous, {2, 3, 4, 5}};
  const wire::TensorSpec channels_last{DType::bfloat16, MemoryFormat::channels_last, {2, 3, 1, 1}};
  const wire::TensorSpec integers{DType::int64, MemoryFormat::contiguous, {7}};
  for (const auto& spec : {plain, channels_last, integers}) {
    const auto activation = backend->allocate(spec);
    CHECK(activation.spec == spec);
    CHECK(static_cast<std::int64_t>(activation.bytes.size()) == wire::byte_size(spec));
    std::memset(activation.bytes.data(), 0, activation.bytes.size());
  }
}

TEST_CASE("memory that cannot be had is an error, not a crash") {
  auto backend = make_model_backend();
  try {
    backend->allocate({.shape = {1 << 20, 1 << 20, 1 << 10}});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::environment);
    CHECK(std::string(error.what()).find("1048576") != std::string::npos);
  }
}

TEST_CASE("an activation keeps its memory after its input is gone") {
  auto backend = make_model_backend();
  backend->load({.model = "alexnet", .seed = 1, .data = "random"}, {1, 2});
  auto input = backend->allocate({.shape = {1, 2, 2, 1}});
  const std::vector<float> values{-1, 2, -3, 4};
  std::memcpy(input.bytes.data(), values.data(), input.bytes.size());
  const auto* memory = input.bytes.data();
  const auto output = backend->forward({1, 2}, std::move(input));  // an in-place ReLU
  CHECK(output.bytes.data() == memory);
  std::vector<float> result(4);
  std::memcpy(result.data(), output.bytes.data(), output.bytes.size());
  CHECK(result == std::vector<float>{0, 2, 0, 4});
}

}  // namespace
}  // namespace paretopipe::zoo
