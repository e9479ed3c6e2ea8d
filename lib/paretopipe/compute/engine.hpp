#pragma once
#include <paretopipe/compute/program.hpp>
#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

namespace paretopipe::compute {

/// The blocks that a backend on LibTorch holds.
class Blocks {
 public:
  virtual ~Blocks() = default;

  /// Computes one block, in eager mode, with weights that are in the mode already. May overwrite the inputs.
  virtual Tensors run(int block, Tensors inputs) const = 0;

  /// All blocks of a range as one graph of float32, without blocks and mutation, for inputs of the shapes and the types
  /// that `examples` have. It is the caller's to rewrite.
  virtual std::shared_ptr<torch::jit::Graph> graph_of(config::BlockRange range, const Tensors& examples) const = 0;
};

/// The mode that a backend makes its blocks in, for a model that is computed so: programs are made of float32.
config::ComputeMode mode_of_blocks(const config::ComputeMode& mode);

/// Computes a stage's blocks in one mode, from activation to activation, on the device of the process: what goes into
/// the first block is brought into the mode, what comes out of the last one is float32 and contiguous again. Optimized,
/// every range of blocks becomes a program of its own, so that nothing is fused across a cut; on a GPU in any mode, for
/// the blocks are in the host's memory. Call under c10::InferenceMode, from one thread.
class Engine {
 public:
  /// `blocks` must outlive it.
  explicit Engine(const Blocks& blocks) : blocks_(blocks) {}

  /// For another model, or another mode: forgets all programs.
  void reset(const config::ComputeMode& mode, int block_count);

  /// Where there are programs, makes the range's for such inputs, runs it once, and forgets all others.
  void prepare(config::BlockRange range, const stage::Boundary& incoming);

  /// As stage::Backend::forward has it, of a range that is not empty. The first call for a range whose program was not
  /// prepared takes longer. Returns when the result is there, on the process's device; an input that is still in the
  /// host's memory is taken there first.
  stage::Activation forward(config::BlockRange range, stage::Activation input);

  /// Memory of the programs' parameters, without those that lie at one of the addresses: the blocks' own.
  std::int64_t program_bytes(const std::unordered_set<const void*>& shared) const;

 private:
  struct Key {
    int begin;
    int end;
    std::vector<std::int64_t> shapes;  ///< of the inputs, each behind its number of dimensions
    auto operator<=>(const Key&) const = default;
  };

  static Key key_of(config::BlockRange range, const Tensors& inputs);
  Tensors run_blocks(config::BlockRange range, Tensors tensors) const;
  const Program& program(config::BlockRange range, const Tensors& inputs);
  Program make_program(config::BlockRange range, const Tensors& inputs) const;

  const Blocks& blocks_;
  config::ComputeMode mode_;
  int block_count_ = 0;
  std::map<Key, Program> programs_;
};

}  // namespace paretopipe::compute
