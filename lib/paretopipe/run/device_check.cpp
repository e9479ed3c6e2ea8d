#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/launcher.hpp>
#include <paretopipe/run/data_address.hpp>
#include <paretopipe/run/device_check.hpp>
#include <paretopipe/wire/key.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace paretopipe::run {

bool DeviceCheck::well() const {
  return std::all_of(devices.begin(), devices.end(), [](const auto& device) { return device.well(); }) &&
         std::none_of(links.begin(), links.end(), [](const auto& link) { return link.problem.has_value(); });
}

void to_json(nlohmann::json& json, const CheckedDevice& device) {
  json = {{"name", device.device.name}, {"well", device.well()}};
  write_optional(json, "problem", device.problem);
  if (!device.release.empty()) json["release"] = device.release;
  write_optional(json, "host", device.host);
  if (device.problem) return;
  json["cpus"] = device.cpus;
  json["compute"] = device.compute;
  json["findings"] = device.findings;
  json["thermal"] = device.thermal;
  json["shares_clock"] = device.shares_clock;
  if (const auto& offset = device.clock_offset)
    json["clock_offset_ns"] = {{"low", offset->low}, {"high", offset->high}};
  if (const auto& clocks = device.wall_clocks) {
    json["wall_clock_offset_ns"] = {{"low", clocks->offset.low}, {"high", clocks->offset.high}};
    write_optional(json, "wall_clock_claimed_ns", clocks->claimed_ns);
  }
}

WallClocks compare_wall_clocks(const stats::OffsetInterval& steady, const host::WallClock& device,
                               const host::WallClock& own) {
  const auto shift = device.ahead_of_steady_ns - own.ahead_of_steady_ns;
  WallClocks clocks{.offset = {steady.low + shift, steady.high + shift}};
  if (device.error_bound_ns && own.error_bound_ns) clocks.claimed_ns = *device.error_bound_ns + *own.error_bound_ns;
  return clocks;
}

void to_json(nlohmann::json& json, const CheckedLink& link) {
  json = {{"from", link.from}, {"to", link.to}};
  write_optional(json, "problem", link.problem);
  if (!link.probed) return;
  json["round_trip_ns"] = link.probed->round_trip_ns;
  json["rate_bit_per_s"] = link.probed->bit_per_s();
}

void to_json(nlohmann::json& json, const DeviceCheck& check) {
  json = {{"well", check.well()}, {"devices", check.devices}, {"links", check.links}};
}

namespace {

constexpr int kClockQuestions = 20;
/// SSH logs in within a second, and a Raspberry Pi loads LibTorch within ten.
constexpr auto kPatienceToStart = std::chrono::seconds(60);
/// More than a link probe's own limits together (stage/link_probe.cpp).
constexpr auto kPatienceToAnswer = std::chrono::seconds(60);

/// A device and the stage on it, which is gone once there is a problem.
struct Examined {
  CheckedDevice found;
  std::unique_ptr<StageClient> stage{};
  host::WallClock wall_clock{};
};

StageCommand command_on(const experiment::Device& device, const DeviceCheckOptions& options) {
  StageCommand command{.program = options.stage_program};
  command.name = device.name;
  if (device.threads) command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(*device.threads));
  if (device.local()) return command;
  command.launcher =
      launch::command_over(launcher_of(device), launch::guard_command(device.program, options.program_sha256));
  return command;
}

stage::Configure configuration_of(const experiment::Device& device, int index) {
  stage::Configure request{.stage = index, .cpus = device.cpus, .compute = {}};
  request.compute.threads = device.threads.value_or(1);
  if (!device.compute.empty()) request.compute.device = device.compute;
  return request;
}

host::Finding contradiction(const WallClocks& clocks) {
  const auto nearest = std::min(std::abs(clocks.offset.low), std::abs(clocks.offset.high));
  return {"wall clock", host::Level::warning,
          fmt::format("at least {} from this machine's, where the time daemons allow {}",
                      format_duration(static_cast<double>(nearest)),
                      format_duration(static_cast<double>(*clocks.claimed_ns))),
          "one of the two clocks is not kept as its daemon says; no measurement uses them, but dates of records do",
          "compare both with their source (chronyc tracking)"};
}

class Examination {
 public:
  explicit Examination(const DeviceCheckOptions& options) : options_(options) {}

  DeviceCheck run() {
    start();
    configure();
    check_health();
    for (auto& one : examined_) read_clock(one);
    DeviceCheck check;
    for (auto& from : examined_) {
      for (auto& to : examined_) {
        if (&from != &to && from.stage && to.stage) check.links.push_back(probe(from, to));
      }
    }
    for (auto& one : examined_) check.devices.push_back(std::move(one.found));
    return check;
  }

