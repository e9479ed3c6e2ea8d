#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/training.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

constexpr std::array kTasks{Task::infer, Task::train};
constexpr std::array kSchedules{Schedule::gpipe, Schedule::one_f_one_b, Schedule::pipedream};
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

void to_json(nlohmann::json& json, const Training& training) {
  const auto& optimizer = training.optimizer;
  json = {{"schedule", to_string(training.schedule)},
          {"optimizer", to_string(optimizer.kind)},
          {"lr", optimizer.learning_rate}};
  if (optimizer.momentum != 0) json["momentum"] = optimizer.momentum;
  if (optimizer.weight_decay != 0) json["weight_decay"] = optimizer.weight_decay;
  if (training.recompute) json["recompute"] = true;
}

void from_json(const nlohmann::json& json, Training& training) {
  training.schedule = parse_schedule(json.at("schedule").get<std::string>());
  training.optimizer = {parse_optimizer(json.at("optimizer").get<std::string>()), json.at("lr").get<double>(),
                        json.value("momentum", 0.0), json.value("weight_decay", 0.0)};
  training.recompute = json.value("recompute", false);
}

std::string describe(const Optimizer& optimizer) {
  auto text = fmt::format("{} lr {:g}", to_string(optimizer.kind), optimizer.learning_rate);
  if (optimizer.momentum != 0) text += fmt::format(" momentum {:g}", optimizer.momentum);
  if (optimizer.weight_decay != 0) text += fmt::format(" weight decay {:g}", optimizer.weight_decay);
  return text;
}

std::string describe(const Training& training) {
  return fmt::format("{}, {}{}", to_string(training.schedule), describe(training.optimizer),
                     training.recompute ? ", recomputed" : "");
}

}  // namespace paretopipe::experiment
