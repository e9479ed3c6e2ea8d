#include "load_profiles.hpp"

#include <paretopipe/record/store.hpp>

#include "terminal.hpp"

namespace paretopipe::cli {

std::filesystem::path profile_beside(const std::filesystem::path& records) {
  return record::records_file(records).parent_path() / "profile.json";
}

void add_profiles_option(CLI::App& command, std::vector<std::string>& profiles) {
  add_repeatable(command, "--profile", profiles, "FILE",
                 "Set predictions from this file of `paretopipe profile` beside what was measured; repeatable "
                 "(profile.json beside the records, if there is one)");
}

std::vector<predict::Profile> load_profiles(std::vector<std::string> files, const std::filesystem::path& records,
                                            const std::filesystem::path& out) {
  std::error_code unknown;
  const auto beside = profile_beside(records);
  if (files.empty() && std::filesystem::exists(beside, unknown)) files.push_back(beside);
  std::vector<predict::Profile> profiles;
  for (const auto& file : files) {
    check_not_replaced(file, out);
    profiles.push_back(predict::load_profile(file));
  }
  return profiles;
}

}  // namespace paretopipe::cli
