#pragma once

namespace paretopipe::report {

/// What the reader's terminal can show.
struct TextStyle {
  int width = 80;       ///< columns
  bool colour = false;  ///< ANSI escape sequences
  bool unicode = true;  ///< UTF-8; otherwise plain ASCII
};

}  // namespace paretopipe::report
