#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/link.hpp>
#include <paretopipe/wire/rendezvous.hpp>
#include <paretopipe/wire/tls.hpp>

#include <utility>
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

/// Both ends have to know it, and nobody else is on this machine's loopback.
const wire::Key kKey{};

double link_goodput(bool encrypted) {
  std::vector<std::byte> buffer(kPayload, std::byte{'x'});
  const auto deadline = Clock::now() + std::chrono::minutes(1);
  auto peers = make_peers([&](int socket) {
    wire::Link link(socket, encrypted ? wire::TlsStream::accept(socket, kKey, deadline) : nullptr);
    for (std::uint64_t i = 0; i < kTensors; ++i) link.receive_tensor(1, i, kSpec, buffer);
    link.send_message({{"done", true}});
  });
  double goodput = 0;
  {
    const int socket = std::exchange(peers.here, -1);
    wire::Link link(socket, encrypted ? wire::TlsStream::connect(socket, kKey, deadline) : nullptr);
    const auto begin = now_ns();
    for (std::uint64_t i = 0; i < kTensors; ++i) link.send_tensor(1, i, kSpec, buffer);
    link.receive_message();
    goodput = bytes_per_second(begin);
  }
  end(peers);
  return goodput;
}

/// From no connection to a link at both ends, in this process.
double seconds_to_join(bool encrypted) {
  const wire::LinkSecurity security{kKey, encrypted};
  std::vector<double> times;
  for (int turn = 0; turn < kTurns; ++turn) {
    wire::Listener listener("127.0.0.1", {});
    const auto begin = now_ns();
    const auto links = wire::join_ring(listener, {security, "127.0.0.1", listener.port(), security},
                                       Clock::now() + std::chrono::minutes(1));
    times.push_back(static_cast<double>(now_ns() - begin) * 1e-9);
  }
  return *stats::median(times);
}

/// Encryption, in turns with none. No bound is promised: it is the processor's.
void bench_encryption() {
  std::vector<double> encrypted;
  std::vector<double> plain;
  for (int turn = 0; turn < kTurns; ++turn) {
    encrypted.push_back(link_goodput(true));
    plain.push_back(link_goodput(false));
  }
  const auto rate = *stats::median(encrypted);
  print_row("encrypted link's goodput, 2 MB tensors", fmt::format("{:.2f} GB/s", rate * 1e-9),
            fmt::format("plain: {:.2f} GB/s", *stats::median(plain) * 1e-9), true);
  print_row("meeting and proving the key", fmt::format("{:.2f} ms", seconds_to_join(false) * 1e3),
            fmt::format("encrypted: {:.2f} ms", seconds_to_join(true) * 1e3), true);
}

}  // namespace

void bench_link() {
  std::vector<double> ratios;
  std::vector<double> bare;
  for (int turn = 0; turn < kTurns; ++turn) {
    const bool link_first = turn % 2 == 0;
    const double first = link_first ? link_goodput(false) : bare_goodput();
    const double second = link_first ? bare_goodput() : link_goodput(false);
    ratios.push_back(link_first ? first / second : second / first);
    bare.push_back(link_first ? second : first);
  }
  const auto ratio = *stats::median(ratios);
  print_row(fmt::format("link goodput, 2 MB tensors, to bare sockets' {:.1f} GB/s", *stats::median(bare) * 1e-9),
            fmt::format("{:.3f}", ratio), "at least 0.95", ratio >= 0.95);
  bench_encryption();
}

}  // namespace paretopipe::bench
