#include <paretopipe/core/text.hpp>

#include <support/catch.hpp>

using namespace paretopipe;

namespace {
const std::vector<std::string> kKeys{"batch", "batches", "warmup", "depth", "threads_per_stage"};
}

TEST_CASE("a typing mistake finds the word that was meant", "[suggest]") {
  CHECK(closest_word("bacth", kKeys) == "batch");
  CHECK(closest_word("batchs", kKeys) == "batch");
  CHECK(closest_word("batchess", kKeys) == "batches");
  CHECK(closest_word("warm_up", kKeys) == "warmup");
  CHECK(closest_word("dept", kKeys) == "depth");
  CHECK(closest_word("thread_per_stage", kKeys) == "threads_per_stage");
}

TEST_CASE("a word that is like no other gets no suggestion", "[suggest]") {
  const auto* word = GENERATE("", "x", "latency", "threads", "de", "\xff\xfe\xfd");
  CAPTURE(word);
  CHECK_FALSE(closest_word(word, kKeys));
  CHECK(did_you_mean(word, kKeys).empty());
}

TEST_CASE("without candidates there is no suggestion", "[suggest]") {
  CHECK_FALSE(closest_word("batch", {}));
}

TEST_CASE("the suggestion is a question to append to an error", "[suggest]") {
  CHECK(did_you_mean("dephts", kKeys) == "; did you mean \"depth\"?");
}
