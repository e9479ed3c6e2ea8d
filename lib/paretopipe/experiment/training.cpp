#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/training.hpp>

#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

constexpr Word<Task> kTasks[]{{Task::infer, "infer"}, {Task::train, "train"}};
constexpr Word<Schedule> kSchedules[]{
    {Schedule::gpipe, "gpipe"}, {Schedule::one_f_one_b, "1f1b"}, {Schedule::pipedream, "pipedream"}};
constexpr Word<OptimizerKind> kOptimizers[]{
    {OptimizerKind::sgd, "sgd"}, {OptimizerKind::adam, "adam"}, {OptimizerKind::adamw, "adamw"}};
constexpr Word<RateSchedule> kRateSchedules[]{
    {RateSchedule::constant, "constant"}, {RateSchedule::cosine, "cosine"}, {RateSchedule::linear, "linear"}};

}  // namespace

std::string to_string(Task task) {
  return word_of(kTasks, task);
}

Task parse_task(const std::string& text) {
  return parse_word("task", kTasks, text);
}

std::string to_string(Schedule schedule) {
  return word_of(kSchedules, schedule);
}

Schedule parse_schedule(const std::string& text) {
  return parse_word("schedule", kSchedules, text);
}

std::string to_string(OptimizerKind kind) {
  return word_of(kOptimizers, kind);
}

OptimizerKind parse_optimizer(const std::string& text) {
  return parse_word("optimizer", kOptimizers, text);
}

std::string to_string(RateSchedule schedule) {
  return word_of(kRateSchedules, schedule);
}

RateSchedule parse_rate_schedule(const std::string& text) {
  return parse_word("lr_schedule", kRateSchedules, text);
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
