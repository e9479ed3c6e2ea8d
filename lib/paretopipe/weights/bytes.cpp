#include <paretopipe/weights/bytes.hpp>

#include <nlohmann/json.hpp>

namespace paretopipe::weights {

std::string in_quotes(std::string_view name) {
  constexpr std::size_t kLongest = 120;
  const auto text = nlohmann::json(name.substr(0, kLongest))
                        .dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  return name.size() > kLongest ? fmt::format("{}...", text) : text;
}

}  // namespace paretopipe::weights
