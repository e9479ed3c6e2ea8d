#include <paretopipe/core/error.hpp>
#include <paretopipe/render/plot.hpp>

#include <stdexcept>

#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "sweep.hpp"

using namespace paretopipe;
using support::contains;
using support::message_of;

namespace {

render::Plot plot_of(const std::vector<record::TrialRecord>& records, const std::vector<std::string>& objectives = {}) {
  return render::make_plot(frontier::make_frontier_report(records, frontier::parse_objectives(objectives)));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

render::Plot two_points(record::Direction x, record::Direction y) {
  return {"", {"x", "", x}, {"y", "", y}, {{"", {{1, 1, {}, {}, "a", true}, {2, 2, {}, {}, "b", true}}}}};
}

using Names = std::vector<std::string>;

Names series_names(const std::vector<record::TrialRecord>& records) {
  Names names;
  for (const auto& series : plot_of(records).series) names.push_back(series.name);
  return names;
}

/// The path of the only frontier, as its corners.
std::string path_of(const render::Plot& plot) {
  const auto svg = render::render_svg(plot);
  const auto begin = svg.find("<path d=\"") + 9;
  return svg.substr(begin, svg.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("the drawing is what its golden file says") {
  const auto svg = render::render_svg(plot_of(testing::sweep()));
  CHECK(svg == support::golden("report/frontier.svg", svg));
}

TEST_CASE("a plot has a series for each group, named by what they differ in") {
  const auto plot = plot_of(testing::sweep());
  REQUIRE(series_names(testing::sweep()) == Names{"batch 8", "batch 1"});
  CHECK(plot.series[0].points.size() == 5);  // the split that always failed is none
  CHECK(plot.series[0].points.back().x_interval.has_value());
  CHECK_FALSE(plot.series[1].points.back().x_interval.has_value());
  const std::vector<record::TrialRecord> two(2, testing::sweep().front());
  auto cut = two;
  cut[1].trial.micro_batch = 2;
  CHECK(series_names(cut) == Names{"micro_batch 8", "micro_batch 2"});
  auto slow = two;  // networks are named by their name alone
  slow[1].trial.network.name = "slow";
  slow[1].trial.network.forward.delay = std::chrono::milliseconds(20);
  slow[1].trial.shaping = experiment::Shaping::netem;
  CHECK(series_names(slow).at(1) == "slow");
  auto weights = two;  // by the first digits of their SHA-256, and those of the seed by none
  weights[1].trial.weights_sha256 = std::string(64, 'c');
  CHECK(series_names(weights) == Names{"weights_sha256 none", "weights_sha256 cccccccccccc"});
}

TEST_CASE("archives are named by their files, and where these are called the same, by what else tells them apart") {
  auto records = std::vector<record::TrialRecord>(3, testing::sweep().front());
  const auto archive = [](char digit, const std::string& cuts) {
    return experiment::Archive{.sha256 = std::string(64, digit), .input_shape = {3, 8, 8}, .cuts = cuts};
  };
  records[0].trial.model = "a.pt";
  records[0].trial.archive = archive('a', "unit");
  records[1].trial.model = "b.pt";
  records[1].trial.archive = archive('b', "unit");
  CHECK(series_names(records) == Names{"a.pt", "b.pt", "resnet18, num_classes 10"});
  records[1].trial.model = "a.pt";
  records.pop_back();
  CHECK(series_names(records) == Names{"archive_sha256 aaaaaaaaaaaa", "archive_sha256 bbbbbbbbbbbb"});
  records[1].trial.archive = archive('a', "all");
  CHECK(series_names(records) == Names{"archive_cuts unit", "archive_cuts all"});
}

TEST_CASE("one group needs no name and no legend") {
  const auto plot = plot_of({testing::sweep().front()});
  CHECK(plot.series.at(0).name.empty());
  CHECK(count(render::render_svg(plot), "<circle") == 1);
}

TEST_CASE("the frontier's line is the border of what it beats, whichever way is good") {
  using D = record::Direction;
  // Columns and rows of the values 1 and 2: the axes go from 1 to 2.
  CHECK(path_of(two_points(D::min, D::max)) == "M96.0,424.0L96.0,424.0L96.0,424.0L736.0,424.0L736.0,40.0L736.0,40.0");
  CHECK(path_of(two_points(D::max, D::min)) == "M736.0,40.0L736.0,40.0L736.0,40.0L96.0,40.0L96.0,424.0L96.0,424.0");
}

TEST_CASE("more groups than colours, one objective, and more series than colours are refused") {
  std::vector<record::TrialRecord> records;
  for (int batch = 1; batch <= 8; ++batch) {
    records.push_back(testing::sweep().front());
    records.back().trial.batch = batch;
  }
  CHECK(contains(message_of<UsageError>([&] { plot_of(records); }), "8 frontiers cannot be told apart"));
  records.pop_back();
  CHECK(plot_of(records).series.size() == 7);
  CHECK_THROWS_AS(plot_of(records, {"latency_p50"}), UsageError);
  render::Plot plot;
  plot.series.resize(8);
  CHECK_THROWS_AS(render::render_svg(plot), std::invalid_argument);
}

TEST_CASE("hostile names add no markup to the drawing") {
  auto records = testing::sweep();
  const auto plain = render::render_svg(plot_of(records));
  for (auto& record : records) {
    record.trial.model = "</title><script>alert(1)</script>&\x1b\xef\xbf\xbe";
    record.trial.network.name = "\"><image href='x'/>";
  }
  records.back().trial.model = "other";
  const auto svg = render::render_svg(plot_of(records));
  for (const auto* opening : {"<title", "<script", "<image", "</"}) CHECK(count(svg, opening) == count(plain, opening));
  CHECK(contains(svg, "&lt;script&gt;"));
  for (const auto* forbidden : {"\x1b", "\xef\xbf\xbe"}) CHECK_FALSE(contains(svg, forbidden));
}

TEST_CASE("500 points and equal ones draw a mark each, and labels only where there is room") {
  render::Plot plot{"", {"x", "ns"}, {"y", "image/s"}, {{"", {}}}};
  for (int i = 0; i < 500; ++i) plot.series[0].points.push_back({1e6, 10, {}, {}, "label", true});
  const auto svg = render::render_svg(plot);
  CHECK(count(svg, "<circle") == 500);
  CHECK(count(svg, ">label<") == 4);
  CHECK_FALSE(contains(svg, "nan"));
}
