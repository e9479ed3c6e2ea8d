#include <paretopipe/host/proc_text.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::host {

namespace {

constexpr std::string_view kBlank{" \t\r\n\0", 5};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

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
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const auto split = line.find(separator);
    if (split != std::string_view::npos && trim(line.substr(0, split)) == key) {
      return std::string(trim(line.substr(split + 1)));
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return std::nullopt;
}

std::optional<std::string> parse_os_name(std::string_view os_release) {
  for (const auto* key : {"PRETTY_NAME", "NAME"}) {
    if (const auto name = non_empty(find_field(os_release, key, '='))) return unquote(*name);
  }
  return std::nullopt;
}

std::optional<std::string> parse_cpu_model(std::string_view cpuinfo) {
  for (const auto* key : {"model name", "Model", "cpu"}) {
    if (auto model = non_empty(find_field(cpuinfo, key))) return model;
  }
  const auto implementer = find_field(cpuinfo, "CPU implementer");
  const auto part = find_field(cpuinfo, "CPU part");
  if (!implementer || !part) return std::nullopt;
  return fmt::format("implementer {} part {}", *implementer, *part);
}

std::optional<std::int64_t> parse_kilobyte_field(std::string_view text, std::string_view key) {
  const auto field = find_field(text, key);
  if (!field || !field->ends_with(" kB")) return std::nullopt;
  const auto kilobytes = parse_integer(trim(std::string_view(*field).substr(0, field->size() - 3)));
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
  double value = 0;
  const auto [rest, error] = std::from_chars(loadavg.data(), loadavg.data() + loadavg.size(), value);
  const bool ends_there = rest == loadavg.data() + loadavg.size() || *rest == ' ';
  if (error != std::errc{} || !ends_there || !(value >= 0)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace paretopipe::host
