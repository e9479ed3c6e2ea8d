// What a stage keeps from one trial to the next: a program that comes again is not made again, computes the same bits,
// and leaves when memory for such programs ends.
#include <paretopipe/compute/zoo/model_backend.hpp>

#include <malloc.h>

#include <support/catch.hpp>

namespace paretopipe::zoo {
namespace {

constexpr experiment::ComputeMode kOptimizedMode{experiment::Compute::optimized, experiment::Precision::float32,
                                                 experiment::MemoryFormat::contiguous};
constexpr std::int64_t kPlenty = std::int64_t{1} << 32;

stage::ModelRequest kept_request_for(const std::string& model, int batch = 1) {
  return {.model = model, .num_classes = 10, .batch = batch, .seed = 1, .data = "random", .compute = kOptimizedMode};
}

/// A stage with a whole model, of which it computes any range. With 0 `kept_bytes` it is told no limit.
class Stage {
 public:
  explicit Stage(const std::string& model, std::int64_t kept_bytes = kPlenty, int batch = 1)
      : backend(make_model_backend()) {
    backend->configure({});
    if (kept_bytes > 0) backend->keep_prepared(kept_bytes);
    load(model, batch);
  }

  void load(const std::string& model, int batch = 1) {
    request = kept_request_for(model, batch);
    description = backend->describe(request);
    blocks = description.block_count();
    backend->load(request, {0, blocks});
  }

  Preparation prepare(experiment::BlockRange range) {
    return backend->prepare(range, {input_of(range.begin).spec}).value();
  }

  std::string compute(experiment::BlockRange range) {
    const auto output = backend->forward(range, input_of(range.begin));
    return {reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size()};
  }

  std::unique_ptr<stage::Backend> backend;
  stage::ModelRequest request;
  experiment::ModelDescription description;
  int blocks = 0;

