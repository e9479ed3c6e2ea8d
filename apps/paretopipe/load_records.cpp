#include "load_records.hpp"

#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>

#include <cstdio>

#include <fmt/format.h>

namespace paretopipe::cli {

void print_warnings(std::span<const std::string> warnings) {
  for (const auto& warning : warnings) print_notice("warning: {}\n", warning);
}

record::RecordSet load_records(const std::filesystem::path& path) {
  auto set = record::read_records(path, stats::check_summary);
  print_warnings(set.warnings);
  return set;
}

void check_not_replaced(const std::filesystem::path& source, const std::filesystem::path& out) {
  std::error_code unknown;
  const auto file = std::filesystem::is_directory(source, unknown) ? source / record::kRecordsFileName : source;
  if (out.empty() || !std::filesystem::equivalent(file, out, unknown)) return;
  throw UsageError(fmt::format("{} is what is read, and would be lost; choose another file to write to", out.string()));
}

}  // namespace paretopipe::cli
