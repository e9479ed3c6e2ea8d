#pragma once
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "program.hpp"

namespace paretopipe::compute {

/// The blocks that a LibTorch backend holds.
class Blocks {
 public:
  virtual ~Blocks() = default;

  /// Computes one block in eager mode, with weights that are already in the mode. May overwrite the inputs.
  virtual Tensors run(int block, Tensors inputs) const = 0;

  /// Makes one float32 graph of all blocks of a range, without control-flow blocks or mutation, for inputs of the
  /// shapes and types of `examples`. The caller may rewrite it.
  virtual std::shared_ptr<torch::jit::Graph> graph_of(experiment::BlockRange range, const Tensors& examples) const = 0;

  /// The parameters and buffers of all blocks that are currently held.
  virtual std::vector<at::Tensor> tensors() const = 0;
};

/// The mode in which a backend makes the blocks of a model that computes in `mode`. Programs are made from float32
/// blocks.
experiment::ComputeMode mode_of_blocks(const experiment::ComputeMode& mode);

/// Computes a stage's blocks in one mode, from activation to activation, on the process's device. The input of the
/// first block is converted to the mode; the output of the last block is float32 and contiguous again. In optimized
/// mode every range of blocks becomes its own program, so that nothing is fused across a cut. On a GPU this holds in
/// every mode, because the blocks are in host memory. Call under c10::InferenceMode, from one thread.
class Engine {
 public:
  /// `blocks` must outlive it.
  explicit Engine(const Blocks& blocks) : blocks_(blocks) {}

  /// Says that the blocks now belong to another model or compute in another mode. `identity` is all that determines
  /// them: programs that are still held are reused if it is equal.
  void use(const stage::ModelRequest& identity, int block_count);

  /// Limits the memory of programs; those prepared longest ago are forgotten first. On a GPU, whose memory the limit
  /// does not describe, only the latest program is kept.
  void keep_at_most(std::int64_t bytes);

  /// In modes with programs, makes the range's program for such inputs and runs it once, unless it is already held.
  std::optional<Preparation> prepare(experiment::BlockRange range, const stage::Boundary& incoming);

  /// As stage::Backend::forward, for a range that is not empty. The first call for a range whose program was not
  /// prepared takes longer. Returns when the result is complete, on the process's device. An input in host memory is
  /// first copied there.
  stage::Activation forward(experiment::BlockRange range, stage::Activation input);

  /// Bytes of the parameters of blocks and programs, each counted once.
  std::int64_t held_bytes() const;

  /// Bytes that the range's programs hold beyond the blocks' own parameters, each counted once.
  std::int64_t program_bytes(experiment::BlockRange range) const;

  /// Forgets the programs of all other ranges and models.
  void keep_only(experiment::BlockRange range);

 private:
  struct Key {
    std::size_t model;  ///< its place in `models_`
    int begin;
    int end;
    std::vector<std::int64_t> shapes;  ///< the inputs' shapes, each preceded by its rank
    auto operator<=>(const Key&) const = default;
    void add(c10::IntArrayRef shape);
  };

  struct Held {
    Program program;
    std::map<const void*, std::int64_t> memory;  ///< bytes of its parameters by address
    std::int64_t prepared = 0;                   ///< number of its latest preparation; 0: not yet
  };

  /// A key without inputs, to which the caller adds them.
  Key key_of(experiment::BlockRange range) const;
  std::int64_t program_bytes() const;
  std::int64_t limit() const;
  void run_once(experiment::BlockRange range, const stage::Boundary& incoming);
  void make_room(const Key* current);
  Tensors run_blocks(experiment::BlockRange range, Tensors tensors) const;
  const Program& program(experiment::BlockRange range, const Tensors& inputs);
  Program make_program(experiment::BlockRange range, const Tensors& inputs) const;

  const Blocks& blocks_;
  experiment::ComputeMode mode_;
  int block_count_ = 0;
  std::vector<stage::ModelRequest> models_;  ///< models whose programs may be held
  std::size_t model_ = 0;                    ///< index of the model whose blocks these are
  std::map<Key, Held> programs_;
  std::int64_t limit_bytes_ = 0;
  std::int64_t preparations_ = 0;
};

}  // namespace paretopipe::compute
