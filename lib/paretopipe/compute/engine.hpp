#pragma once
#include <paretopipe/compute/program.hpp>
#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

  /// The parameters and buffers of all blocks that are held now.
  virtual std::vector<at::Tensor> tensors() const = 0;
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

  /// The blocks are now those of another model, or are computed in another mode. `identity` is what decides them: of
  /// the same one, programs that are still held are used again.
  void use(const stage::ModelRequest& identity, int block_count);

  /// How much memory programs may take before those are forgotten that were prepared longest ago. On a GPU, whose
  /// memory this is not, only the latest is ever kept.
  void keep_at_most(std::int64_t bytes);

  /// Where there are programs, makes the range's for such inputs and runs it once, unless it is held already.
  std::optional<Preparation> prepare(config::BlockRange range, const stage::Boundary& incoming);

  /// As stage::Backend::forward has it, of a range that is not empty. The first call for a range whose program was not
  /// prepared takes longer. Returns when the result is there, on the process's device; an input that is still in the
  /// host's memory is taken there first.
  stage::Activation forward(config::BlockRange range, stage::Activation input);

  /// Bytes of the blocks' and the programs' parameters, each counted once.
  std::int64_t held_bytes() const;

  /// Bytes that the range's programs hold beyond the blocks' own parameters, each counted once.
  std::int64_t program_bytes(config::BlockRange range) const;

  /// Forgets the programs of all other ranges and models.
  void keep_only(config::BlockRange range);

 private:
  struct Key {
    std::size_t model;  ///< its place in `models_`
    int begin;
    int end;
    std::vector<std::int64_t> shapes;  ///< of the inputs, each behind its number of dimensions
    auto operator<=>(const Key&) const = default;
    void add(c10::IntArrayRef shape);
  };

  struct Held {
    Program program;
    std::map<const void*, std::int64_t> memory;  ///< of its parameters: where, and how many bytes
    std::int64_t prepared = 0;                   ///< when: the number of the preparation; 0: not yet
  };

  /// Inputs are to be added.
  Key key_of(config::BlockRange range) const;
  std::int64_t program_bytes() const;
  std::int64_t limit() const;
  void run_once(config::BlockRange range, const stage::Boundary& incoming);
  void make_room(const Key* current);
  Tensors run_blocks(config::BlockRange range, Tensors tensors) const;
  const Program& program(config::BlockRange range, const Tensors& inputs);
  Program make_program(config::BlockRange range, const Tensors& inputs) const;

  const Blocks& blocks_;
  config::ComputeMode mode_;
  int block_count_ = 0;
  std::vector<stage::ModelRequest> models_;  ///< whose programs may be held
  std::size_t model_ = 0;                    ///< whose blocks these are
  std::map<Key, Held> programs_;
  std::int64_t limit_bytes_ = 0;
  std::int64_t preparations_ = 0;
};

}  // namespace paretopipe::compute
