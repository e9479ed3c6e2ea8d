#pragma once
#include <paretopipe/analysis/predict/profile.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Where a guided sweep keeps the profile that it made: profile.json beside its records.
std::filesystem::path profile_beside(const std::filesystem::path& records);

/// --profile FILE, for predictions beside measurements.
void add_profiles_option(CLI::App& command, std::vector<std::string>& profiles);

/// The profiles in these files, or else the one beside the records, if there is one. Throws UsageError, also if `out`,
/// which will be written, is one of them.
std::vector<predict::Profile> load_profiles(std::vector<std::string> files, const std::filesystem::path& records,
                                            const std::filesystem::path& out);

}  // namespace paretopipe::cli
