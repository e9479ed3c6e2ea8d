#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>

// TorchScript archives that a person brings, on LibTorch. This header is the folder's only public one and needs no
// LibTorch header.
//
//   container         what the file is, before LibTorch reads it: nothing in it is executed
//   import_module     its module, whose tensors are where the file is mapped
//   prepare           the module as one graph: frozen, inlined, without mutation; refused where it cannot be cut
//   list_appends      lists that grow, as lists that are constructed anew
//   node_names        operators by the names of their author's modules
//   cut               the tensors that cross from one side to the other
//   find_cuts         where one tensor crosses, through which every path from input to output goes, or two
//   archive_model     all of this: a file becomes a graph and its cuts
//   measure           what crosses each cut
//   choose_cuts       which of these are offered: unit, all, modules, a pattern
//   describe_archive  a file, a shape and a choice become the description of a chain of blocks
//   slice             what lies between two cuts, as a graph of its own
//   own_tensors       its numbers, in memory of its own
//   chain             a file and its description become these blocks
namespace paretopipe::script {

/// Archives as the pipeline sees them. `request.model` is the absolute path and `request.archive` says how it is used.
/// Computes in any config::ComputeMode, without autograd; in eager mode and float32 operator by operator as the archive
/// does itself: no bit differs. Thread safety and errors as stage::Backend states; a file that is no archive, one that
/// has changed since its SHA-256 was taken, and one that cannot be cut are UsageErrors that say what is in the way.
std::unique_ptr<stage::Backend> make_script_backend();

}  // namespace paretopipe::script
