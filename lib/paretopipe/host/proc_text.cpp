#include <paretopipe/core/text.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

namespace paretopipe::host {

namespace {

constexpr std::string_view kBlank{" \t\r\n\0", 5};

std::optional<std::string> non_empty(std::optional<std::string> text) {
  return text && !text->empty() ? text : std::nullopt;
}

std::string unquote(std::string text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream contents;
  contents << stream.rdbuf();  // unlike the iterators, it does not throw for a folder
  std::string text = std::move(contents).str();
  text.erase(text.find_last_not_of(kBlank) + 1);
  return text;
}

std::optional<std::string> find_field(std::string_view text, std::string_view key, char separator) {
  for (const auto line : split(text, '\n')) {
    const auto end = line.find(separator);
    if (end != std::string_view::npos && trimmed(line.substr(0, end), kBlank) == key) {
      return std::string(trimmed(line.substr(end + 1), kBlank));
    }
  }
  return std::nullopt;
}

std::optional<std::string> parse_os_name(std::string_view os_release) {
  for (const auto* key : {"PRETTY_NAME", "NAME"}) {
    if (const auto name = non_empty(find_field(os_release, key, '='))) return unquote(*name);
  }
  return std::nullopt;
}

namespace {

struct ArmCore {
  std::string_view implementer;
  std::string_view part;
  const char* name;
};

/// From util-linux (sys-utils/lscpu-arm.c): the cores on which people run neural networks under Linux.
constexpr std::array kArmCores{
    ArmCore{"0x41", "0xc07", "Cortex-A7"},    ArmCore{"0x41", "0xc0f", "Cortex-A15"},
    ArmCore{"0x41", "0xd03", "Cortex-A53"},   ArmCore{"0x41", "0xd04", "Cortex-A35"},
    ArmCore{"0x41", "0xd05", "Cortex-A55"},   ArmCore{"0x41", "0xd07", "Cortex-A57"},
    ArmCore{"0x41", "0xd08", "Cortex-A72"},   ArmCore{"0x41", "0xd09", "Cortex-A73"},
    ArmCore{"0x41", "0xd0a", "Cortex-A75"},   ArmCore{"0x41", "0xd0b", "Cortex-A76"},
    ArmCore{"0x41", "0xd0c", "Neoverse-N1"},  ArmCore{"0x41", "0xd0d", "Cortex-A77"},
    ArmCore{"0x41", "0xd40", "Neoverse-V1"},  ArmCore{"0x41", "0xd41", "Cortex-A78"},
    ArmCore{"0x41", "0xd42", "Cortex-A78AE"}, ArmCore{"0x41", "0xd44", "Cortex-X1"},
    ArmCore{"0x41", "0xd46", "Cortex-A510"},  ArmCore{"0x41", "0xd47", "Cortex-A710"},
    ArmCore{"0x41", "0xd48", "Cortex-X2"},    ArmCore{"0x41", "0xd49", "Neoverse-N2"},
    ArmCore{"0x41", "0xd4f", "Neoverse-V2"},  ArmCore{"0x41", "0xd80", "Cortex-A520"},
    ArmCore{"0x41", "0xd81", "Cortex-A720"},  ArmCore{"0x4e", "0x003", "Denver 2"},
    ArmCore{"0x4e", "0x004", "Carmel"},       ArmCore{"0x61", "0x022", "Icestorm-M1"},
    ArmCore{"0x61", "0x023", "Firestorm-M1"}, ArmCore{"0xc0", "0xac3", "Ampere-1"},
};

std::string name_of_core(std::string_view implementer, std::string_view part) {
  const auto found = std::find_if(kArmCores.begin(), kArmCores.end(), [&](const ArmCore& core) {
    return core.implementer == implementer && core.part == part;
  });
  if (found != kArmCores.end()) return found->name;
  return fmt::format("implementer {} part {}", implementer, part);
}

/// The kinds of cores, each once, in the order of the processors; empty if the text names none.
std::vector<std::string> arm_cores(std::string_view cpuinfo) {
  std::vector<std::string> cores;
  while (!cpuinfo.empty()) {
    // Processors are separated by an empty line.
    const auto processor = cpuinfo.substr(0, cpuinfo.find("\n\n"));
    const auto implementer = find_field(processor, "CPU implementer");
    const auto part = find_field(processor, "CPU part");
    cpuinfo.remove_prefix(std::min(cpuinfo.size(), processor.size() + 2));
    if (!implementer || !part) continue;
    const auto name = name_of_core(*implementer, *part);
    if (std::find(cores.begin(), cores.end(), name) == cores.end()) cores.push_back(name);
  }
  return cores;
}

}  // namespace

std::optional<std::string> parse_cpu_model(std::string_view cpuinfo) {
  if (auto model = non_empty(find_field(cpuinfo, "model name"))) return model;
  if (const auto cores = arm_cores(cpuinfo); !cores.empty()) return fmt::format("{}", fmt::join(cores, " + "));
  return non_empty(find_field(cpuinfo, "cpu"));
}

std::optional<std::int64_t> parse_kilobyte_field(std::string_view text, std::string_view key) {
  const auto field = find_field(text, key);
  if (!field || !field->ends_with(" kB")) return std::nullopt;
  const auto digits = trimmed(std::string_view(*field).substr(0, field->size() - 3), kBlank);
  const auto kilobytes = parse_number<std::int64_t>(digits);
  if (!kilobytes || *kilobytes < 0 || *kilobytes > std::numeric_limits<std::int64_t>::max() / 1024) return std::nullopt;
  return *kilobytes * 1024;
}

std::optional<CpuTicks> parse_ticks(std::string_view stat, std::string_view cpu) {
  std::istringstream fields(find_field(stat, cpu, ' ').value_or(""));
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  fields >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  if (!fields) return std::nullopt;
  return CpuTicks{user + nice + system + irq + softirq, steal};
}

std::optional<double> parse_load_average(std::string_view loadavg) {
  const auto value = parse_number<double>(loadavg.substr(0, loadavg.find(' ')));
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace paretopipe::host
