#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>

#include <sched.h>

#include <fmt/format.h>

namespace paretopipe::host {

namespace {

struct CpuMaskFree {
  void operator()(cpu_set_t* mask) const { CPU_FREE(mask); }
};
using CpuMask = std::unique_ptr<cpu_set_t, CpuMaskFree>;
const std::size_t kMaskBytes = CPU_ALLOC_SIZE(kMaxCpus);

CpuMask empty_mask() {
  CpuMask mask(CPU_ALLOC(kMaxCpus));
  if (!mask) throw std::bad_alloc();
  CPU_ZERO_S(kMaskBytes, mask.get());
  return mask;
}

int try_set_affinity(const CpuSet& cpus) {
  const auto mask = empty_mask();
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), kMaskBytes, mask.get());
  return sched_setaffinity(0, kMaskBytes, mask.get()) == 0 ? 0 : errno;
}

}  // namespace

bool has_cpu_to_spare(const std::string& cpus, std::optional<double> quota, double threads) {
  const auto count = static_cast<double>(parse_cpu_list(cpus).size());
  return std::min(count, quota.value_or(count)) > threads;
}

CpuSet parse_cpu_list(const std::string& text) {
  auto cpus = parse_number_list(text, kMaxCpus - 1);
  if (!cpus) throw UsageError(fmt::format("\"{}\" is not a list of CPUs; write it like 0, 0-3 or 0-3,8", text));
  return *std::move(cpus);
}

std::string to_string(const CpuSet& cpus) {
  return format_number_list(cpus);
}

CpuSet current_affinity() {
  const auto mask = empty_mask();
  if (sched_getaffinity(0, kMaskBytes, mask.get()) != 0) throw system_error("sched_getaffinity", errno);
  CpuSet cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), kMaskBytes, mask.get())) cpus.push_back(cpu);
  }
  return cpus;
}

void set_affinity(const CpuSet& cpus) {
  if (cpus.empty() || cpus.front() < 0 || cpus.back() >= kMaxCpus) {
    throw std::invalid_argument(fmt::format("set_affinity: \"{}\" is not a set of CPUs", to_string(cpus)));
  }
  const CpuSet before = current_affinity();
  const int error = try_set_affinity(cpus);
  if (error != 0 && error != EINVAL) throw system_error(fmt::format("run on CPUs {}", to_string(cpus)), error);

  // The kernel silently drops CPUs that it does not have, and fails (EINVAL) only if none is left.
  const CpuSet applied = error == 0 ? current_affinity() : CpuSet{};
  if (applied == cpus) return;
  if (error == 0) try_set_affinity(before);
  CpuSet missing;
  std::set_difference(cpus.begin(), cpus.end(), applied.begin(), applied.end(), std::back_inserter(missing));
  throw EnvironmentError(
      fmt::format("run on CPUs {}: this machine does not have, or does not allow, CPU {}; allowed: {}", to_string(cpus),
                  to_string(missing), to_string(before)));
}

std::vector<CpuSet> deal_cpus(const CpuSet& available, int stages) {
  if (available.empty() || stages < 1) throw std::invalid_argument("deal_cpus: needs at least one CPU and one stage");
  const auto stage_count = static_cast<std::size_t>(stages);
  std::vector<CpuSet> dealt(stage_count);
  if (available.size() < stage_count) {
    for (std::size_t stage = 0; stage < stage_count; ++stage) dealt[stage] = {available[stage % available.size()]};
    return dealt;
  }
  auto next = available.begin();
  for (std::size_t stage = 0; stage < stage_count; ++stage) {
    const auto size = available.size() / stage_count + (stage < available.size() % stage_count ? 1 : 0);
    dealt[stage].assign(next, next + static_cast<std::ptrdiff_t>(size));
    next += static_cast<std::ptrdiff_t>(size);
  }
  return dealt;
}

}  // namespace paretopipe::host
