#pragma once
// Catch2 as the distribution has it: v2 (Debian 12) or v3 (Debian 13).
#ifdef PARETOPIPE_CATCH2_V2
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
using Catch::Approx;
#endif

#include <string>

namespace paretopipe::support {

/// Exit statuses of every test program. Catch2's own status counts failures, so that any number could mean anything.
inline constexpr int kTestsFailed = 1;
inline constexpr int kTestsSkipped = 77;  ///< nothing failed, but something could not be tried here; CTest reports it

/// Ends the test case, which cannot be tried on this machine. Prints "SKIPPED: test case: reason", and the program
/// exits with kTestsSkipped unless a test fails. A case that may end so carries the tag [needs:…], and its program's
/// entry in CMake names it after NEEDS: CTest then runs these cases as a test of their own, and reports no other case
/// as skipped.
[[noreturn]] void skip(const std::string& reason);

/// Matches a text that has `part` in it. Catch2 v3 gave the name Contains to a matcher of elements.
inline auto containing(const std::string& part) {
#ifdef PARETOPIPE_CATCH2_V2
  return Catch::Matchers::Contains(part);
#else
  return Catch::Matchers::ContainsSubstring(part);
#endif
}

}  // namespace paretopipe::support
