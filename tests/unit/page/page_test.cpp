#include <paretopipe/core/error.hpp>
#include <paretopipe/render/page/page.hpp>

#include <span>
#include <string>
#include <utility>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../calibration/perfect.hpp"
#include "../render/sweep.hpp"

using namespace paretopipe;
using support::contains;
using Json = nlohmann::ordered_json;

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

namespace {

std::string embedded(const std::string& text) {
  return page::embedded_json(Json{{"key", text}});
}

}  // namespace

TEST_CASE("no string can end the element that holds the data, or open a comment in it") {
  for (const std::string hostile :
       {"</script><script>alert(1)</script>", "<!--<script>", "]]>", "-->", "</SCRIPT\t>"}) {
    const auto text = embedded(hostile);
    CHECK_FALSE(contains(text, "<"));
    CHECK_FALSE(contains(text, ">"));
    CHECK(Json::parse(text).at("key") == hostile);
  }
  const auto key = page::embedded_json(Json{{"</script>", 1}});
  CHECK_FALSE(contains(key, "<"));
  CHECK(Json::parse(key).at("</script>") == 1);
}

TEST_CASE("what is embedded is read back as it was, with line ends and references as escapes") {
  CHECK(embedded("&lt;") == R"({"key":"\u0026lt;"})");
  CHECK(embedded("a\xe2\x80\xa8z\xe2\x80\xa9") == R"({"key":"a\u2028z\u2029"})");
  CHECK(page::embedded_json(Json::object()) == "{}");
  for (const std::string& text :
       {std::string(R"(\u003c \\u003c \")"), std::string("\\<"),
        std::string("\0\x01\x1b\x7f\n", 5) + "\u00e9\u4e2d\U0001f600\xe2\x80\xa7\xe2\x80\xaa"}) {
    CHECK(Json::parse(embedded(text)).at("key") == text);
  }
  CHECK(Json::parse(embedded("a\xff\xe2\x80")).at("key") == "a\xef\xbf\xbd\xef\xbf\xbd");
}
