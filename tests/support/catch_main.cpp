// The main function of every test program, and how a test says that it cannot be tried here.
#define CATCH_CONFIG_RUNNER
#include <cstdio>

#include <support/catch.hpp>

namespace paretopipe::support {
namespace {

int skipped_cases = 0;

}  // namespace

void skip(const std::string& reason) {
  ++skipped_cases;
  std::printf("SKIPPED: %s: %s\n", Catch::getResultCapture().getCurrentTestName().c_str(), reason.c_str());
#ifdef PARETOPIPE_CATCH2_V2
  throw Catch::TestFailureException();  // ends the case, as a failed REQUIRE does, and counts no failure by itself
#else
  Catch::throw_test_skip_exception();
#endif
}

}  // namespace paretopipe::support

int main(int argc, char* argv[]) {
  using namespace paretopipe::support;
  const int failures = Catch::Session().run(argc, argv);
#ifndef PARETOPIPE_CATCH2_V2
  constexpr int kAllSkipped = 4;
  if (failures == kAllSkipped && skipped_cases > 0) return kTestsSkipped;
#endif
  if (failures != 0) return kTestsFailed;
  return skipped_cases > 0 ? kTestsSkipped : 0;
}
