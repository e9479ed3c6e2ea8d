#include <paretopipe/config/json_file.hpp>
#include <paretopipe/config/network_profile.hpp>
#include <paretopipe/config/shipped_files.hpp>
#include <paretopipe/core/suggest.hpp>

#include <algorithm>

#include <fmt/ranges.h>

namespace paretopipe::config {
namespace {

bool is_file_name(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& file : shipped_network_files()) names.emplace_back(file.name);
  return names;
}

}  // namespace

NetworkProfile load_network_profile(const std::string& name_or_file) {
  if (is_file_name(name_or_file)) {
    const std::filesystem::path file(name_or_file);
    const auto json = read_json_file(file, "network profile");
    return naming_file(file, [&] { return network_profile_from_json(json, file.stem().string()); });
  }
  for (const auto& [name, text] : shipped_network_files()) {
    if (name == name_or_file) return network_profile_from_json(parse_json_text(std::string(text)), name_or_file);
  }
  const auto names = shipped_names();
  throw UsageError(fmt::format("there is no network profile \"{}\"{}; known are {}, or a file, as in ./{}.json",
                               name_or_file, did_you_mean(name_or_file, names), fmt::join(names, ", "), name_or_file));
}

std::vector<ShippedNetwork> shipped_networks() {
  std::vector<ShippedNetwork> networks;
  for (const auto& [name, text] : shipped_network_files()) {
    const auto json = parse_json_text(std::string(text));
    networks.push_back({std::string(name), json.value("description", "")});
  }
  return networks;
}

}  // namespace paretopipe::config
