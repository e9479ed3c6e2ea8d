#pragma once
// Catch2 as the distribution has it: v2 (Debian 12) or v3 (Debian 13).
#ifdef PARETOPIPE_CATCH2_V2
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
using Catch::Approx;
#endif
