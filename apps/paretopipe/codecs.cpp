#include <paretopipe/codec/codec.hpp>
#include <paretopipe/render/table.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"

namespace paretopipe::cli {
namespace {

std::string bits_text(const codec::Row& row) {
  return row.bits_per_value > 0 ? fmt::format("{:g}", row.bits_per_value) : "as the values allow";
}

void print_table() {
  render::Table table({{"codec", render::Align::left},
                       {"bits a value", render::Align::right},
                       {"loses", render::Align::left},
                       {"what crosses the cut", render::Align::left}});
  for (const auto& row : codec::catalogue()) {
    table.add_row(
        {std::string(row.name), bits_text(row), row.lossy ? "precision" : "nothing", std::string(row.meaning)});
  }
  fmt::print(
      "{}\nBits of a float32; a few bytes of levels come beside them. Activations with NaN or infinity are refused by\n"
      "codecs that lose precision. A sweep's --codec takes a list, and fidelity is measured in every trial.\n",
      table.to_text());
}

void print_json() {
  auto json = nlohmann::ordered_json::array();
  for (const auto& row : codec::catalogue()) {
    nlohmann::ordered_json entry{{"name", row.name}, {"lossy", row.lossy}, {"meaning", row.meaning}};
    if (row.bits_per_value > 0) entry["bits_per_value"] = row.bits_per_value;
    json.push_back(std::move(entry));
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_codecs(CLI::App& app, Command& chosen) {
  auto format = std::make_shared<std::string>("table");
  auto* command = app.add_subcommand("codecs", "List what activations can cross a cut with");
  command->add_option("--format", *format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([format, &chosen] {
    chosen = [format] {
      *format == "json" ? print_json() : print_table();
      return ExitCode::success;
    };
  });
}

}  // namespace paretopipe::cli
