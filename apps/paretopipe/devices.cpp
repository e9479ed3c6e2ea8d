#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/device.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/deploy.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/render/table.hpp>
#include <paretopipe/run/data_address.hpp>
#include <paretopipe/run/device_check.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

using experiment::Device;

struct DevicesOptions {
  std::vector<std::string> names;
  std::string file;
  std::string format = "text";
};

std::vector<Device> chosen_devices(const DevicesOptions& options) {
  auto names = options.names;
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    throw UsageError(fmt::format("the device {} is named twice", *twice));
  }
  return options.names.empty() ? experiment::known_devices(options.file)
                               : experiment::find_devices(options.names, options.file);
}

std::string way_to(const Device& device) {
  if (device.local()) return "this machine";
  return device.ssh.empty() ? fmt::format("{}", fmt::join(device.launch, " ")) : "ssh " + device.ssh;
}

std::string ports_of(const Device& device) {
  return device.first_port == 0 ? "any" : fmt::format("{}-{}", device.first_port, device.last_port);
}

ExitCode run_list(const DevicesOptions& options) {
  render::Table table({{"device"}, {"reached by"}, {"address"}, {"ports"}, {"CPUs"}, {"computes on"}, {"program"}});
  for (const auto& device : chosen_devices(options)) {
    table.add_row({device.name, way_to(device), device.address.empty() ? "-" : device.address, ports_of(device),
                   device.cpus.empty() ? "all" : device.cpus, device.compute.empty() ? "cpu" : device.compute,
                   device.program.empty() ? "-" : device.program});
  }
  fmt::print("{}", table.to_text(text_style("")));
  return ExitCode::success;
}

// What `check` found, as text: a table with a column for each device, its findings, and the ways between them.

std::string library_of(const nlohmann::json& compute) {
  if (compute.contains("torch_version")) return "LibTorch " + compute.at("torch_version").get<std::string>();
  return compute.value("library", "-");
}

