#include "load_records.hpp"

#include <paretopipe/core/notice.hpp>
#include <paretopipe/stats/check_summary.hpp>

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

}  // namespace paretopipe::cli
