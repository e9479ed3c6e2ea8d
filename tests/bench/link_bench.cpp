#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/link.hpp>

#include <vector>

#include "bare_socket.hpp"
#include "benches.hpp"
#include "report.hpp"

namespace paretopipe::bench {
namespace {

constexpr std::size_t kPayload = 2'000'000;
constexpr int kTensors = 200;
constexpr int kTurns = 11;
const wire::TensorSpec kSpec{
    wire::DType::float32, wire::MemoryFormat::contiguous, {static_cast<std::int64_t>(kPayload / 4)}};

double bytes_per_second(std::int64_t begin_ns) {
  return static_cast<double>(kPayload) * kTensors / (static_cast<double>(now_ns() - begin_ns) * 1e-9);
}

double bare_goodput() {
  std::vector<char> buffer(kPayload, 'x');
  const auto peers = make_peers([&](int socket) {
    for (int i = 0; i < kTensors; ++i) receive_all(socket, buffer.data(), buffer.size());
    send_all(socket, buffer.data(), 1);
  });
  const auto begin = now_ns();
  for (int i = 0; i < kTensors; ++i) send_all(peers.here, buffer.data(), buffer.size());
  receive_all(peers.here, buffer.data(), 1);
  const auto goodput = bytes_per_second(begin);
  end(peers);
  return goodput;
}

double link_goodput() {
  std::vector<std::byte> buffer(kPayload, std::byte{'x'});
  auto peers = make_peers([&](int socket) {
    wire::Link link(socket);
    for (std::uint64_t i = 0; i < kTensors; ++i) link.receive_tensor(1, i, kSpec, buffer);
    link.send_message({{"done", true}});
  });
  const auto begin = now_ns();
  double goodput = 0;
  {
    wire::Link link(std::exchange(peers.here, -1));
    for (std::uint64_t i = 0; i < kTensors; ++i) link.send_tensor(1, i, kSpec, buffer);
    link.receive_message();
    goodput = bytes_per_second(begin);
  }
  end(peers);
  return goodput;
}

}  // namespace

void bench_link() {
  std::vector<double> ratios;
  std::vector<double> bare;
  for (int turn = 0; turn < kTurns; ++turn) {
    const bool link_first = turn % 2 == 0;
    const double first = link_first ? link_goodput() : bare_goodput();
    const double second = link_first ? bare_goodput() : link_goodput();
    ratios.push_back(link_first ? first / second : second / first);
    bare.push_back(link_first ? second : first);
  }
  const auto ratio = *stats::median(ratios);
  print_row(fmt::format("link goodput, 2 MB tensors, to bare sockets' {:.1f} GB/s", *stats::median(bare) * 1e-9),
            fmt::format("{:.3f}", ratio), "at least 0.95", ratio >= 0.95);
}

}  // namespace paretopipe::bench
