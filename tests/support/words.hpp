#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace paretopipe::support {

/// What a person types: words between blanks, or between single quotes.
class Words : public std::vector<std::string> {
 public:
  Words(const std::string& line) {
    for (std::size_t begin = line.find_first_not_of(' '); begin < line.size();) {
      const bool quoted = line[begin] == '\'';
      const auto first = begin + (quoted ? 1 : 0);
      const auto end = std::min(line.find(quoted ? '\'' : ' ', first), line.size());
      push_back(line.substr(first, end - first));
      begin = line.find_first_not_of(' ', end + (quoted ? 1 : 0));
    }
  }
  Words(const char* line) : Words(std::string(line)) {}
};

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace paretopipe::support
