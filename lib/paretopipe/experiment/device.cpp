#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/device.hpp>
#include <paretopipe/experiment/device_profile.hpp>
#include <paretopipe/experiment/json_file.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include <arpa/inet.h>

namespace paretopipe::experiment {

namespace {

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const auto host = text.substr(0, text.find('%'));  // fe80::1%eth0
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

/// A destination that begins with a dash would be an option of ssh.
void check_destination(const std::string& destination, const std::string& path) {
  if (!destination.empty() && destination.front() != '-' && is_utf8(destination) &&
      destination.find_first_of(" \t\n") == std::string::npos) {
    return;
  }
  throw UsageError(
      fmt::format("{} is \"{}\"; write it like pi@10.0.0.7, or name a host of your ssh_config", path, destination));
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_number<std::uint16_t>(text);
  return port && *port > 0 ? port : std::nullopt;
}

/// "47000-47010", or one port.
void read_ports(Device& device, const std::string& text, const std::string& path) {
  const auto dash = text.find('-');
  const auto first = parse_port(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : parse_port(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first > *last) {
    throw UsageError(fmt::format("{} is \"{}\"; write it like 47000-47010", path, text));
  }
  device.first_port = *first;
  device.last_port = *last;
}

/// The words of a command. A text is split at its blanks; whatever needs blanks inside of a word is written as a list.
std::vector<std::string> words_of(const nlohmann::json& command, const std::string& node, const std::string& path) {
  std::vector<std::string> words;
  if (command.is_string()) {
    std::istringstream text(command.get<std::string>());
    for (std::string word; text >> word;) words.push_back(word);
  } else if (command.is_array() &&
             std::all_of(command.begin(), command.end(), [](const auto& item) { return item.is_string(); })) {
    words = command.get<std::vector<std::string>>();
  }
  if (words.empty()) throw UsageError(fmt::format("{} must be a command, as a text or as a list of words", path));
  constexpr std::string_view kNode = "{node}";
  for (auto& word : words) {
    for (auto at = word.find(kNode); at != std::string::npos; at = word.find(kNode, at + node.size())) {
      word.replace(at, kNode.size(), node);
    }
  }
  return words;
}

void check(const Device& device, const std::string& path) {
  if (!device.ssh.empty() && !device.launch.empty()) {
    throw UsageError(fmt::format("{} has \"ssh\" and \"launch\"; a device is started in one way", path));
  }
  if (device.name != kLocalDevice && device.local()) {
    throw UsageError(
        fmt::format("{} says nothing of how a process is started there; give it \"ssh\" or \"launch\"", path));
  }
  if (device.name == kLocalDevice && !device.local()) {
    throw UsageError(fmt::format("{} is the name of this machine, which needs no launcher", path));
  }
  with_prefix(path + ": ", [&] {
    if (!device.cpus.empty()) host::parse_cpu_list(device.cpus);
    if (!device.compute.empty()) parse_compute_device(device.compute);
    if (!device.profile.empty()) load_device_profile(device.profile);
  });
  if (!device.address.empty() && !is_ip_address(device.address)) {
    throw UsageError(fmt::format(
        "{}.address is \"{}\"; it must be an IP address, for a device looks its own name up in its own files "
        "(Debian's say 127.0.1.1)",
        path, device.address));
  }
  if (device.threads && (*device.threads < 1 || *device.threads > 1024)) {
    throw UsageError(fmt::format("{}.threads is {}; it must be 1 to 1024", path, *device.threads));
  }
}

Device read_device(const std::string& name, const nlohmann::json& json, const std::filesystem::path& folder) {
  const auto path = fmt::format("devices.{}", name);
  ObjectReader reader(json, path);
  Device device;
  device.name = name;
  std::string ports;
  reader.read("ssh", device.ssh);
  if (const auto* launch = reader.find("launch")) device.launch = words_of(*launch, name, path + ".launch");
  reader.read("address", device.address);
  reader.read("ports", ports);
  reader.read("program", device.program);
  reader.read("cpus", device.cpus);
  if (reader.find("threads") != nullptr) reader.read("threads", device.threads.emplace());
  reader.read("compute", device.compute);
  reader.read("profile", device.profile);
  if (names_profile_file(device.profile)) device.profile = (folder / device.profile).string();
  reader.refuse_unknown_keys();
  if (!ports.empty()) read_ports(device, ports, path + ".ports");
  if (!device.ssh.empty()) check_destination(device.ssh, path + ".ssh");
  check(device, path);
  return device;
}

/// A name that says how it is reached; none for other names.
std::optional<Device> device_of_destination(const std::string& name) {
  constexpr std::string_view kPrefix = "ssh:";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  Device device;
  device.name = name;
  device.ssh = name.starts_with("ssh://") ? name : name.substr(kPrefix.size());
  check_destination(device.ssh, "--on " + name);
  return device;
}

}  // namespace

std::vector<Device> devices_from_json(const nlohmann::json& json, const std::filesystem::path& folder) {
  if (!json.is_object()) throw UsageError("devices must be a JSON object, whose keys are the devices' names");
  std::vector<Device> devices;
  for (const auto& [name, value] : json.items()) devices.push_back(read_device(name, value, folder));
  return devices;
}

std::vector<Device> load_devices(const std::filesystem::path& file) {
  return with_prefix(file.string() + ": ",
                     [&] { return devices_from_json(read_json_file(file, "the devices file"), file.parent_path()); });
}

std::filesystem::path users_devices_file() {
  const auto folder_in = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  auto folder = folder_in("XDG_CONFIG_HOME");
  if (folder.empty() && !folder_in("HOME").empty()) folder = folder_in("HOME") / ".config";
  return folder.empty() ? folder : folder / "paretopipe" / "devices.json";
}

namespace {

std::filesystem::path devices_source(const std::filesystem::path& file) {
  return file.empty() ? users_devices_file() : file;
}

}  // namespace

std::vector<Device> known_devices(const std::filesystem::path& file) {
  const auto source = devices_source(file);
  std::error_code unknown;
  std::vector<Device> known;
  if (!file.empty() || std::filesystem::exists(source, unknown)) known = load_devices(source);
  const auto local = std::find_if(known.begin(), known.end(), [](const auto& device) { return device.local(); });
  if (local == known.end()) {
    known.insert(known.begin(), Device{});
  } else {
    std::rotate(known.begin(), local, local + 1);
  }
  return known;
}

std::vector<Device> find_devices(const std::vector<std::string>& names, const std::filesystem::path& file) {
  const auto source = devices_source(file);
  const auto known = known_devices(file);
  std::vector<Device> found;
  for (const auto& name : names) {
    const auto device = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (device != known.end()) {
      found.push_back(*device);
      continue;
    }
    if (auto direct = device_of_destination(name)) {
      found.push_back(*std::move(direct));
      continue;
    }
    std::vector<std::string> choices;
    for (const auto& one : known) choices.push_back(one.name);
    throw UsageError(fmt::format("there is no device \"{}\" in {}; known: {}, or ssh:USER@HOST{}", name,
                                 source.empty() ? "any devices file" : source.string(), fmt::join(choices, ", "),
                                 did_you_mean(name, choices)));
  }
  return found;
}

}  // namespace paretopipe::experiment
