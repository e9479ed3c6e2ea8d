#pragma once
#include <string_view>

namespace paretopipe::page {

/// The page's parts as they were when the library was built.
struct Assets {
  std::string_view html;           ///< web/page.html, with its @@places@@
  std::string_view style;          ///< web/page.css
  std::string_view scripts;        ///< web/*.js, one after the other
  std::string_view echarts;        ///< the charting library's script; empty, as all below, in a build without it
  std::string_view notice;         ///< its notice
  std::string_view licence;        ///< its licence
  std::string_view script_hashes;  ///< of both scripts, for the Content-Security-Policy
};

/// The build writes the definition (scripts/cmake/EmbedPage.cmake).
const Assets& assets();

}  // namespace paretopipe::page
