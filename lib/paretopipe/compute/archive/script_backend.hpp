#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>

// Runs a user's TorchScript archives on LibTorch. This header is the folder's only public one and needs no LibTorch
// header.
//
//   container         checks what the file is before LibTorch reads it; executes nothing of it
//   import_module     the file's module, whose tensors are in the mapped file
//   prepare           the module as one graph: frozen, inlined, without mutation; refused if it cannot be cut
//   list_appends      replaces lists that grow by lists that are constructed anew
//   node_names        names operators by their author's modules
//   cut               the tensors that cross from one side to the other
//   find_cuts         where one tensor crosses, through which every path from input to output goes, or two
//   archive_model     all of this: makes a graph and its cuts from a file
//   measure           what crosses each cut
//   choose_cuts       which of these are offered: unit, all, modules, a pattern
//   describe_archive  describes a chain of blocks, from a file, a shape and a choice
//   slice             what lies between two cuts, as its own graph
//   own_tensors       a slice's parameters in their own memory
//   chain             makes the blocks from a file and its description
namespace paretopipe::archive {

/// Makes the backend for archives. `request.model` is the absolute path, and `request.archive` says how it is used.
/// Computes in any experiment::ComputeMode, without autograd. In eager mode and float32 it computes operator by
/// operator as the archive itself does, and no bit differs. Thread safety and errors are as stage::Backend states. A
/// file that is no archive, has changed since its SHA-256 was taken, or cannot be cut is a UsageError that says what is
/// in the way.
std::unique_ptr<stage::Backend> make_script_backend();

}  // namespace paretopipe::archive
