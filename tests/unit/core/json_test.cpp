#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using nlohmann::json;
using support::contains;
using support::message_of;

namespace {

template <class T>
T read_as(const char* text) {
  const auto object = json::parse(std::string("{\"key\": ") + text + "}");
  return ObjectReader(object, "root").require<T>("key");
}

std::string unknown_key_error(const json& object) {
  return message_of<UsageError>([&] {
    ObjectReader reader(object, "experiment");
    int batch = 0, depth = 0;
    reader.read("batch", batch);
    reader.read("depth", depth);
    reader.refuse_unknown_keys();
  });
}

}  // namespace

TEST_CASE("a missing key leaves the default alone", "[json]") {
  const json object = json::object();
  ObjectReader reader(object, "experiment");
  int batch = 7;
  reader.read("batch", batch);
  CHECK(batch == 7);
  CHECK(reader.find("splits") == nullptr);
  CHECK_NOTHROW(reader.refuse_unknown_keys());
}

TEST_CASE("a required key that is missing is named by its path", "[json]") {
  const json object = json::object();
  CHECK_THROWS_WITH(ObjectReader(object, "plan.stage").require<int>("depth"), "plan.stage.depth is missing");
}

TEST_CASE("what is not an object is refused", "[json]") {
  const json value = json::array({1, 2});
  CHECK_THROWS_WITH(ObjectReader(value, "experiment.tuning"), "experiment.tuning must be a JSON object, not array");
}

TEST_CASE("an unknown key is refused with the known ones, and a suggestion if one is close", "[json]") {
  CHECK(unknown_key_error({{"bacth", 1}}) ==
        "experiment has an unknown key \"bacth\"; known keys: batch, depth; did you mean \"batch\"?");
  CHECK(unknown_key_error({{"latency", 1}}) == "experiment has an unknown key \"latency\"; known keys: batch, depth");
  CHECK(unknown_key_error({{"", 1}}) == "experiment has an unknown key \"\"; known keys: batch, depth");
  CHECK(unknown_key_error({{"batch", 1}, {"depth", 2}}) == "(nothing was thrown)");
}

TEST_CASE("a key that was looked up raw counts as known", "[json]") {
  const json object{{"splits", "all"}};
  ObjectReader reader(object, "experiment");
  REQUIRE(reader.find("splits") != nullptr);
  CHECK(*reader.find("splits") == "all");
  CHECK_NOTHROW(reader.refuse_unknown_keys());
}

TEST_CASE("whole numbers are taken up to the limits of their type", "[json]") {
  CHECK(read_as<int>("2147483647") == 2147483647);
  CHECK(read_as<int>("-2147483648") == -2147483647 - 1);
  CHECK(read_as<std::uint64_t>("18446744073709551615") == ~std::uint64_t{0});
  CHECK(read_as<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("what is no whole number of the type is refused, not converted", "[json]") {
  const auto* text = GENERATE("2147483648", "-2147483649", "1.5", "1.0", "1e3", "true", "\"1\"", "null", "[1]", "{}",
                              "18446744073709551615", "18446744073709551616");
  CAPTURE(text);
  CHECK_THROWS_WITH(read_as<int>(text), Catch::Matchers::StartsWith("root.key has the wrong type or range: "));
}

TEST_CASE("a list whose items are no whole numbers of the type is refused, not converted", "[json]") {
  CHECK(read_as<std::vector<int>>("[1,2]") == std::vector{1, 2});
  const auto* item = GENERATE("2147483648", "1.0", "true", "null");
  CAPTURE(item);
  const auto list = std::string("[1,") + item + "]";
  CHECK_THROWS_AS(read_as<std::vector<int>>(list.c_str()), UsageError);
  CHECK_THROWS_AS(read_as<std::vector<double>>("[true]"), UsageError);
}

TEST_CASE("a negative number is not a huge unsigned one", "[json]") {
  CHECK_THROWS_AS(read_as<std::uint64_t>("-1"), UsageError);
}

TEST_CASE("a number that a program wrote as signed is read as unsigned", "[json]") {
  const json object{{"seed", 5}};
  REQUIRE_FALSE(object["seed"].is_number_unsigned());
  CHECK(ObjectReader(object, "root").require<std::uint64_t>("seed") == 5);
}

TEST_CASE("booleans, strings and fractions keep their types", "[json]") {
  CHECK(read_as<bool>("true"));
  CHECK_THROWS_AS(read_as<bool>("1"), UsageError);
  CHECK_THROWS_AS(read_as<bool>("\"true\""), UsageError);
  CHECK(read_as<std::string>("\"x\"") == "x");
  CHECK_THROWS_AS(read_as<std::string>("1"), UsageError);
  CHECK(read_as<double>("1") == 1.0);
  CHECK_THROWS_AS(read_as<double>("true"), UsageError);
  CHECK_THROWS_AS(read_as<double>("null"), UsageError);
}

TEST_CASE("an optional is written as nothing, never as null, and read back as nothing", "[json]") {
  json object = json::object();
  write_optional(object, "governor", std::optional<std::string>());
  CHECK(object.empty());
  write_optional(object, "energy", std::optional<double>(0.0));
  CHECK(object.dump() == R"({"energy":0.0})");

  std::optional<double> energy, missing = 1.0;
  read_optional(object, "energy", energy);
  read_optional(object, "missing", missing);
  CHECK(energy == 0.0);
  CHECK_FALSE(missing);
}

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

TEST_CASE("a whole number and a floating-point one are equal only if they are the same number") {
  CHECK(nearly_equal(-0x1p63, std::numeric_limits<std::int64_t>::min()));
  CHECK(nearly_equal(0x1p63, std::uint64_t{1} << 63));
  CHECK_FALSE(nearly_equal(0x1p64, 18446744073709551615U));
  CHECK_FALSE(nearly_equal(18446744073709551615U, 0x1p64));
  CHECK_FALSE(nearly_equal(0x1p63, std::numeric_limits<std::int64_t>::max()));
  CHECK_FALSE(nearly_equal(0x1p53 + 2, (std::int64_t{1} << 53) + 1));
  CHECK_FALSE(nearly_equal(-0x1p64, std::numeric_limits<std::int64_t>::min()));
  CHECK_FALSE(nearly_equal(-1, 18446744073709551615U));
  CHECK_FALSE(nearly_equal(std::numeric_limits<double>::infinity(), 18446744073709551615U));
  CHECK_FALSE(nearly_equal(std::numeric_limits<double>::quiet_NaN(), 0));
}

TEST_CASE("a number out of range is not read as the nearest one in range, as an ARM processor would have it") {
  CHECK_FALSE(is_understood({{"seed", 1.8446744073709552e+19}}, {{"seed", 18446744073709551615U}}));
  CHECK_FALSE(is_understood({{"moment", 9.223372036854775807e+18}}, {{"moment", 9223372036854775807}}));
  CHECK_FALSE(is_understood({{"batch", 1e300}}, {{"batch", 2147483647}}));
  CHECK_FALSE(is_understood({{"moment", 18446744073709551615U}}, {{"moment", -1}}));
  CHECK(is_understood({{"batch", 8.0}}, {{"batch", 8}}));
  CHECK(is_understood({{"rate", 8}}, {{"rate", 8.0}}));
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
