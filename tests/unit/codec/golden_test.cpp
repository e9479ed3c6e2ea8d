#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/files.hpp"
#include "there_and_back.hpp"

using namespace paretopipe::codec;
using namespace paretopipe::codec::testing;

namespace {

template <class Value>
std::vector<Value> read(const nlohmann::json& json) {
  const auto hex = json.get<std::string>();
  std::vector<Value> values(hex.size() / 2 / sizeof(Value));
  auto* byte = reinterpret_cast<unsigned char*>(values.data());
  for (std::size_t i = 0; i < hex.size(); i += 2)
    *byte++ = static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return values;
}

bool is_level(const std::vector<std::byte>& body, std::size_t groups, float value) {
  const auto levels = floats_at_the_front(body, 2 * groups);
  for (std::size_t group = 0; group < groups; ++group) {
    if (levels[2 * group] == value) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every codec makes of a tensor what an independent program in Python makes of it by the definition") {
  const auto file = paretopipe::support::read_file(PARETOPIPE_SOURCE_DIR "/tests/golden/codec/codecs.json");
  for (const auto& tensor : nlohmann::json::parse(file)) {
    const auto values = read<float>(tensor.at("values"));
    const Layout layout{Element::float32, values.size(), tensor.at("channels").get<std::size_t>(),
                        tensor.at("stride").get<std::size_t>()};
    for (const auto& [name, made] : tensor.at("codecs").items()) {
      CAPTURE(tensor.at("name").get<std::string>(), name);
      const auto codec = parse(name);
      const auto golden = read<std::byte>(made.at("body"));
      const auto restored = read<float>(made.at("decoded"));
      CHECK(decoded<float>(codec, layout, golden) == restored);
      const auto body = encoded(codec, layout, std::as_bytes(std::span(values)));
      CHECK(most_bytes(codec, layout) == golden.size());
      REQUIRE(body.size() == golden.size());
      if (!name.starts_with("sort")) {
        CHECK(body == golden);
        continue;
      }
      // The definition leaves open in which of two groups a value is that ends one and begins the other. Ours is the
      // one in which it comes back as it was.
      const auto groups = name == "sort16" ? 16UL : name.starts_with("sort12") ? 8UL : name == "sort8" ? 4UL : 2UL;
      CHECK(std::equal(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(8 * groups), golden.begin()));
      const auto own = decoded<float>(codec, layout, body);
      std::size_t other = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool tie = is_level(golden, groups, values[i]);
        other += tie ? own[i] != values[i] : own[i] != restored[i];
      }
      CHECK(other == 0);
    }
  }
}
