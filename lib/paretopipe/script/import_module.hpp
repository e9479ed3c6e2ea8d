#pragma once
#include <paretopipe/script/container.hpp>

#include <torch/csrc/jit/api/module.h>

namespace paretopipe::script {

/// The archive's module, on the CPU. Its tensors are where the file is mapped, which they keep alive: a page of them is
/// read when it is touched, and can be given back (MappedFile::forget). torch::jit::load would read all of them
/// instead. (What lies at an address that is no multiple of an element's size, as no archive's writer puts it, is
/// copied.) Throws what LibTorch throws of what it cannot import.
torch::jit::Module import_module(const Container& container);

}  // namespace paretopipe::script
