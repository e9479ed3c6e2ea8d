#pragma once
#include <paretopipe/core/file_descriptor.hpp>

namespace paretopipe::launch {

using paretopipe::FileDescriptor;

}  // namespace paretopipe::launch
