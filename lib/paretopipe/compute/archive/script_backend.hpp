#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>

// Runs a user's TorchScript archives on LibTorch. This header is the folder's only public one and needs no LibTorch
// header.
//
//   container         checks what the file is before LibTorch reads it; executes nothing of it
//   prepare           the module as one graph: frozen, inlined, without mutation; refused if it cannot be cut
//   rewrite_mutation  lists and new tensors that code fills in place, without mutation
//   state_inputs      what is different about a graph that is to be trained: parameters stay apart from constants
//   node_names        names operators by their author's modules
//   cuts              finds the cuts, which one tensor crosses, or two; chooses those that are offered: unit, all,
//                     modules, a pattern
//   archive_model     all of this: makes a graph and its cuts from a file, with the tensors in the mapped file
//   describe_archive  measures what crosses each cut, and describes a chain of blocks
//   slice             what lies between two cuts, as its own graph
//   trainable         a slice as a block that trains, and which block has which tensor of the state_dict
//   chain             makes the blocks, with their own parameters, from a file and its description
namespace paretopipe::archive {

/// Makes the backend for archives. `request.model` is the absolute path, and `request.archive` says how it is used.
/// Computes in any experiment::ComputeMode, and trains (experiment::Archive::trained). In eager mode and float32 it
/// computes operator by operator as the archive itself does, and no bit differs. Thread safety and errors are as
/// stage::Backend states. A file that is no archive, has changed since its SHA-256 was taken, or cannot be cut is a
/// UsageError that says what is in the way.
std::unique_ptr<stage::Backend> make_script_backend();

}  // namespace paretopipe::archive
