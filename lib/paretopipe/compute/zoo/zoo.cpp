#include "zoo.hpp"

#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::zoo {

namespace {

constexpr std::array kModels{
    Model{"alexnet", 224, 17, alexnet},
    Model{"vgg16", 224, 35, vgg16},
    Model{"resnet18", 224, 10, resnet18},
    Model{"resnet50", 224, 18, resnet50},
    Model{"mobilenet_v2", 224, 20, mobilenet_v2},
    Model{"inception_v3", 299, 19, inception_v3},
    Model{"resnet101", 224, 35, resnet101},
    Model{"densenet121", 224, 63, densenet121},
    Model{"densenet_cifar", 32, 63, densenet_cifar},
    Model{"vit_b_16", 224, 14, vit_b_16},
    Model{"roberta_base", 128, 14, roberta_base, kRobertaVocabulary},
};

}  // namespace

std::span<const Model> models() {
  return kModels;
}

const Model& find_model(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &Model::name);
  if (found == kModels.end()) {
    throw UsageError(fmt::format("there is no model \"{}\"; known are {}", name, fmt::join(model_names(), ", ")));
  }
  return *found;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& model : kModels) names.emplace_back(model.name);
  return names;
}

}  // namespace paretopipe::zoo
