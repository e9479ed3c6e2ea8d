#include <paretopipe/run/pipeline.hpp>

#include <random>

namespace paretopipe::run {
namespace {

constexpr int kClockExchanges = 8;

std::uint64_t random_token() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

template <class Reply, class Request>
std::vector<Reply> Pipeline::ask(const std::vector<Request>& requests, Nanoseconds busy) {
  std::vector<StageClient*> asked;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    stages_[i].send(requests[i]);
    asked.push_back(&stages_[i]);
  }
  std::vector<Reply> replies(requests.size());
  const WaitLimits limits{Clock::now() + busy + std::chrono::seconds(options_.timeout_s),
                          options_.interrupt_descriptor};
  for_each_reply(asked, limits, [&](StageClient& stage) {
    replies[static_cast<std::size_t>(stage.index())] = stage.receive<Reply>();
  });
  return replies;
}

Pipeline::Pipeline(const PipelineOptions& options, shaping::Network& network) : options_(options), network_(network) {
  std::vector<stage::Configure> requests;
  for (std::size_t i = 0; i < options.cpus.size(); ++i) {
    const int index = static_cast<int>(i);
    auto command = options.command;
    command.namespaces = network.namespaces(index);
    stages_.emplace_back(index, command);
    requests.push_back({index, options.cpus[i], options.compute});
  }
  configured_ = ask<stage::Configured>(requests);
  for (std::size_t i = 0; i < configured_.size(); ++i) {
    if (configured_[i].protocol_version != stage::kControlProtocolVersion) {
      throw EnvironmentError(fmt::format(
          "stage {} ({}) speaks version {} of the control protocol, this driver version {}; install both from one "
          "release",
          i, options.command.program.string(), configured_[i].protocol_version, stage::kControlProtocolVersion));
    }
  }
  if (stage_count() > 1) join();
}

void Pipeline::join() {
  std::vector<stage::Listen> listeners;
  for (int stage = 0; stage < stage_count(); ++stage) listeners.push_back({network_.address(stage), 0});
  const auto ports = ask<stage::Listening>(listeners);
  const auto token = random_token();
  std::vector<stage::Join> requests;
  for (int stage = 0; stage < stage_count(); ++stage) {
    const int next = (stage + 1) % stage_count();
    const auto way = network_.route(stage, next, ports[static_cast<std::size_t>(next)].port);
    stage::Join request;
    request.next_host = way.host;
    request.next_port = way.port;
    request.token = token;
    requests.push_back(request);
  }
  ask<stage::Joined>(requests);
}

config::ModelDescription Pipeline::describe(const stage::ModelRequest& request) {
  return ask<stage::Described>(std::vector<stage::Describe>{{request}}).front().description;
}

std::vector<std::int64_t> Pipeline::time_blocks(const stage::TimeBlocks& request) {
  return ask<stage::BlockTimes>(std::vector{request}).front().compute_ns;
}

std::vector<stage::Loaded> Pipeline::load(const std::vector<stage::Load>& requests) {
  return ask<stage::Loaded>(requests);
}

void Pipeline::prepare(const std::vector<stage::Prepare>& requests) {
  ask<stage::Prepared>(requests);
}

std::vector<stage::RunReport> Pipeline::run(const std::vector<stage::Run>& requests) {
  const auto& schedule = requests.front().arrivals;
  return ask<stage::RunReport>(requests, Nanoseconds(schedule.empty() ? 0 : schedule.back()));
}

std::vector<std::byte> Pipeline::fetch_result(std::uint32_t tag, const wire::TensorSpec& chunk, int chunks) {
  ask<stage::ResultFollows>(std::vector<stage::FetchResult>{{tag}});
  const auto bytes = static_cast<std::size_t>(wire::byte_size(chunk));
  std::vector<std::byte> result(bytes * static_cast<std::size_t>(chunks));
  for (std::size_t i = 0; i < static_cast<std::size_t>(chunks); ++i) {
    stages_.front().receive_tensor(tag, i, chunk, std::span(result).subspan(i * bytes, bytes));
  }
  return result;
}

std::vector<std::optional<ClockExchange>> Pipeline::probe_clocks() {
  std::vector<std::optional<ClockExchange>> best(stages_.size());
  const auto own_host = host::read_host_context();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (host::share_steady_clock(configured_[i].host, own_host)) continue;
    std::vector<ClockExchange> exchanges;
    for (int round = 0; round < kClockExchanges; ++round) {
      ClockExchange exchange;
      exchange.sent = now_ns();
      stages_[i].send(stage::ClockProbe{});
      const auto reading = stages_[i].receive<stage::ClockReading>();
      exchange.received = now_ns();
      exchange.peer_received = reading.received_at_ns;
      exchange.peer_sent = reading.sent_at_ns;
      exchanges.push_back(exchange);
    }
    best[i] = best_exchange(exchanges);
  }
  return best;
}

}  // namespace paretopipe::run
