#include <paretopipe/run/pipeline_executor.hpp>

#include <support/catch.hpp>

using namespace paretopipe;
using std::chrono::seconds;

TEST_CASE("stages are started again at once, and after failures in a row with pauses that double up to a minute") {
  std::vector<Nanoseconds> pauses;
  for (int failed = 0; failed <= 8; ++failed) pauses.push_back(run::pause_before_start(failed));
  CHECK(pauses == std::vector<Nanoseconds>{seconds(0), seconds(1), seconds(2), seconds(4), seconds(8), seconds(16),
                                           seconds(32), seconds(60), seconds(60)});
  CHECK(run::pause_before_start(1'000'000) == seconds(60));
}
