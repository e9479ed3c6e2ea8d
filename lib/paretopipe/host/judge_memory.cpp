#include <paretopipe/core/units.hpp>
#include <paretopipe/host/judgements.hpp>

#include <fmt/format.h>

namespace paretopipe::host {
namespace {

/// The largest model (vgg16) has 0.5 GiB of weights, which are held once as a whole and once more in parts.
constexpr std::int64_t kEnoughMemory = std::int64_t{2} << 30;

/// A few pages in swap belong to sleeping services and do no harm.
constexpr std::int64_t kHarmlessSwap = std::int64_t{64} << 20;

Finding judge_available(std::int64_t bytes) {
  const bool enough = bytes >= kEnoughMemory;
  return {
      .name = "memory",
      .level = enough ? Level::ok : Level::warning,
      .observed = fmt::format("{} available", format_bytes(static_cast<double>(bytes))),
      .why = "the largest models take 1.5 GiB in both stages together; beyond what is there the kernel swaps or kills",
      .remedy = enough ? "" : "end other programs, or measure smaller models and batches"};
}

Finding judge_swap(std::int64_t bytes) {
  const bool harmless = bytes <= kHarmlessSwap;
  return {.name = "swap",
          .level = harmless ? Level::ok : Level::note,
          .observed = fmt::format("{} swapped out", format_bytes(static_cast<double>(bytes))),
          .why = "a page that comes back from swap during a batch costs more than the batch",
          .remedy = harmless ? "" : "free memory, then sudo swapoff -a and sudo swapon -a"};
}

Finding judge_huge_pages(const std::string& mode) {
  const bool never = mode == "never";
  return {.name = "huge pages",
          .level = never ? Level::note : Level::ok,
          .observed = fmt::format("transparent huge pages: {}", mode),
          .why = "activations of megabytes cost a page fault every 4 KiB without them",
          .remedy = never ? "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" : ""};
}

}  // namespace

std::vector<Finding> judge_memory(const Observations& seen) {
  std::vector<Finding> findings{judge_available(seen.available_memory_bytes), judge_swap(seen.swap_used_bytes)};
  if (seen.huge_pages) findings.push_back(judge_huge_pages(*seen.huge_pages));
  return findings;
}

}  // namespace paretopipe::host
