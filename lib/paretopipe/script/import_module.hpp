#pragma once
#include <paretopipe/script/container.hpp>

#include <torch/csrc/jit/api/module.h>

namespace paretopipe::script {

/// Loads the archive's module on the CPU. Its tensors are in the mapped file, which they keep alive: a page is read
/// when it is touched, and can be released (MappedFile::forget). torch::jit::load would read all of them instead.
/// Unaligned tensors, which no archive's writer makes, are copied. Throws what LibTorch throws for what it cannot
/// import.
torch::jit::Module import_module(const Container& container);

}  // namespace paretopipe::script
