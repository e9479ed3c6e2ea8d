#include <paretopipe/render/page/page.hpp>

#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using support::contains;
using Json = nlohmann::ordered_json;

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
}

TEST_CASE("keys are escaped as values are") {
  const auto text = page::embedded_json(Json{{"</script>", 1}});
  CHECK_FALSE(contains(text, "<"));
  CHECK(Json::parse(text).at("</script>") == 1);
}

TEST_CASE("character references and JavaScript's own line ends are written as escapes") {
  CHECK(embedded("&lt;") == R"({"key":"\u0026lt;"})");
  CHECK(embedded("a\xe2\x80\xa8z\xe2\x80\xa9") == R"({"key":"a\u2028z\u2029"})");
}

TEST_CASE("what looks like an escape already stays what it is") {
  const std::string text = R"(\u003c \\u003c \")";
  CHECK(Json::parse(embedded(text)).at("key") == text);
  CHECK(Json::parse(embedded("\\<")).at("key") == "\\<");
}

TEST_CASE("control characters, other alphabets and neighbours of the escaped line ends pass unharmed") {
  const std::string text = std::string("\0\x01\x1b\x7f\n", 5) + "\u00e9\u4e2d\U0001f600\xe2\x80\xa7\xe2\x80\xaa";
  CHECK(Json::parse(embedded(text)).at("key") == text);
}

TEST_CASE("bytes that are not UTF-8 become replacement characters") {
  CHECK(Json::parse(embedded("a\xff\xe2\x80")).at("key") == "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("an empty document is one") {
  CHECK(page::embedded_json(Json::object()) == "{}");
}
