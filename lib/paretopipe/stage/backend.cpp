#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/backend.hpp>

#include <fmt/format.h>

namespace paretopipe::stage {

std::vector<std::int64_t> Backend::make_labels(const ModelRequest& request, int) {
  if (request.labels.empty()) return {};
  throw UsageError(
      fmt::format("{} computes on no data that have labels; leave the labels {} out", request.model, request.labels));
}

}  // namespace paretopipe::stage
