#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/partition.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using support::contains;
using support::message_of;

TEST_CASE("a partition is all, split points, or the name of a scheme", "[partition]") {
  CHECK(parse_partition("all", 4) == PartitionChoice(AllPartitions{}));
  CHECK(parse_partition("4,9,14", 4) == PartitionChoice(SplitPoints{4, 9, 14}));
  CHECK(parse_partition("7", 2) == PartitionChoice(SplitPoints{7}));
  CHECK(parse_partition("0,0,5", 4) == PartitionChoice(SplitPoints{0, 0, 5}));
  for (const auto& [scheme, word] : kSchemes) CHECK(parse_partition(word, 3) == PartitionChoice(scheme));
}

TEST_CASE("what is no partition is refused, with what it could be", "[partition]") {
  const auto* text = GENERATE("", "front", "Equal-load", "4,", ",4", "4,,9", "-1,4,9", "4 9 14", "4-6", "1e1,2,3",
                              "99999999999,1,2", "all,4");
  CAPTURE(text);
  CHECK(contains(message_of<UsageError>([&] { parse_partition(text, 4); }), "equal-load"));
}

TEST_CASE("a partition of another number of stages, or one that runs backwards, is refused", "[partition]") {
  CHECK(contains(message_of<UsageError>([] { parse_partition("4,9", 4); }), "4 stages need 3"));
  CHECK(contains(message_of<UsageError>([] { parse_partition("4", 3); }), "has 1 split point;"));
  CHECK(contains(message_of<UsageError>([] { parse_partition("9,4,14", 4); }), "ascend"));
}

TEST_CASE("an experiment of several stages is read from its keys, and refused where they contradict each other",
          "[partition]") {
  const auto experiment =
      experiment_from_json({{"stages", 4}, {"partitions", {"equal-load", "4,9,14", "all"}}, {"max_partitions", 20}});
  CHECK(experiment.stages == 4);
  CHECK(experiment.partitions == std::vector<std::string>{"equal-load", "4,9,14", "all"});
  CHECK(experiment_from_json(nlohmann::json(experiment)) == experiment);

  const auto refused = [](const nlohmann::json& document) {
    return message_of<UsageError>([&] { experiment_from_json(document); });
  };
  CHECK(contains(refused({{"stages", 17}}), "experiment.stages is 17; it must be from 2 to 16"));
  CHECK(contains(refused({{"stages", 1}}), "experiment.stages is 1"));
  CHECK(contains(refused({{"stages", 3}, {"splits", "4"}}), "give partitions instead"));
  CHECK(contains(refused({{"splits", "4"}, {"partitions", {"equal-load"}}}), "give partitions instead"));
  CHECK(contains(refused({{"stages", 3}, {"partitions", {"4"}}}), "experiment.partitions: "));
  CHECK(contains(refused({{"stages", 3}, {"partitions", {"all", "4"}}}), "experiment.partitions: "));
  CHECK(contains(refused({{"max_partitions", 5}}), "does not hold \"all\""));
  CHECK(contains(refused({{"stages", 3}, {"partitions", {"4,5"}}, {"max_partitions", 5}}), "does not hold \"all\""));
  CHECK(contains(refused({{"stages", 3}, {"cpus", {"0", "1"}}}), "each of the 3 stages"));
  CHECK_NOTHROW(experiment_from_json({{"stages", 3}, {"max_partitions", 5}}));
}
