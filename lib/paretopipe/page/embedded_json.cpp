#include <paretopipe/page/embedded_json.hpp>

#include <array>
#include <string_view>

namespace paretopipe::page {
namespace {

struct Escape {
  std::string_view text;
  std::string_view written;
};

constexpr std::array kEscapes{
    Escape{"<", "\\u003c"},
    Escape{">", "\\u003e"},
    Escape{"&", "\\u0026"},
    Escape{"\xe2\x80\xa8", "\\u2028"},
    Escape{"\xe2\x80\xa9", "\\u2029"},
};

const Escape* escape_at(std::string_view text) {
  for (const auto& escape : kEscapes) {
    if (text.starts_with(escape.text)) return &escape;
  }
  return nullptr;
}

}  // namespace

std::string embedded_json(const nlohmann::ordered_json& data) {
  const auto plain = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(plain.size());
  // None of these characters is part of JSON's own notation, so each one is inside a string.
  for (std::string_view rest = plain; !rest.empty();) {
    const auto* escape = escape_at(rest);
    escaped += escape ? escape->written : rest.substr(0, 1);
    rest.remove_prefix(escape ? escape->text.size() : 1);
  }
  return escaped;
}

}  // namespace paretopipe::page