 private:
  /// Of the right shape; which numbers it holds does not matter.
  stage::Activation input_of(int begin) {
    if (begin == 0) return backend->make_inputs(request, 1).at(0);
    auto input = backend->allocate(stage::activation_spec(request.compute, description.shape_at(begin)));
    auto* values = reinterpret_cast<float*>(input.bytes.data());
    for (std::size_t i = 0; i < input.bytes.size() / sizeof(float); ++i) {
      values[i] = static_cast<float>(i % 97) / 97;
    }
    return input;
  }
};

std::string computed_by_a_fresh_stage(const std::string& model, experiment::BlockRange range, int batch = 1) {
  Stage fresh(model, 0, batch);
  CHECK(fresh.prepare(range).made);
  return fresh.compute(range);
}

TEST_CASE("a range that comes again is not prepared again, and computes what a fresh stage computes bit for bit") {
  const auto model = GENERATE(as<std::string>(), "resnet18", "mobilenet_v2");
  CAPTURE(model);
  Stage stage(model);
  const std::vector<experiment::BlockRange> ranges{{0, 4}, {4, stage.blocks}, {0, 7}, {0, stage.blocks}};
  int made = 0;
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (const auto& range : ranges) {
      const auto done = stage.prepare(range);
      made += done.made ? 1 : 0;
      CHECK(done.made == (repetition == 0));
      CHECK(done.graph_bytes > 0);
      CHECK(done.limit_bytes == kPlenty);
      CHECK(done.graphs == made);
      stage.compute(range);
    }
  }
  CHECK(made == 4);
  for (const auto& range : ranges) {
    INFO("blocks " << range.begin << " to " << range.end);
    stage.prepare(range);
    CHECK(stage.compute(range) == computed_by_a_fresh_stage(model, range));
  }
}

TEST_CASE("a range's memory has the graph that was prepared last, and not those of other batch sizes") {
  const auto prepared_bytes = [](Stage& stage) {
    const experiment::BlockRange whole{0, stage.blocks};
    stage.prepare(whole);
    return stage.backend->memory_of(whole).value().prepared_bytes;
  };
  Stage kept("resnet18"), fresh("resnet18", kPlenty, 2);
  const auto alone = prepared_bytes(kept);
  CHECK(alone > 0);
  kept.load("resnet18", 2);
  CHECK(prepared_bytes(kept) == prepared_bytes(fresh));
  kept.load("resnet18", 1);
  CHECK(prepared_bytes(kept) == alone);
}

TEST_CASE("under a small limit the range leaves that was used longest ago, and is prepared again with the same bits") {
  const std::string model = "resnet18";
  const experiment::BlockRange a{0, 3}, b{0, 4}, c{0, 5};
  Stage measured(model);
  const auto bytes_a = measured.prepare(a).graph_bytes;
  const auto bytes_b = measured.prepare(b).graph_bytes;
  const auto bytes_c = measured.prepare(c).graph_bytes;
  REQUIRE((bytes_a < bytes_b && bytes_b < bytes_c));
  const auto before = measured.compute(b);

  Stage stage(model, bytes_a + bytes_c);
  CHECK(stage.prepare(b).made);
  CHECK(stage.prepare(a).made);
  CHECK_FALSE(stage.prepare(b).made);
  CHECK_FALSE(stage.prepare(a).made);
  const auto third = stage.prepare(c);  // a was used after b
  CHECK(third.made);
  CHECK(third.graphs == 2);
  CHECK(third.graphs_bytes == bytes_a + bytes_c);
  CHECK_FALSE(stage.prepare(a).made);
  CHECK_FALSE(stage.prepare(c).made);
  CHECK(stage.prepare(b).made);
  CHECK(stage.compute(b) == before);
}

TEST_CASE("a graph that is larger than the limit is held as long as it is the current one, and nothing beside it") {
  Stage stage("resnet18", 1);
  for (const auto& range : {experiment::BlockRange{0, 4}, {0, 5}, {0, 4}}) {
    const auto done = stage.prepare(range);
    CHECK(done.made);
    CHECK(done.graphs == 1);
    CHECK(done.graphs_bytes == done.graph_bytes);
    CHECK(done.graph_bytes > 1);
  }
  CHECK_FALSE(stage.prepare({0, 4}).made);
}

TEST_CASE("without a limit's having been told, only the latest range is held") {
  Stage stage("resnet18", 0);
  const auto held = stage.backend->held_parameter_bytes();
  CHECK(stage.prepare({0, 4}).made);
  CHECK(stage.prepare({0, 5}).graphs == 1);
  CHECK(stage.prepare({0, 4}).made);
  CHECK(stage.prepare({0, 0}).graphs == 0);
  CHECK(stage.backend->held_parameter_bytes() == held);
}

TEST_CASE("every batch size has a graph of its own, and each comes again") {
  Stage stage("mobilenet_v2");
  const experiment::BlockRange range{0, 3};
  CHECK(stage.prepare(range).made);
  stage.load("mobilenet_v2", 2);
  CHECK(stage.prepare(range).made);
  CHECK(stage.compute(range) == computed_by_a_fresh_stage("mobilenet_v2", range, 2));
  stage.load("mobilenet_v2", 1);
  CHECK_FALSE(stage.prepare(range).made);
  CHECK(stage.compute(range) == computed_by_a_fresh_stage("mobilenet_v2", range));
}

TEST_CASE("another model's graphs are never taken for this one's, and are there when it comes back") {
  Stage stage("resnet18");
  const experiment::BlockRange range{0, 4};
  CHECK(stage.prepare(range).made);
  stage.load("mobilenet_v2");
  CHECK(stage.prepare(range).made);
  CHECK(stage.compute(range) == computed_by_a_fresh_stage("mobilenet_v2", range));
  stage.request.seed = 2;
  stage.backend->load(stage.request, {0, stage.blocks});
  CHECK(stage.prepare(range).made);
  stage.load("resnet18");
  const auto again = stage.prepare(range);
  CHECK_FALSE(again.made);
  CHECK(again.graphs == 3);
  CHECK(stage.compute(range) == computed_by_a_fresh_stage("resnet18", range));
  stage.backend->keep_prepared(0);
  CHECK(stage.prepare(range).made);
}

TEST_CASE("weights that a graph shares with its blocks count as its own when the blocks have gone") {
  Stage stage("alexnet");  // its fully connected layers are multiplied as they are
  const experiment::BlockRange all{0, stage.blocks};
  const auto weights = stage.description.parameter_bytes(all);
  const auto shared = stage.prepare(all);
  CHECK(shared.graph_bytes < weights / 2);
  CHECK(stage.backend->held_parameter_bytes() == weights + shared.graph_bytes);
  stage.load("mobilenet_v2");
  const auto own = stage.description.parameter_bytes({0, stage.blocks});
  CHECK(stage.backend->held_parameter_bytes() - own > weights * 9 / 10);
}

/// What malloc has handed out.
std::int64_t heap_bytes() {
  const auto heap = ::mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

TEST_CASE("the bytes of a graph are what the heap has more with it, and less without it") {
  Stage stage("resnet18");
  const experiment::BlockRange all{0, stage.blocks};
  stage.prepare({0, 1});
  const auto before = heap_bytes();
  const auto bytes = stage.prepare(all).graph_bytes;
  const auto with = heap_bytes() - before;
  CAPTURE(bytes, with);
  CHECK(bytes > 40'000'000);
  CHECK(with >= bytes);
  CHECK(with <= bytes + 8'000'000);  // oneDNN's kernels and scratchpads, which stay with the process
  const auto held = heap_bytes();
  stage.backend->keep_prepared(0);
  CHECK(held - heap_bytes() >= bytes);
}

TEST_CASE("in eager mode there is nothing to prepare") {
  auto backend = make_model_backend();
  backend->configure({});
  backend->keep_prepared(kPlenty);
  auto request = kept_request_for("resnet18");
  request.compute = {};
  backend->load(request, {0, 2});
  CHECK_FALSE(backend->prepare({0, 2}, {backend->make_inputs(request, 1).at(0).spec}));
}

}  // namespace
}  // namespace paretopipe::zoo
