#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/settings.hpp>

#include <cstdlib>
#include <set>
#include <string>

#include <fmt/format.h>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

/// The rows of the settings whose keys are in `object`; those of the experiment itself if that is empty.
std::string key_table(const std::string& object) {
  std::string table = "| key | default | values | meaning | flag |\n| --- | --- | --- | --- | --- |\n";
  for (const auto& setting : settings()) {
    const auto dot = setting.key.find('.');
    if ((dot == std::string::npos ? "" : setting.key.substr(0, dot)) != object) continue;
    const auto key = dot == std::string::npos ? setting.key : setting.key.substr(dot + 1);
    const auto usual = setting.value.write(Experiment{}).dump();
    const auto unset = setting.unset.empty() ? "" : fmt::format(". `{}`: {}", usual, setting.unset);
    const auto* often = setting.value.kind == FlagKind::repeated ? ", once each" : "";
    const auto flag = setting.flag.empty() ? "" : fmt::format("`{}`{}", setting.flag, often);
    table += fmt::format("| `{}` | `{}` | {} | {}{} | {} |\n", key, usual, setting.value.allowed, setting.meaning,
                         unset, flag);
  }
  return table;
}

/// configs/README.md with the tables of the settings as they are now.
std::string with_key_tables(const std::string& document) {
  std::string result;
  std::size_t position = 0;
  for (const auto* object : {"", "server", "repeat", "tuning"}) {
    const auto marker = fmt::format("<!-- settings{}{} -->\n", *object == '\0' ? "" : " ", object);
    const auto begin = document.find(marker, position);
    const auto end = document.find("<!-- end of settings -->", begin);
    REQUIRE(end != std::string::npos);
    result += document.substr(position, begin + marker.size() - position) + '\n' + key_table(object) + '\n';
    position = end;
  }
  return result + document.substr(position);
}

Experiment with_flags(const GivenFlags& given, Experiment experiment = {}) {
  apply_flags(experiment, given);
  return experiment;
}

std::string flags_refused(const GivenFlags& given) {
  return support::message_of<UsageError>([&] { with_flags(given); });
}

}  // namespace

TEST_CASE("the keys in configs/README.md are those of the settings, with their defaults, values and flags") {
  const std::string file = PARETOPIPE_SOURCE_DIR "/configs/README.md";
  const auto document = support::read_file(file);
  const auto expected = with_key_tables(document);
  if (std::getenv("PARETOPIPE_UPDATE_GOLDEN") != nullptr) support::write_file(file, expected);
  CHECK(document == expected);
}

TEST_CASE("every setting has a key and a flag of its own, and a meaning") {
  std::set<std::string> seen;
  for (const auto& setting : settings()) {
    CAPTURE(setting.key);
    CHECK(seen.insert(setting.key).second);
    CHECK((setting.flag.empty() || seen.insert(setting.flag).second));
    CHECK(setting.meaning.size() > 10);
    CHECK_FALSE(setting.value.allowed.empty());
    CHECK_FALSE(default_of(setting).empty());
  }
}

TEST_CASE("every default is in range, and reads back as itself") {
  const Experiment usual;
  CHECK_NOTHROW(check_ranges(usual));
  for (const auto& setting : settings()) {
    CAPTURE(setting.key);
    auto experiment = usual;
    setting.value.read(experiment, setting.value.write(usual), setting.path());
    CHECK(setting.value.write(experiment) == setting.value.write(usual));
  }
}

TEST_CASE("a flag means what its key means in a file") {
  CHECK(with_flags({{"batch", {"1,8"}}}).batch == Axis{1, 8});
  CHECK(with_flags({{"batches", {"7"}}}).batches == 7);
  CHECK(with_flags({{"models", {"alexnet", "vgg16"}}}).models == std::vector<std::string>{"alexnet", "vgg16"});
  CHECK(with_flags({{"micro_batches", {"4"}}}).micro_batches == std::vector{4});
  CHECK(with_flags({{"dtype", {"bfloat16"}}}).compute.dtype == Precision::bfloat16);
  CHECK(with_flags({{"placement", {"0,1,0"}}}).placement == Placement{0, 1, 0});
  CHECK(with_flags({{"seed", {"18446744073709551615"}}}).seed == 18446744073709551615u);
  CHECK_FALSE(with_flags({{"tuning.tune_malloc", {""}}}).tuning.tune_malloc);
  CHECK(with_flags({{"repeat", {"auto"}}, {"repeat.precision", {"1%"}}, {"repeat.budget_s", {"1500ms"}}}).repeat ==
        Repeat{.adaptive = true, .trials = 20, .precision = 0.01, .budget_s = 2});
  CHECK(with_flags({{"phases", {"offline,server"}}, {"server.rates", {"10,20"}}}).server.rates ==
        std::vector<double>{10, 20});
}

TEST_CASE("a flag for split points replaces a file's partitions, and the other way round") {
  Experiment partitioned;
  partitioned.partitions = {"equal-load"};
  CHECK(with_flags({{"splits", {"3"}}}, partitioned).partitions.empty());
  Experiment split;
  split.splits = {.all = false, .points = {3}};
  CHECK(with_flags({{"partitions", {"4,9"}}}, split).splits.all);
  CHECK(flags_refused({{"splits", {"3"}}, {"partitions", {"4"}}}) ==
        "--split names the split points of two stages, and --partitions cuts in other ways; give one of them");
}

TEST_CASE("a flag's value that cannot be read is refused by the flag's name") {
  CHECK(flags_refused({{"batches", {"010"}}}) == "--batches: \"010\" is not a whole number in decimal digits");
  CHECK(flags_refused({{"batch", {"1,x"}}}) ==
        "--batch is \"1,x\"; it must be a number up to 65536, or a list of them such as 1,2,4");
  CHECK(flags_refused({{"seed", {"-1"}}}) ==
        "--seed: \"-1\" is not a seed: it must be a whole number from 0 to 2^64 - 1");
  CHECK(flags_refused({{"repeat", {"often"}}}) == "--repeat is \"often\"; it must be a number of trials, or auto");
  CHECK(flags_refused({{"dtype", {"float"}}}) == "experiment.dtype is \"float\"; it must be float32 or bfloat16");
}

TEST_CASE("flags that mean nothing without another one are refused") {
  CHECK(flags_refused({{"repeat.precision", {"1%"}}}) ==
        "--precision, --max-repeat and --budget say when --repeat auto ends; add it");
  CHECK(flags_refused({{"server.queries", {"5"}}}) ==
        "--queries counts the arrivals of --scenario server; give --rate or --find-max-rate, too");
  CHECK(flags_refused({{"phases", {"server"}}}) ==
        "--scenario server needs to know how fast images arrive: give --rate, or --find-max-rate");
  CHECK(flags_refused({{"phases", {"offline"}}, {"server.rates", {"5"}}}) ==
        "--rate and --find-max-rate are for --scenario server");
}
