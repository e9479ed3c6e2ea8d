#include <paretopipe/render/page/page.hpp>

#include <support/catch.hpp>

#include "prediction.hpp"

using namespace paretopipe;

TEST_CASE("the page of a prediction has every split with its bands, its parts, and what bounds it") {
  const auto data = page::make_page_data(testing::a_prediction(), testing::a_profile());
  CHECK(data.at("predicted") == true);
  const auto& group = data.at("groups").at(0);
  CHECK(group.at("headline").get<std::string>().starts_with("PREDICTED, not measured: chain, batch 2"));
  REQUIRE(group.at("splits").size() == 2);
  const auto& local = group.at("splits").at(0);
  CHECK(local.at("split") == "local");
  CHECK(local.at("breakdown").size() == 1);
  CHECK(local.at("metrics").at("payload") == nlohmann::ordered_json::array({0}));
  const auto& cut = group.at("splits").at(1);
  CHECK(cut.at("split") == "2 uniform8");
  CHECK(cut.at("label") == "2 uniform8: 0-1 on pi | 2-3 on server");
  CHECK(cut.at("on_frontier") == true);
  CHECK(cut.at("bound_by") == "stage 0");
  CHECK(cut.at("metrics").at("latency_p50") == nlohmann::ordered_json::array({41e6, 40e6, 44e6}));
  CHECK(cut.at("metrics").at("payload") == nlohmann::ordered_json::array({1000}));  // results go back beside it
  double parts_ns = 0;
  for (const auto& part : cut.at("breakdown")) parts_ns += part.at("ns").get<double>();
  CHECK(parts_ns == Approx(41e6));
  CHECK(cut.at("utilisation").at(0) == Approx(1));
  CHECK(cut.at("utilisation").at(1) == Approx(0.4));
  CHECK(data.at("provenance").at("profiles").at(0).get<std::string>().find("pi (Cortex-A76, CPUs 0)") !=
        std::string::npos);
}
