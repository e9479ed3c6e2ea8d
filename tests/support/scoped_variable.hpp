#pragma once
#include <cstdlib>
#include <optional>
#include <string>

namespace paretopipe::support {

/// An environment variable of this process, and of the children started meanwhile, for as long as it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* former = std::getenv(name)) former_ = former;
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { former_ ? ::setenv(name_, former_->c_str(), 1) : ::unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> former_;
};

}  // namespace paretopipe::support
