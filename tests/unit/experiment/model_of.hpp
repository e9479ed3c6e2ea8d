#pragma once
#include <paretopipe/experiment/model_description.hpp>

#include <cstddef>
#include <string>

namespace paretopipe::experiment {

/// A model of so many blocks, of which nothing else is known.
inline ModelDescription model_of(const std::string& name, std::size_t blocks) {
  ModelDescription model;
  model.model = name;
  model.blocks.resize(blocks);
  return model;
}

}  // namespace paretopipe::experiment
