#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace paretopipe::shaping {

namespace {

using nlohmann::json;

Nanoseconds from_seconds(double seconds) {
  return Nanoseconds(std::llround(seconds * 1e9));
}

/// tc nests each value in an object of its own: {"loss-random": {"loss": 0.01, "correlation": 0}}.
double nested(const json& options, const char* group, const char* key) {
  const auto found = options.find(group);
  return found == options.end() ? 0.0 : found->value(key, 0.0);
}

void read_netem(const json& options, experiment::LinkConditions& conditions) {
  conditions.queue_packets = options.at("limit").get<std::int64_t>();
  conditions.delay = from_seconds(nested(options, "delay", "delay"));
  conditions.jitter = from_seconds(nested(options, "delay", "jitter"));
  conditions.loss = nested(options, "loss-random", "loss");
  conditions.duplicate = nested(options, "duplicate", "duplicate");
  conditions.reorder = nested(options, "reorder", "reorder");
  const auto rate = static_cast<std::int64_t>(nested(options, "rate", "rate")) * 8;  // bytes per second
  if (rate > 0 && rate < kOrderKeepingRate) conditions.rate_bit_per_s = rate;
}

void read_tbf(const json& options, experiment::LinkConditions& conditions) {
  conditions.rate_bit_per_s = options.at("rate").get<std::int64_t>() * 8;  // bytes per second
  conditions.burst_bytes = options.at("burst").get<std::int64_t>();
  if (const auto found = options.find("lat"); found != options.end()) {
    conditions.queue_latency = std::chrono::microseconds(found->get<std::int64_t>());
  }
}

bool shapes_nothing(std::string_view kind) {
  constexpr std::array<std::string_view, 7> kinds{"noqueue", "pfifo_fast", "fq_codel", "fq", "mq", "pfifo", "bfifo"};
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

experiment::LinkConditions conditions_of(const json& qdiscs) {
  experiment::LinkConditions conditions;
  for (const auto& qdisc : qdiscs) {
    const auto kind = qdisc.at("kind").get<std::string>();
    if (kind == "netem") {
      read_netem(qdisc.at("options"), conditions);
    } else if (kind == "tbf") {
      read_tbf(qdisc.at("options"), conditions);
    } else if (!shapes_nothing(kind)) {
      throw EnvironmentError(fmt::format("the interface has a qdisc that paretopipe did not put there: {}", kind));
    }
  }
  return conditions;
}

/// Collects the values that differ by more than the kernel's rounding.
class Comparison {
 public:
  void compare(std::string_view what, double requested, double applied, double tolerance, std::string (*text)(double)) {
    if (std::abs(requested - applied) <= tolerance) return;
    sentences_.push_back(
        fmt::format("{} of {} was requested, but the kernel reports {}", what, text(requested), text(applied)));
  }

  /// Compares values that must be present or absent as requested.
  bool both(std::string_view what, bool requested, bool applied) {
    if (requested && !applied)
      sentences_.push_back(fmt::format("a {} was requested, but the kernel reports none", what));
    if (!requested && applied)
      sentences_.push_back(fmt::format("no {} was requested, but the kernel reports one", what));
    return requested && applied;
  }

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::vector<std::string> sentences_;
};

std::string rate_text(double bit_per_s) {
  return format_rate(std::llround(bit_per_s));
}

std::string percent_text(double probability) {
  return fmt::format("{:.6g} %", probability * 100);
}

std::string bytes_text(double bytes) {
  return fmt::format("{:.0f} bytes", bytes);
}

std::string packets_text(double packets) {
  return fmt::format("{:.0f} packets", packets);
}

double nanoseconds(Nanoseconds duration) {
  return static_cast<double>(duration.count());
}

void compare_rate(const experiment::LinkConditions& requested, const experiment::LinkConditions& applied,
                  Comparison& comparison) {
  if (!comparison.both("rate", requested.rate_bit_per_s.has_value(), applied.rate_bit_per_s.has_value())) return;
  const auto rate = static_cast<double>(*requested.rate_bit_per_s);
  comparison.compare("a rate", rate, static_cast<double>(*applied.rate_bit_per_s), 8 + rate * 1e-3, rate_text);
  if (requested.burst_bytes && comparison.both("burst", true, applied.burst_bytes.has_value())) {
    comparison.compare("a burst", static_cast<double>(*requested.burst_bytes),
                       static_cast<double>(*applied.burst_bytes), 2 + rate / 8 * 2e-6, bytes_text);
  }
  if (requested.queue_latency && comparison.both("queue latency", true, applied.queue_latency.has_value())) {
    const double frame_ns = static_cast<double>(kFrameBytes) * 8e9 / rate;
    const double wait = nanoseconds(*requested.queue_latency);
    comparison.compare("a queue latency", wait, nanoseconds(*applied.queue_latency), 2e3 + wait * 1e-3 + frame_ns,
                       format_duration);
  }
}

}  // namespace

experiment::LinkConditions read_back(const std::string& tc_json) {
  try {
    return conditions_of(json::parse(tc_json));
  } catch (const json::exception& error) {
    throw EnvironmentError(fmt::format("read what tc says is applied: {}; it printed: {}", error.what(), tc_json));
  }
}

std::vector<std::string> differences(const experiment::LinkConditions& requested,
                                     const experiment::LinkConditions& applied) {
  Comparison comparison;
  const auto compare_time = [&](std::string_view what, Nanoseconds wanted, Nanoseconds found) {
    comparison.compare(what, nanoseconds(wanted), nanoseconds(found), 2e3 + nanoseconds(wanted) * 1e-3,
                       format_duration);
  };
  const auto compare_probability = [&](std::string_view what, double wanted, double found) {
    comparison.compare(what, wanted, found, 1e-8 + wanted * 1e-3, percent_text);
  };
  compare_time("a delay", requested.delay, applied.delay);
  compare_time("a jitter", requested.jitter, applied.jitter);
  compare_rate(requested, applied, comparison);
  compare_probability("a loss", requested.loss, applied.loss);
  compare_probability("a reordering", requested.reorder, applied.reorder);
  compare_probability("a duplication", requested.duplicate, applied.duplicate);
  if (requested.queue_packets && comparison.both("queue limit", true, applied.queue_packets.has_value())) {
    comparison.compare("a queue", static_cast<double>(*requested.queue_packets),
                       static_cast<double>(*applied.queue_packets), 0, packets_text);
  }
  return comparison.take();
}

namespace {

/// The messages of tc, in different versions, for a qdisc that the kernel does not have.
bool is_unknown_qdisc(const std::string& message) {
  return message.find("Specified qdisc") != std::string::npos || message.find("Unknown qdisc") != std::string::npos;
}

void apply_command(const NamespaceRing& networks, std::size_t stage, const Command& command) {
  try {
    networks.run_in(stage, command);
  } catch (const EnvironmentError& error) {
    if (!is_unknown_qdisc(error.what())) throw;
    const bool netem = std::find(command.begin(), command.end(), "netem") != command.end();
    const char* module = netem ? "sch_netem" : "sch_tbf";
    throw EnvironmentError(
        fmt::format("this kernel has no {}: load its module (sudo modprobe {}), or use a kernel that has it ({})",
                    netem ? "netem" : "tbf", module, error.what()));
  }
}

}  // namespace

ShapedEgress::ShapedEgress(const NamespaceRing& networks, std::size_t stage, std::size_t peer,
                           const experiment::LinkConditions& conditions)
    : networks_(networks), stage_(stage), peer_(peer) {
  try {
    for (const auto& command : shape_commands(NamespaceRing::interface(peer), conditions)) {
      apply_command(networks, stage, command);
      applied_ = true;
    }
  } catch (...) {
    clear();  // the first of two qdiscs
    throw;
  }
}

ShapedEgress::~ShapedEgress() {
  try {
    clear();
  } catch (const EnvironmentError&) {  // it is removed with the namespace
  }
}

experiment::LinkConditions ShapedEgress::read_back() const {
  return shaping::read_back(networks_.run_in(stage_, show_command(NamespaceRing::interface(peer_))));
}

void ShapedEgress::clear() {
  if (!applied_) return;
  applied_ = false;
  networks_.run_in(stage_, clear_command(NamespaceRing::interface(peer_)));
}

ShapedLink::ShapedLink(const NamespaceRing& networks, const experiment::NetworkProfile& profile, std::size_t near,
                       std::size_t far)
    : profile_(profile),
      forward_(networks, near, far, profile.forward),
      backward_(networks, far, near, profile.backward) {}

experiment::NetworkProfile ShapedLink::read_back() const {
  return {profile_.name, forward_.read_back(), backward_.read_back()};
}

std::vector<std::string> ShapedLink::differences() const {
  const auto applied = read_back();
  std::vector<std::string> sentences;
  for (const auto& sentence : shaping::differences(profile_.forward, applied.forward)) {
    sentences.push_back("forward: " + sentence);
  }
  for (const auto& sentence : shaping::differences(profile_.backward, applied.backward)) {
    sentences.push_back("backward: " + sentence);
  }
  return sentences;
}

}  // namespace paretopipe::shaping
