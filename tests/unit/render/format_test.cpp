#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/table.hpp>

#include <cstdlib>
#include <limits>
#include <set>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../stats/samples.hpp"

using namespace paretopipe;
using testing::make_trial;

TEST_CASE("people see values in the unit that fits") {
  CHECK(record::format_value(12'345'678, "ns") == "12.3 ms");
  CHECK(record::format_value(1'572'864, "B") == "1.50 MiB");
  CHECK(record::format_value(1'572'864, "B/s") == "1.50 MiB/s");
  CHECK(record::format_value(940.2, "image/s") == "940 image/s");
  CHECK(record::format_value(0.98765, "") == "0.988");
  CHECK_THROWS(record::format_value(1, "furlong"));
}

TEST_CASE("every metric can be written for people and as a column") {
  std::set<std::string> columns;
  for (const auto& metric : record::metrics()) {
    CHECK_FALSE(record::format_value(1, metric.unit).empty());
    CHECK(columns.insert(record::column_name(metric)).second);
  }
  CHECK(columns.count("latency_p50_ns") == 1);
  CHECK(columns.count("throughput_image_per_s") == 1);
  CHECK(columns.count("payload_bytes") == 1);
  CHECK(columns.count("goodput_byte_per_s") == 1);
}

TEST_CASE("programs see numbers that read back as the same and have no exponent") {
  CHECK(record::format_number(8'000'000) == "8000000");
  CHECK(record::format_number(0.1) == "0.1");
  CHECK(record::format_number(-2.5) == "-2.5");
  for (const double value :
       {1.0 / 3, 6.02214076e23, 1e-9, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}) {
    const auto text = record::format_number(value);
    CHECK(std::strtod(text.c_str(), nullptr) == value);
    CHECK_FALSE(support::contains(text, "e"));
  }
}

TEST_CASE("splits are written as k of N, and the endpoints are named") {
  CHECK(record::split_label(make_trial(7)) == "7/10");
  CHECK(record::split_label(make_trial(0)) == "0/10 all remote");
  CHECK(record::split_label(make_trial(10)) == "10/10 all local");
  auto two_cuts = make_trial(3);
  two_cuts.split_points = {3, 7};
  CHECK(record::split_label(two_cuts) == "3,7/10");
  auto replicas = make_trial(3);
  replicas.data_parallel = 2;
  CHECK(record::split_label(replicas) == "data-parallel on 2 devices");
  replicas.training.emplace();
  CHECK(record::split_label(replicas) == "data-parallel on 2 devices " + replicas.way_of_training());
}

TEST_CASE("a file's name has no more of a model's than a file may have") {
  CHECK(record::model_file_name("synthetic:1ms/4kB") == "synthetic_1ms_4kB");
  CHECK(record::model_file_name(std::string(1000, 'm')).size() == 64);
}

TEST_CASE("what is no UTF-8 or has a meaning in XML is not in it") {
  CHECK(render::xml_escaped("caf\xc3\xa9 <&>") == "caf\xc3\xa9 &lt;&amp;&gt;");
  CHECK(render::xml_escaped("caf\xe9") == "caf?");
}

TEST_CASE("a group's title shows what is not at its default, and every trial has its settings under the same names") {
  using support::contains;
  CHECK(record::group_title(make_trial(3)) ==
        "resnet18, batch 8, depth 4, 1 thread per stage, random, batches 8, cpus 0 | 1, warmup 2");
  auto cut = make_trial(3);
  cut.micro_batch = 4;
  CHECK(contains(record::group_title(cut), "resnet18, batch 8, micro-batch 4, depth 4, "));
  CHECK(record::flat_settings(cut).at("micro_batch") == 4);
  CHECK(record::flat_settings(make_trial(3)).at("micro_batch") == 8);  // the batch, where that is not cut
  auto loaded = make_trial(3);
  loaded.server = experiment::ServerLoad{12.5, std::nullopt, 64};
  CHECK(contains(record::group_title(loaded), "random, Server at 12.5 image/s, 64 queries, batches 8"));
  auto search = make_trial(3);
  search.server = experiment::ServerLoad{0, experiment::parse_latency_bound("p99 < 100ms"), 64};
  CHECK(record::flat_settings(loaded).at("server_rate") == 12.5);
  CHECK(record::flat_settings(search).at("server_bound") == "p99 < 100 ms");
  CHECK(record::flat_settings(search).at("server_queries") == 64);
  CHECK(record::flat_settings(make_trial(3)).at("server_queries") == "");
  for (const auto& other : {loaded, search}) {
    CHECK(record::settings_of(other).size() == record::settings_of(make_trial(3)).size());
  }
}