 private:
  void tell(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  /// A stage's failure becomes its device's problem, and does not concern the other devices.
  template <class Action>
  void attempt(Examined& one, const Action& action) {
    if (!one.stage) return;
    try {
      action(*one.stage);
    } catch (const StageError& error) {
      one.found.problem = error.what();
      one.stage.reset();
    }
  }

  template <class Reply>
  Reply wait_for(StageClient& stage) const {
    return wait_for_reply<Reply>(stage, {Clock::now() + kPatienceToAnswer, options_.interrupt_descriptor});
  }

  template <class Reply, class Request>
  Reply ask(StageClient& stage, const Request& request) const {
    stage.send(request);
    return wait_for<Reply>(stage);
  }

  void start() {
    tell("starting a stage on each device");
    const auto deadline = Clock::now() + kPatienceToStart;
    for (const auto& device : options_.devices) {
      auto& one = examined_.emplace_back(Examined{.found = {.device = device}});
      try {
        one.stage = std::make_unique<StageClient>(static_cast<int>(examined_.size()) - 1, command_on(device, options_));
      } catch (const EnvironmentError& error) {  // no such launcher
        one.found.problem = error.what();
      }
    }
    for (auto& one : examined_) {
      attempt(one, [&](StageClient& stage) {
        stage.meet(deadline, options_.interrupt_descriptor);
        one.found.release = stage.guard() ? stage.guard()->release : std::string(version());
      });
    }
  }

  void configure() {
    for (std::size_t i = 0; i < examined_.size(); ++i) {
      attempt(examined_[i], [&](StageClient& stage) {
        stage.send(configuration_of(examined_[i].found.device, static_cast<int>(i)));
      });
    }
    for (auto& one : examined_) {
      attempt(one, [&](StageClient& stage) {
        const auto configured = wait_for<stage::Configured>(stage);
        if (configured.protocol_version != stage::kControlProtocolVersion) {
          throw stage.failure("speaks another version of the control protocol; install the same release on both");
        }
        one.found.host = configured.host;
        one.found.cpus = configured.cpus;
        one.found.compute = configured.compute;
      });
    }
  }

  void check_health() {
    for (auto& one : examined_) {
      attempt(one, [](StageClient& stage) { stage.send(stage::CheckHealth{}); });
    }
    for (auto& one : examined_) {
      attempt(one, [&](StageClient& stage) {
        auto health = wait_for<stage::Health>(stage);
        one.found.findings = std::move(health.findings);
        one.found.thermal = health.thermal;
        one.wall_clock = health.wall_clock;
      });
    }
  }

  /// Called for one device after the other: anything else that runs meanwhile would only widen the bounds.
  void read_clock(Examined& one) {
    attempt(one, [&](StageClient& stage) {
      one.found.shares_clock = host::share_steady_clock(*one.found.host, own_host_);
      if (one.found.shares_clock) return;
      std::vector<stats::ClockExchange> exchanges;
      for (int round = 0; round < kClockQuestions; ++round) {
        stats::ClockExchange exchange;
        exchange.sent = now_ns();
        const auto reading = ask<stage::ClockReading>(stage, stage::ClockProbe{});
        exchange.received = now_ns();
        exchange.peer_received = reading.received_at_ns;
        exchange.peer_sent = reading.sent_at_ns;
        exchanges.push_back(exchange);
      }
      one.found.clock_offset = stats::offset_interval(exchanges);
      if (!one.found.clock_offset) return;
      const auto clocks = compare_wall_clocks(*one.found.clock_offset, one.wall_clock, host::read_wall_clock());
      one.found.wall_clocks = clocks;
      if (clocks.contradicted()) one.found.findings.push_back(contradiction(clocks));
    });
  }

  static ReachedDevice reached(const Examined& one) {
    return {one.found.device, one.stage->guard() ? one.stage->guard()->ssh_connection : ""};
  }

  CheckedLink probe(Examined& from, Examined& to) {
    CheckedLink link{.from = from.found.device.name, .to = to.found.device.name};
    tell(fmt::format("measuring the way from {} to {}", link.from, link.to));
    try {
      const auto address = data_address(reached(from), reached(to));
      const auto port = ask<stage::Listening>(
                            *to.stage, stage::Listen{address, to.found.device.first_port, to.found.device.last_port})
                            .port;
      link.probed = probe(from, to, address, port);
    } catch (const StageError& error) {
      link.problem = error.what();
      if (error.kind() != StageError::Kind::died) return link;
      auto& culprit = error.stage() == from.stage->index() ? from : to;
      attempt(culprit, [&](StageClient&) { throw StageError(error); });
    } catch (const EnvironmentError& error) {  // no address is known
      link.problem = error.what();
    }
    return link;
  }

  /// If both sides fail, the connecting one's reason counts, unless it only lost the other one, or the other one died.
  stage::LinkProbed probe(Examined& from, Examined& to, const std::string& address, std::uint16_t port) const {
    const auto key = wire::random_key();
    to.stage->send(stage::AnswerProbe{.key = key});
    from.stage->send(stage::ProbeLink{.host = address, .port = port, .key = key});
    std::optional<StageError> failed;
    stage::LinkProbed probed;
    try {
      probed = wait_for<stage::LinkProbed>(*from.stage);
    } catch (const StageError& error) {
      failed = error;
    }
    try {
      wait_for<stage::ProbeAnswered>(*to.stage);
    } catch (const StageError& error) {
      if (!failed || failed->kind() == StageError::Kind::peer_lost || error.kind() == StageError::Kind::died) {
        failed = error;
      }
    }
    if (failed) throw StageError(*failed);
    return probed;
  }

  const DeviceCheckOptions& options_;
  const host::HostContext own_host_ = host::read_host_context();
  std::vector<Examined> examined_;
};

}  // namespace

DeviceCheck check_devices(const DeviceCheckOptions& options) {
  return Examination(options).run();
}

}  // namespace paretopipe::run
