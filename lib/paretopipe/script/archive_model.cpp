#include <paretopipe/core/error.hpp>
#include <paretopipe/core/sha256.hpp>
#include <paretopipe/script/archive_model.hpp>
#include <paretopipe/script/container.hpp>
#include <paretopipe/script/find_cuts.hpp>
#include <paretopipe/script/guarded.hpp>
#include <paretopipe/script/import_module.hpp>

#include <utility>

namespace paretopipe::script {
namespace {

ArchiveModel model_of(const Container& container, int max_crossing) {
  ArchiveModel model{container.file, prepare(import_module(container)), {}};
  auto& graph = *model.prepared.graph;
  model.cuts = find_cuts(graph, max_crossing);
  model.cuts.push_back({graph.outputs().at(0)});
  model.forget_file();
  return model;
}

}  // namespace

ArchiveModel load_archive(const std::filesystem::path& file, const config::Archive& archive) {
  const auto container = open_container(file);
  if (sha256_of_file(file) != archive.sha256) {
    throw UsageError(fmt::format("{} has changed since the sweep began; measure it anew", file.string()));
  }
  return guarded(ExitCode::usage, fmt::format("load {}", file.string()), [&] {
    try {
      return model_of(container, archive.max_crossing);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{} cannot be cut: {}", file.string(), error.what()));
    }
  });
}

}  // namespace paretopipe::script
