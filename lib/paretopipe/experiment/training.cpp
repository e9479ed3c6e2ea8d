#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/training.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

constexpr std::array kTasks{Task::infer, Task::train};
constexpr std::array kSchedules{Schedule::gpipe, Schedule::one_f_one_b, Schedule::pipedream};
constexpr std::array kRateSchedules{RateSchedule::constant, RateSchedule::cosine, RateSchedule::linear};
constexpr std::array kOptimizers{OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw};

/// The value of `all` whose name is `text`.
template <class Values>
auto parse_one(const char* what, const std::string& text, const Values& all) {
  std::vector<std::string> known;
  for (const auto value : all) {
    known.push_back(to_string(value));
    if (text == known.back()) return value;
  }
  throw UsageError(
      fmt::format("{} is \"{}\"; it must be {}{}", what, text, fmt::join(known, " or "), did_you_mean(text, known)));
}

}  // namespace

std::string to_string(Task task) {
  return task == Task::train ? "train" : "infer";
}

Task parse_task(const std::string& text) {
  return parse_one("task", text, kTasks);
}

std::string to_string(Schedule schedule) {
  switch (schedule) {
    case Schedule::one_f_one_b:
      return "1f1b";
    case Schedule::pipedream:
      return "pipedream";
    case Schedule::gpipe:
      break;
  }
  return "gpipe";
}

Schedule parse_schedule(const std::string& text) {
  return parse_one("schedule", text, kSchedules);
}

std::string to_string(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adam:
      return "adam";
    case OptimizerKind::adamw:
      return "adamw";
    case OptimizerKind::sgd:
      break;
  }
  return "sgd";
}

OptimizerKind parse_optimizer(const std::string& text) {
  return parse_one("optimizer", text, kOptimizers);
}

std::string to_string(RateSchedule schedule) {
  switch (schedule) {
    case RateSchedule::cosine:
      return "cosine";
    case RateSchedule::linear:
      return "linear";
    case RateSchedule::constant:
      break;
  }
  return "constant";
}

RateSchedule parse_rate_schedule(const std::string& text) {
  return parse_one("lr_schedule", text, kRateSchedules);
}

double learning_rate(const Optimizer& optimizer, std::int64_t update, std::int64_t updates) {
  const double warmup =
      std::floor(optimizer.warmup < 1 ? optimizer.warmup * static_cast<double>(updates) : optimizer.warmup);
  const auto now = static_cast<double>(update);
  if (now < warmup) return optimizer.learning_rate * (now + 1) / warmup;
  const double done = (now - warmup) / (static_cast<double>(updates) - warmup);
  switch (optimizer.schedule) {
    case RateSchedule::cosine:
      return optimizer.learning_rate * (1 + std::cos(std::numbers::pi * done)) / 2;
    case RateSchedule::linear:
      return optimizer.learning_rate * (1 - done);
    case RateSchedule::constant:
      break;
  }
  return optimizer.learning_rate;
}

void to_json(nlohmann::json& json, const Training& training) {
  const auto& optimizer = training.optimizer;
  json = {{"schedule", to_string(training.schedule)},
          {"optimizer", to_string(optimizer.kind)},
          {"lr", optimizer.learning_rate}};
  if (optimizer.momentum != 0) json["momentum"] = optimizer.momentum;
  if (optimizer.weight_decay != 0) json["weight_decay"] = optimizer.weight_decay;
  if (optimizer.schedule != RateSchedule::constant) json["lr_schedule"] = to_string(optimizer.schedule);
  if (optimizer.warmup != 0) json["lr_warmup"] = optimizer.warmup;
  if (training.recompute) json["recompute"] = true;
  if (training.loss_sum) json["loss_sum"] = true;
}

void from_json(const nlohmann::json& json, Training& training) {
  training.schedule = parse_schedule(json.at("schedule").get<std::string>());
  training.optimizer = {parse_optimizer(json.at("optimizer").get<std::string>()),
                        json.at("lr").get<double>(),
                        json.value("momentum", 0.0),
                        json.value("weight_decay", 0.0),
                        parse_rate_schedule(json.value("lr_schedule", "constant")),
                        json.value("lr_warmup", 0.0)};
  training.recompute = json.value("recompute", false);
  training.loss_sum = json.value("loss_sum", false);
}

std::string describe(const Optimizer& optimizer) {
  auto text = fmt::format("{} lr {:g}", to_string(optimizer.kind), optimizer.learning_rate);
  if (optimizer.momentum != 0) text += fmt::format(" momentum {:g}", optimizer.momentum);
  if (optimizer.weight_decay != 0) text += fmt::format(" weight decay {:g}", optimizer.weight_decay);
  if (optimizer.schedule != RateSchedule::constant) text += " " + to_string(optimizer.schedule);
  if (optimizer.warmup >= 1) text += fmt::format(" after {:g} steps of warm-up", optimizer.warmup);
  if (optimizer.warmup > 0 && optimizer.warmup < 1)
    text += fmt::format(" after {:g} % warm-up", 100 * optimizer.warmup);
  return text;
}

std::string describe(const Training& training) {
  return fmt::format("{}, {}{}{}", to_string(training.schedule), describe(training.optimizer),
                     training.recompute ? ", recomputed" : "", training.loss_sum ? ", losses summed" : "");
}

}  // namespace paretopipe::experiment
