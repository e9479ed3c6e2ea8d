// The page of a build without the charting library: this file's assets stand in for those that the build embeds.
#include <paretopipe/core/error.hpp>
#include <paretopipe/render/page/assets.hpp>
#include <paretopipe/render/page/page.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;

const page::Assets& page::assets() {
  static const Assets parts{.html = "<!doctype html>@@data@@",
                            .style = {},
                            .scripts = "'use strict';",
                            .echarts = {},
                            .notice = {},
                            .licence = {},
                            .script_hashes = {}};
  return parts;
}

TEST_CASE("without the charting library no page is rendered, and the refusal says what is missing and how to get it") {
  for (const auto refused : {+[] { page::require_renderer(); }, +[] { page::render_page({}); }}) {
    const auto message = support::message_of<EnvironmentError>(refused);
    CHECK(support::contains(message, "built without Apache ECharts"));
    CHECK(support::contains(message, "scripts/fetch-echarts"));
  }
}