/// The file names of the BLAS libraries, without their folders.
std::string blas_of(const nlohmann::json& compute) {
  if (!compute.contains("blas") || !compute.at("blas").is_array()) return "-";
  std::vector<std::string> names;
  for (const auto& library : compute.at("blas")) {
    names.push_back(std::filesystem::path(library.get<std::string>()).filename().string());
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

/// The kernels with which oneDNN convolves there.
std::string convolutions_of(const nlohmann::json& compute) {
  const auto found = compute.find("convolution_kernels");
  if (found == compute.end() || !found->is_array()) return "-";
  return fmt::format("{}", fmt::join(found->get<std::vector<std::string>>(), ", "));
}

std::string frequency_of(const host::ThermalState& thermal) {
  if (!thermal.frequency_hz) return "-";
  const auto gigahertz = [](std::int64_t hertz) { return static_cast<double>(hertz) / 1e9; };
  if (!thermal.max_frequency_hz) return fmt::format("{:.2f} GHz", gigahertz(*thermal.frequency_hz));
  return fmt::format("{:.2f} of {:.2f} GHz", gigahertz(*thermal.frequency_hz), gigahertz(*thermal.max_frequency_hz));
}

std::string throttling_of(const host::ThermalState& thermal) {
  if (!thermal.throttled) return "-";
  return *thermal.throttled == 0 ? "none"
                                 : fmt::format("{}", fmt::join(host::describe_throttling(*thermal.throttled), ", "));
}

std::string clock_of(const run::CheckedDevice& device) {
  if (device.device.local()) return "this machine's";
  if (device.shares_clock) return "shares this machine's clock";
  if (!device.clock_offset) return "was stepped meanwhile";
  return fmt::format("known to ±{}",
                     format_duration(static_cast<double>(device.clock_offset->high - device.clock_offset->low) / 2));
}

/// "12.0 ms ±40.0 us ahead; time daemons: within 2.00 ms"
std::string wall_clock_of(const run::CheckedDevice& device) {
  if (!device.wall_clocks) return "-";
  const auto& [offset, claimed_ns] = *device.wall_clocks;
  const auto middle = (static_cast<double>(offset.low) + static_cast<double>(offset.high)) / 2;
  const auto measured =
      fmt::format("{} ±{} {}", format_duration(std::abs(middle)),
                  format_duration(static_cast<double>(offset.high - offset.low) / 2), middle < 0 ? "behind" : "ahead");
  if (!claimed_ns) return measured + "; not kept by time daemons on both";
  return fmt::format("{}; time daemons: within {}", measured, format_duration(static_cast<double>(*claimed_ns)));
}

std::string state_of(const run::CheckedDevice& device) {
  if (device.problem) return "NOT USABLE";
  const auto count = [&](host::Level level) {
    return std::ranges::count(device.findings, level, &host::Finding::level);
  };
  if (const auto problems = count(host::Level::problem); problems > 0) return fmt::format("{} PROBLEM(S)", problems);
  const auto warnings = count(host::Level::warning);
  return warnings == 0 ? "ok" : fmt::format("ok, {} warning(s)", warnings);
}

struct Property {
  const char* name;
  std::function<std::string(const run::CheckedDevice&)> text;
  bool needs_host = true;  ///< unknown for a device without a stage
};

const std::vector<Property>& properties() {
  static const std::vector<Property> all{
      {"state", state_of, false},
      {"reached by", [](const auto& one) { return way_to(one.device); }, false},
      {"release", [](const auto& one) { return one.release.empty() ? "-" : one.release; }, false},
      {"architecture", [](const auto& one) { return one.host->architecture; }},
      {"system", [](const auto& one) { return one.host->os; }},
      {"CPU", [](const auto& one) { return one.host->cpu_model; }},
      {"CPUs", [](const auto& one) { return fmt::format("{}, of {}", one.cpus, one.host->cpu_count); }},
      {"memory", [](const auto& one) { return format_bytes(static_cast<double>(one.host->memory_bytes)); }},
      {"library", [](const auto& one) { return library_of(one.compute); }},
      {"BLAS", [](const auto& one) { return blas_of(one.compute); }},
      {"convolutions", [](const auto& one) { return convolutions_of(one.compute); }},
      {"clock rate", [](const auto& one) { return frequency_of(one.thermal); }},
      {"temperature",
       [](const auto& one) {
         return one.thermal.temperature_celsius ? fmt::format("{:.0f} °C", *one.thermal.temperature_celsius) : "-";
       }},
      {"throttling", [](const auto& one) { return throttling_of(one.thermal); }},
      {"clock", clock_of},
      {"wall clock", wall_clock_of}};
  return all;
}

/// "warning", or "-" if the device's doctor says nothing of it.
std::string level_of(const run::CheckedDevice& device, const std::string& name) {
  const auto found = std::ranges::find(device.findings, name, &host::Finding::name);
  return found == device.findings.end() ? "-" : std::string(host::to_string(found->level));
}

/// A row for everything that doctor looks at and that is not well on every device.
void add_findings(render::Table& table, const std::vector<run::CheckedDevice>& devices) {
  std::vector<std::string> names;
  for (const auto& device : devices) {
    for (const auto& finding : device.findings) {
      const bool known = std::ranges::find(names, finding.name) != names.end();
      if (finding.level != host::Level::ok && !known) names.push_back(finding.name);
    }
  }
  for (const auto& name : names) {
    std::vector<std::string> row{"doctor: " + name};
    for (const auto& device : devices) row.push_back(level_of(device, name));
    table.add_row(std::move(row));
  }
}

std::string device_table(const std::vector<run::CheckedDevice>& devices) {
  std::vector<render::Table::Column> columns{{"device"}};
  for (const auto& device : devices) columns.push_back({device.device.name});
  render::Table table(std::move(columns));
  for (const auto& property : properties()) {
    std::vector<std::string> row{property.name};
    for (const auto& device : devices) row.push_back(property.needs_host && !device.host ? "-" : property.text(device));
    const bool anybody_tells = std::any_of(row.begin() + 1, row.end(), [](const auto& text) { return text != "-"; });
    if (anybody_tells) table.add_row(std::move(row));
  }
  add_findings(table, devices);
  return table.to_text(text_style(""));
}

void print_findings(const run::CheckedDevice& device) {
  for (const auto& finding : device.findings) {
    if (finding.level < host::Level::warning) continue;
    fmt::print("{}: {}, {}: {}\n", device.device.name, host::to_string(finding.level), finding.name, finding.observed);
    fmt::print("  why:    {}\n", finding.why);
    if (!finding.remedy.empty()) fmt::print("  remedy: {}\n", finding.remedy);
  }
}

/// "93.4 Mbit/s"
std::string rate_of(const stage::LinkProbed& probed) {
  const auto rate = probed.bit_per_s();
  return rate >= 1e9 ? fmt::format("{:.3g} Gbit/s", rate / 1e9) : fmt::format("{:.3g} Mbit/s", rate / 1e6);
}

std::string link_table(const std::vector<run::CheckedLink>& links) {
  render::Table table(
      {{"from"}, {"to"}, {"round trip", render::Align::right}, {"rate", render::Align::right}, {"state"}});
  for (const auto& link : links) {
    table.add_row({link.from, link.to,
                   link.probed ? format_duration(static_cast<double>(link.probed->round_trip_ns)) : "-",
                   link.probed ? rate_of(*link.probed) : "-", link.problem ? "NOT USABLE" : "ok"});
  }
  return table.to_text(text_style(""));
}

void print_check(const run::DeviceCheck& check) {
  fmt::print("{}", device_table(check.devices));
  if (!check.links.empty()) fmt::print("\n{}", link_table(check.links));
  fmt::print("\n");
  for (const auto& device : check.devices) {
    if (device.problem) fmt::print("{}: not usable: {}\n", device.device.name, *device.problem);
    print_findings(device);
  }
  for (const auto& link : check.links) {
    if (link.problem) fmt::print("{} cannot reach {}: {}\n", link.from, link.to, *link.problem);
  }
  fmt::print("{}\n", check.well() ? "All devices and the ways between them can be used." : "Not all is well.");
}

ExitCode run_check(const DevicesOptions& options) {
  const launch::InterruptGuard interrupt;
  run::DeviceCheckOptions asked;
  asked.devices = chosen_devices(options);
  asked.stage_program = launch::find_stage_program();
  asked.program_sha256 = sha256_of_file(asked.stage_program);
  asked.interrupt_descriptor = interrupt.descriptor();
  if (::isatty(STDERR_FILENO) != 0) {
    asked.progress = [](const std::string& what) { print_notice("{}{} …", kClearLine, what); };
  }
  const auto check = run::check_devices(asked);
  if (asked.progress) print_notice(kClearLine);
  if (options.format == "json") {
    fmt::print("{}", render::json_text(nlohmann::json(check)));
  } else {
    print_check(check);
  }
  return check.well() ? ExitCode::success : ExitCode::negative;
}

launch::Reach reach_of(const Device& device, const launch::InterruptGuard& interrupt) {
  return {device.name, run::launcher_of(device), interrupt.descriptor()};
}

/// Refuses devices for which a copy would not be used.
void check_deployable(const Device& device) {
  if (device.local()) throw UsageError("local is this machine, which has the programs already; name other devices");
  if (device.program.empty()) return;
  throw UsageError(
      fmt::format("the devices file says that {} runs {}, so that a copy would not be used; remove \"program\" there",
                  device.name, device.program));
}

ExitCode run_deploy(const DevicesOptions& options) {
  const auto devices = chosen_devices(options);
  for (const auto& device : devices) check_deployable(device);
  const launch::InterruptGuard interrupt;
  const auto programs = launch::programs_to_deploy(launch::find_stage_program());
  for (const auto& device : devices) {
    const auto deployment = launch::deploy(reach_of(device, interrupt), programs);
    if (deployment.copied.empty()) {
      fmt::print("{}: already in {}; nothing was copied\n", device.name, deployment.folder);
    } else {
      fmt::print("{}: copied {} to {}\n", device.name, fmt::join(deployment.copied, " and "), deployment.folder);
    }
  }
  return ExitCode::success;
}

/// Without names, cleans all devices but this machine, whose cache holds nothing that another one sent.
ExitCode run_clean(const DevicesOptions& options) {
  const launch::InterruptGuard interrupt;
  for (const auto& device : chosen_devices(options)) {
    if (options.names.empty() && device.local()) continue;
    const auto bytes = launch::clean_cache(reach_of(device, interrupt));
    fmt::print("{}: removed {} from the cache\n", device.name, format_bytes(static_cast<double>(bytes)));
  }
  return ExitCode::success;
}

using Run = ExitCode (*)(const DevicesOptions&);

CLI::App& add_command(CLI::App& devices, Command& chosen, std::shared_ptr<DevicesOptions> options, const char* name,
                      const char* description, Run run) {
  auto* command = devices.add_subcommand(name, description);
  command->add_option("--devices", options->file, "The devices file; without it, devices.json in your configuration");
  command->callback([options, &chosen, run] { chosen = [options, run] { return run(*options); }; });
  return *command;
}

}  // namespace

void add_devices(CLI::App& app, Command& chosen) {
  auto* devices = app.add_subcommand("devices", "Check other machines, and bring the stage program there");
  devices->require_subcommand(1);
  auto options = std::make_shared<DevicesOptions>();

  add_command(*devices, chosen, options, "list", "List the devices and how each is reached", run_list);
  auto& check = add_command(*devices, chosen, options, "check",
                            "Start a stage on each device, and measure the ways between them", run_check);
  check.add_option("names", options->names, "Devices; without any, all of the devices file and this machine");
  add_format_option(check, options->format, {"text", "json"});
  auto& deploy = add_command(*devices, chosen, options, "deploy",
                             "Copy this machine's programs into the devices' cache", run_deploy);
  deploy.add_option("names", options->names, "Devices")->required();
  auto& clean = add_command(*devices, chosen, options, "clean", "Empty the devices' cache", run_clean);
  clean.add_option("names", options->names, "Devices; without any, all of the devices file but this machine");
}

}  // namespace paretopipe::cli
