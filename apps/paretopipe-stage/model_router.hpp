#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>

namespace paretopipe {

/// Combines three backends: model files go to `archives`, synthetic models to `synthetic`, all others to `networks`.
std::unique_ptr<stage::Backend> make_model_router(std::unique_ptr<stage::Backend> networks,
                                                  std::unique_ptr<stage::Backend> archives,
                                                  std::unique_ptr<stage::Backend> synthetic);

}  // namespace paretopipe
