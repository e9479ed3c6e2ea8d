#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/render/plot.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {

namespace {

constexpr int kPatienceMs = 60'000;

std::filesystem::path renderer() {
  return launch::find_program("rsvg-convert", "librsvg2-bin");
}

/// A nameless file in memory: nothing is left behind, however this process ends.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("paretopipe-picture", MFD_CLOEXEC)) {
    if (descriptor_.get() < 0) throw system_error("make a file in memory", errno);
  }

  /// The path for programs that this process starts.
  std::string path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_.get()); }

  void write(std::string_view text) {
    if (const int reason = write_all(descriptor_.get(), text)) throw system_error("write a file in memory", reason);
  }

  std::string read() const {
    std::string text;
    std::array<char, 65536> piece{};
    for (;;) {
      const auto got = ::pread(descriptor_.get(), piece.data(), piece.size(), static_cast<off_t>(text.size()));
      if (got < 0) throw system_error("read a file in memory", errno);
      if (got == 0) return text;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  FileDescriptor descriptor_;
};

std::string render_png(std::string_view svg) {
  MemoryFile drawing;
  drawing.write(svg);
  const MemoryFile picture;
  const launch::ChildCommand command{
      {renderer().string(), "--zoom", "2", "--format", "png", "--output", picture.path(), drawing.path()}};
  const auto result = launch::run_command(command, kPatienceMs);
  auto png = picture.read();
  if (!result.succeeded || !png.starts_with("\x89PNG\r\n")) {
    throw EnvironmentError(fmt::format("draw a PNG: rsvg-convert {}: {}", result.how_it_ended, result.output));
  }
  return png;
}

struct PlotOptions {
  std::string path;
  std::string out;
  std::vector<std::string> objectives;
  std::vector<std::string> models;
  std::vector<std::string> networks;
  std::vector<int> batches;
  std::vector<int> micro_batches;
  std::vector<int> depths;
  std::vector<int> threads;
};

using Render = std::string (*)(const render::Plot& plot);

/// The renderer for the file's name. Throws UsageError, and EnvironmentError if this machine cannot render that format.
Render renderer_for(const std::filesystem::path& out) {
  if (out.extension() == ".svg") return render::render_svg;
  if (out.extension() == ".png") {
    renderer();  // which throws if there is none
    return [](const render::Plot& plot) { return render_png(render::render_svg(plot)); };
  }
  throw UsageError(fmt::format("cannot plot to {}: a picture's name ends in .svg or .png", out.string()));
}

/// True for every value if nothing was chosen.
template <class T>
bool chosen_by(const std::vector<T>& choice, const T& value) {
  return choice.empty() || std::find(choice.begin(), choice.end(), value) != choice.end();
}

std::vector<record::TrialRecord> chosen_records(std::vector<record::TrialRecord> records, const PlotOptions& options) {
  std::erase_if(records, [&](const auto& record) {
    const auto& trial = record.trial;
    return !chosen_by(options.models, trial.model) || !chosen_by(options.networks, trial.network.name) ||
           !chosen_by(options.batches, trial.batch) ||
           !chosen_by(options.micro_batches, trial.images_per_micro_batch()) ||
           !chosen_by(options.depths, trial.depth) || !chosen_by(options.threads, trial.threads_per_stage);
  });
  return records;
}

ExitCode run_plot(const PlotOptions& options) {
  const auto render = renderer_for(options.out);
  auto objectives = frontier::parse_objectives(options.objectives);
  if (objectives.size() != 2) {
    throw UsageError(fmt::format("a plot has two axes and needs two objectives, not {}", objectives.size()));
  }
  check_not_replaced(options.path, options.out);
  auto set = load_records(options.path);
  const auto records = chosen_records(std::move(set.records), options);
  objectives = frontier::parse_objectives(options.objectives, frontier::measured_phases(records));
  const auto plot = render::make_plot(frontier::make_frontier_report(records, std::move(objectives)));
  const auto is_empty = [](const auto& series) { return series.points.empty(); };
  if (std::all_of(plot.series.begin(), plot.series.end(), is_empty)) {
    print_notice("{}: no trial that was chosen has both numbers, so there is nothing to plot\n", options.path);
    return ExitCode::negative;
  }
  render::write_file(options.out, render(plot));
  return ExitCode::success;
}

}  // namespace

void add_plot(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("plot", "Draw the frontier as a picture for papers and READMEs");
  const auto options = std::make_shared<PlotOptions>();
  command->add_option("path", options->path, "Results folder, or a records file")->required();
  command->add_option("-o,--out", options->out, "The picture, FILE.svg or FILE.png (needs rsvg-convert)")
      ->type_name("FILE")
      ->required();
  const auto add = [&](const char* flag, auto& values, const char* meaning, const char* type) {
    command->add_option(flag, values, meaning)->type_name(type)->allow_extra_args(false);  // one a flag; repeatable
  };
  add("--objective", options->objectives,
      "Metric[:min|max], x then y (latency_p50 and throughput; where one was not measured, payload; of training, "
      "step_time and peak_memory)",
      "METRIC");
  add("--model", options->models, "Only this model; repeatable", "NAME");
  add("--network", options->networks, "Only this network; repeatable", "NAME");
  add("--batch", options->batches, "Only this batch; repeatable", "N");
  add("--micro-batch", options->micro_batches, "Only this micro-batch; repeatable", "N");
  add("--depth", options->depths, "Only this many batches in flight; repeatable", "N");
  add("--threads-per-stage", options->threads, "Only this many threads a stage; repeatable", "N");
  command->callback([options, &chosen] { chosen = [options] { return run_plot(*options); }; });
}

}  // namespace paretopipe::cli
