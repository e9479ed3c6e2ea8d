#include <paretopipe/config/experiment.hpp>
#include <paretopipe/config/json_file.hpp>

namespace paretopipe::config {

Experiment load_experiment(const std::filesystem::path& file) {
  const auto json = read_json_file(file, "experiment");
  return naming_file(file, [&] { return experiment_from_json(json); });
}

}  // namespace paretopipe::config
