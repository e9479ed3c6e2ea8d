#include <paretopipe/core/error.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/render/page/page.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "assets.hpp"

namespace paretopipe::page {

namespace {

struct Escape {
  std::string_view text;
  std::string_view written;
};

/// For a string of JSON in an element.
constexpr std::array kEscapesInJson{
    Escape{"<", "\\u003c"},
    Escape{">", "\\u003e"},
    Escape{"&", "\\u0026"},
    Escape{"\xe2\x80\xa8", "\\u2028"},
    Escape{"\xe2\x80\xa9", "\\u2029"},
};

/// For the text of an element.
constexpr std::array kEscapesInText{Escape{"<", "&lt;"}, Escape{"&", "&amp;"}};

std::string escaped(std::string_view text, std::span<const Escape> escapes) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto escape =
        std::find_if(escapes.begin(), escapes.end(), [&](const auto& each) { return text.starts_with(each.text); });
    const bool plain = escape == escapes.end();
    result += plain ? text.substr(0, 1) : escape->written;
    text.remove_prefix(plain ? 1 : escape->text.size());
  }
  return result;
}

}  // namespace

std::string embedded_json(const nlohmann::ordered_json& data) {
  // None of the escaped characters is part of JSON's own notation, so each one is inside a string.
  return escaped(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), kEscapesInJson);
}

namespace {

constexpr std::string_view kMark = "@@";

struct Part {
  std::string_view place;
  std::string_view text;
};

/// Replaces every @@place@@ by its part. Inserted text is not searched for places again.
std::string filled(std::string_view html, std::span<const Part> parts) {
  std::string page;
  while (true) {
    const auto begin = html.find(kMark);
    page += html.substr(0, begin);
    if (begin == std::string_view::npos) return page;
    html.remove_prefix(begin + kMark.size());
    const auto end = html.find(kMark);
    const auto name = html.substr(0, end);
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.place == name; });
    if (end == std::string_view::npos || part == parts.end()) {
      throw std::logic_error(fmt::format("page.html has no part for its place {}", name));
    }
    page += part->text;
    html.remove_prefix(end + kMark.size());
  }
}

}  // namespace

void require_renderer() {
  if (!assets().echarts.empty()) return;
  throw EnvironmentError(
      "a report page cannot be written: this paretopipe was built without Apache ECharts, which draws its charts. Run "
      "scripts/fetch-echarts where npm and a network are, then build again");
}

std::string render_page(const nlohmann::ordered_json& data) {
  require_renderer();
  const auto& parts = assets();
  const auto json = embedded_json(data);
  const auto writer = escaped(fmt::format("paretopipe {} ({})", version(), git_state()), kEscapesInText);
  const auto notice = escaped(parts.notice, kEscapesInText);
  const auto licence = escaped(parts.licence, kEscapesInText);
  const std::vector<Part> places{{"script_hashes", parts.script_hashes},
                                 {"style", parts.style},
                                 {"writer", writer},
                                 {"notice", notice},
                                 {"licence", licence},
                                 {"data", json},
                                 {"echarts", parts.echarts},
                                 {"scripts", parts.scripts}};
  return filled(parts.html, places);
}

}  // namespace paretopipe::page
