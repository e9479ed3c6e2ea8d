#pragma once
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

/// The files of models and data, for a backend that has none. They count where the environment variable
/// FAKE_STAGE_HIDES is set, which names a folder whose files this "host" does not have, or none.
namespace paretopipe::fakes {

inline const char* hidden_folder() {
  return std::getenv("FAKE_STAGE_HIDES");
}

/// The contents. Throws UsageError for a file that is not there.
inline std::string seen(const std::string& file) {
  const std::string_view hidden = hidden_folder();
  std::ifstream stream(file, std::ios::binary);
  const bool there = (hidden.empty() || !file.starts_with(hidden)) && stream;
  if (!there) throw UsageError("read " + file + ": there is no such file on this host");
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// An archive holds the name of a synthetic model, and weights may hold anything: its seed does not change with them.
inline void read_model(stage::ModelRequest& request) {
  if (hidden_folder() == nullptr) return;
  if (request.archive) request.model = seen(request.model);
  if (!request.weights.empty()) seen(request.weights);
  request.archive.reset();
  request.weights.clear();
}

/// The contents of a tensor file are the seed of the inputs.
inline void read_data(stage::ModelRequest& request) {
  const auto choice = experiment::parse_data(request.data);
  if (hidden_folder() == nullptr || choice.kind != "tensor") return;
  request.seed = fnv1a64(seen(choice.place));
  request.data = "random";
}

/// Numbers in a file, as many as fit the batches.
inline std::vector<std::int64_t> read_labels(const stage::ModelRequest& request, int count) {
  seen(request.labels);
  std::ifstream file(request.labels);
  std::vector<std::int64_t> labels;
  const auto most = static_cast<std::size_t>(count) * static_cast<std::size_t>(request.batch);
  for (std::int64_t label = 0; labels.size() < most && file >> label;) labels.push_back(label);
  return labels;
}

}  // namespace paretopipe::fakes
