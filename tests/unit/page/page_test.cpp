#include <paretopipe/core/error.hpp>
#include <paretopipe/render/page/page.hpp>
#include <paretopipe/render/page/page_data.hpp>

#include <span>
#include <string>
#include <utility>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../calibration/perfect.hpp"
#include "../render/sweep.hpp"

using namespace paretopipe;
using support::contains;

namespace {

/// Without the charting library there is nothing but a refusal (without_charts_test.cpp).
void need_charts() {
  try {
    page::require_renderer();
  } catch (const EnvironmentError& error) {
    support::skip(error.what());
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// What stands in the element that holds the data.
std::string data_in(const std::string& html) {
  const std::string opening = "id=\"data\">";
  const auto begin = html.find(opening) + opening.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

}  // namespace

TEST_CASE("the page holds the data that it was given", "[needs:charts]") {
  need_charts();
  const auto data = page::make_page_data(testing::sweep());
  CHECK(nlohmann::ordered_json::parse(data_in(page::render_page(data))) == data);
}

TEST_CASE("the page asks for nothing from elsewhere, and forbids it", "[needs:charts]") {
  need_charts();
  const auto html = page::render_page(page::make_page_data(testing::sweep()));
  const auto policy = html.substr(0, html.find("<style>"));
  CHECK(contains(policy, "default-src 'none'; script-src 'sha256-"));
  CHECK(count(policy, "'sha256-") == 2);
  CHECK_FALSE(contains(html, "@@"));
  CHECK(count(html, "<script>") == 2);
  const auto markup = html.substr(0, html.find("<script"));
  for (const auto* reference : {" src=", "<link", "url(", "@import"}) CHECK(count(markup, reference) == 0);
}

TEST_CASE("hostile strings of records and of a data sheet add no markup to the page", "[needs:charts]") {
  need_charts();
  const std::string hostile = "</script><img src=x onerror=alert(1)>@@scripts@@<!--";
  auto records = testing::sweep();
  const auto plain = page::render_page(page::make_page_data(records));
  auto sheet = testing::sheet_of(calibration::quick_grid(), {});
  sheet.provenance = {hostile, hostile, {hostile}, hostile};
  sheet.conditions.host.hostname = sheet.conditions.host.kernel = hostile;
  sheet.conditions.findings = {{hostile, host::Level::warning, hostile, hostile, hostile}};
  for (auto& cell : sheet.cells) cell.failures = cell.disturbances = {hostile};
  for (auto& record : records) {
    record.trial.model = hostile;
    record.trial.network.name = hostile;
    record.provenance.command_line = {hostile};
    for (auto& stage : record.stages) stage.host.hostname = hostile;
    if (record.failure) record.failure->reason = hostile;
  }
  auto replaced = testing::make_failure(records[0].trial, hostile);
  const auto html = page::render_page(
      page::make_page_data(records, {.replaced = std::span(&replaced, 1), .data_sheet = std::move(sheet)}));
  for (const auto* opening : {"<script", "</script", "<img", "<!--"})
    CHECK(count(html, opening) == count(plain, opening));
}
