#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using nlohmann::json;
using support::contains;
using support::message_of;

namespace {

std::string schema_error(const json& document) {
  return message_of<UsageError>([&] { check_schema(document, 2, "thing"); });
}

bool is_understood(const json& written, const json& understood) {
  return contains(message_of<UsageError>([&] { check_understood(written, understood, "thing"); }),
                  "nothing was thrown");
}

}  // namespace

TEST_CASE("numbers that were rounded differently are equal, and no others") {
  CHECK(nearly_equal(0.1 + 0.2, 0.3));
  CHECK(nearly_equal(5, 5.0));
  CHECK(nearly_equal(0, 0.0));
  CHECK_FALSE(nearly_equal(0, 1e-300));
  CHECK_FALSE(nearly_equal(8'000'000'000, 8'000'000'000.5));
  CHECK_FALSE(nearly_equal(1.0, 1.00001));
  CHECK_FALSE(nearly_equal(1.0, -1.0));
  CHECK_FALSE(nearly_equal(18446744073709551615U, 18446744073709551614U));
  CHECK_FALSE(nearly_equal(1, true));
  CHECK_FALSE(nearly_equal("1", 1.0));
}

TEST_CASE("a schema is a whole number, and the one that is read") {
  CHECK_NOTHROW(check_schema({{"schema", 2}}, 2, "thing"));
  for (const auto& none : {json(), json::array({2}), json::object(), json{{"schema", "2"}}, json{{"schema", 2.0}}}) {
    CHECK(contains(schema_error(none), "not a paretopipe thing"));
  }
  CHECK(contains(schema_error({{"schema", 1}}), "the thing has schema 1, and this paretopipe reads schema 2; measure"));
  CHECK(contains(schema_error({{"schema", -1}}), "measure again"));
  for (const auto& newer : {json(3), json(18446744073709551615U)}) {
    CHECK(contains(schema_error({{"schema", newer}}), "use a newer paretopipe"));
  }
}

TEST_CASE("what was understood otherwise than written is told with its place") {
  const auto message = message_of<UsageError>([] {
    check_understood({{"a", {{"b", {1, 8.5}}}}}, {{"a", {{"b", {1, 8}}}}}, "thing");
  });
  CHECK(contains(message, "the thing's \"a/b/1\" is 8.5, which would be read as 8"));
  CHECK_FALSE(is_understood({{"a", true}}, {{"a", 1}}));
  CHECK_FALSE(is_understood({{"a", {1}}}, {{"a", {{"b", 1}}}}));
  CHECK(is_understood({{"a", 0.1 + 0.2}}, {{"a", 0.3}}));
}

TEST_CASE("fields that only the writer or only the reader knows are no harm") {
  CHECK(is_understood({{"a", 1}, {"later", {1, 2}}}, {{"a", 1}}));
  CHECK(is_understood({{"a", 1}}, {{"a", 1}, {"earlier", 2}}));
}
