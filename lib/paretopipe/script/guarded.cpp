#include <paretopipe/script/guarded.hpp>

#include <algorithm>
#include <string_view>

#include <c10/util/Exception.h>

namespace paretopipe::script {

std::string reason_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const c10::Error*>(&error);
  std::string_view text = ours != nullptr ? ours->what_without_backtrace() : error.what();
  // In the interpreter's message, the operator's message follows the lines of code that led to it.
  constexpr std::string_view kLast = "RuntimeError: ";
  if (const auto last = text.rfind(kLast); last != text.npos) text.remove_prefix(last + kLast.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.remove_suffix(1);
  return text.empty() ? "LibTorch gives no reason" : std::string(text);
}

}  // namespace paretopipe::script
