#include <paretopipe/core/text.hpp>

#include <support/catch.hpp>

using paretopipe::is_utf8;

TEST_CASE("UTF-8 is told from other bytes") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("net.pt"));
  CHECK(is_utf8("r\xC3\xA9seau \xF0\x9F\x8C\x8D"));
  CHECK_FALSE(is_utf8("r\xE9seau"));     // Latin-1
  CHECK_FALSE(is_utf8("\xC3"));          // the beginning of a character
  CHECK_FALSE(is_utf8("\xC0\xAF"));      // a slash, longer than need be
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));  // half of a pair of UTF-16
}