TEST_CASE("a setting that a trial's own JSON leaves out at its default has its place among those of every trial") {
  const auto names_of = [](const experiment::Trial& trial) {
    std::vector<std::string> names;
    for (const auto& setting : record::settings_of(trial)) names.push_back(setting.name);
    return names;
  };
  auto full = make_trial(3);
  full.archive = experiment::Archive{std::string(64, 'a'), {3, 32, 32}, "all", 2, true};
  full.encryption = experiment::Encryption::tls;
  full.on = {"local", "pi"};
  full.stage_threads = {1, 2};
  full.codec = "sort8";
  full.max_flips = 0.1;
  full.micro_batch = 4;
  full.server = experiment::ServerLoad{12.5, std::nullopt, 64};
  full.training.emplace();
  full.weights_sha256 = std::string(64, 'b');
  full.data_identity = {std::string(64, 'c'), std::string(64, 'd')};
  full.placement = {0, 0};
  full.devices = {{.name = "pi", .cpu_quota = 0.25}};
  full.compute_devices = {"cuda:0"};
  full.network.name = "wifi";
  full.shaping = experiment::Shaping::emulated;
  CHECK(names_of(full) == names_of(make_trial(3)));
  CHECK(record::flat_settings(full).at("on") == "local | pi");
  CHECK(record::flat_settings(full).at("link") == "tls");
  auto other_input = full;
  other_input.archive->input_shape = {3, 64, 64};
  CHECK(record::group_title(other_input) != record::group_title(full));
}

TEST_CASE("emulated devices and a placement are in the title of their group, and settings of every trial") {
  auto trial = make_trial(3);
  trial.placement = {0, 0};
  trial.devices = {{.name = "pi", .cpu_quota = 0.25}};
  CHECK(support::contains(record::group_title(trial), ", emulated device pi (0.25 CPUs), "));
  CHECK(support::contains(record::group_title(trial), ", placement 0,0"));
  CHECK(record::flat_settings(trial).at("devices") == "emulated device pi (0.25 CPUs)");
  CHECK(record::flat_settings(make_trial(3)).at("devices") == "");
  trial.placement = {};
  trial.devices.push_back({});
  CHECK(support::contains(record::group_title(trial), ", emulated device pi (0.25 CPUs) | none, "));
}

TEST_CASE("groups that differ in any setting have different titles") {
  const nlohmann::json trial = make_trial(3);
  const auto settings = trial.flatten();
  for (const auto& [name, value] : settings.items()) {
    if (name == "/split_points/0" || name == "/repetition" || name == "/block_count") continue;
    INFO(name);
    auto changed = trial;
    auto& setting = changed[nlohmann::json::json_pointer(name)];
    if (value.is_string()) setting = value.get<std::string>() + "9";
    if (value.is_boolean()) setting = !value.get<bool>();
    if (value.is_number()) setting = value.get<int>() + 1;
    CHECK(record::group_title(changed.get<experiment::Trial>()) != record::group_title(make_trial(3)));
  }
}

TEST_CASE("control characters do not reach a terminal") {
  CHECK(record::printable("a\x1b[31mb\nc\x7f") == "a?[31mb?c?");
  CHECK(record::printable("résumé") == "résumé");
}

TEST_CASE("cells with commas, quotes and line breaks are quoted as RFC 4180 says") {
  CHECK(render::csv_line({"plain", "", "1.5"}) == "plain,,1.5\n");
  CHECK(render::csv_line({"a,b", "say \"hi\"", "two\nlines", "cr\r"}) ==
        "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"cr\r\"\n");
}
