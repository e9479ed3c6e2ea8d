#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/process_usage.hpp>

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::host;

namespace {

constexpr std::size_t kBytes = 64 << 20;

/// Memory that is touched page by page and handed back to the kernel.
void touch_and_release() {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  std::memset(memory, 1, kBytes);
  munmap(memory, kBytes);
}

}  // namespace

TEST_CASE("a busy loop shows as CPU time, and at most as much as has passed", "[usage]") {
  const auto before = read_process_usage();
  const auto begin = now_ns();
  const auto until = begin + 50'000'000;
  while (now_ns() < until) {
  }
  const auto used = read_process_usage() - before;
  const auto cpu_time = used.user_time_ns + used.system_time_ns;
  CHECK(cpu_time > 0);
  // The kernel may account in ticks of up to 10 ms.
  CHECK(cpu_time <= now_ns() - begin + 10'000'000);
}

TEST_CASE("touching fresh memory shows as one page fault a page", "[usage]") {
  const auto before = read_process_usage();
  touch_and_release();
  const auto used = read_process_usage() - before;
  CHECK(used.minor_page_faults >= static_cast<std::int64_t>(kBytes / 65536));  // pages are 64 KiB at most
}

TEST_CASE("the difference of two readings is taken field by field", "[usage]") {
  const ProcessUsage before{1, 2, 3, 4, 5, 6};
  const ProcessUsage after{10, 20, 30, 40, 50, 60};
  CHECK(after - before == ProcessUsage{9, 18, 27, 36, 45, 54});
  CHECK(nlohmann::json(after).get<ProcessUsage>() == after);
}

TEST_CASE("the peak of resident memory remembers what was released, until it is reset", "[usage][needs:peak_reset]") {
  const auto start = read_peak_rss_bytes();
  if (!start || !reset_peak_rss()) {
    support::skip("this kernel does not let a process reset its peak memory");
  }
  const auto low = read_peak_rss_bytes();
  touch_and_release();
  const auto high = read_peak_rss_bytes();
  REQUIRE(reset_peak_rss());
  const auto low_again = read_peak_rss_bytes();
  CHECK(*high >= *low + static_cast<std::int64_t>(kBytes) * 9 / 10);
  CHECK(*low_again <= *high - static_cast<std::int64_t>(kBytes) * 9 / 10);
}

TEST_CASE("the state of a process and its CPU time are read behind a name that may hold anything", "[usage][native]") {
  const auto state = parse_process_state(
      "77 (a) T (b 1 2) T 1 77 77 0 -1 4194560 105 0 0 0 12 30 9 9 20 0 1 0 5 0 0 18446744073709551615 0 0");
  REQUIRE(state);
  CHECK(*state == ProcessState{'T', 420'000'000});
  REQUIRE(read_process_state(::getpid()));
  CHECK(read_process_state(::getpid())->state == 'R');
  CHECK_FALSE(read_process_state(0));
  CHECK_FALSE(parse_process_state(""));
  CHECK_FALSE(parse_process_state("77 (a) R 1 77"));
  CHECK_FALSE(parse_process_state("77 a R 1 77 77 0 -1 4194560 105 0 0 0 12 30"));
}
