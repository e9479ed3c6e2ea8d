#pragma once
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "torch_backend.hpp"

namespace paretopipe::compute {

/// The mode in which a backend makes the blocks of a model that computes in `mode`. Programs are made from float32
/// blocks.
experiment::ComputeMode mode_of_blocks(const experiment::ComputeMode& mode);

/// Computes a stage's blocks in one mode, from activation to activation, on the process's device. The input of the
/// first block is converted to the mode; the output of the last block is float32 and contiguous again. In optimized
/// mode every range of blocks becomes its own program, so that nothing is fused across a cut. On a GPU this holds in
/// every mode, because the blocks are in host memory. Call under c10::InferenceMode, from one thread.
class Engine {
 public:
  /// `source` must outlive it.
  explicit Engine(const BlockSource& source) : source_(source) {}

  /// Says which model's blocks come next. `identity` is all that determines them: blocks of another model are dropped,
  /// and programs that are still held are reused if it is equal.
  void use(const stage::ModelRequest& identity);

  /// The name of that model, for messages.
  const std::string& model() const { return models_.at(model_).model; }

  bool holds(experiment::BlockRange range) const;

  /// Makes those blocks of the range that are not held. Throws UsageError if the model has no such range.
  void take(const OpenModel& opened, experiment::BlockRange range);

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

  /// Bytes of the parameters of the range's blocks, and what its programs hold beyond the blocks' own parameters, each
  /// counted once.
  host::StageMemory memory_of(experiment::BlockRange range) const;

  /// Forgets the blocks outside the range, and the programs of all other ranges and models.
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
  std::vector<const HeldBlock*> blocks_of(experiment::BlockRange range) const;
  std::vector<at::Tensor> tensors() const;
  std::int64_t program_bytes() const;
  std::int64_t limit() const;
  void run_once(experiment::BlockRange range, const stage::Boundary& incoming);
  void make_room(const Key* current);
  const Program& program(experiment::BlockRange range, const Tensors& inputs);
  Program make_program(experiment::BlockRange range, const Tensors& inputs) const;

  const BlockSource& source_;
  std::map<int, HeldBlock> blocks_;
  experiment::ComputeMode mode_;
  int block_count_ = 0;
  std::vector<stage::ModelRequest> models_{{}};  ///< models whose programs may be held; the first one has no name
  std::size_t model_ = 0;                        ///< index of the model whose blocks these are
  std::map<Key, Held> programs_;
  /// program_bytes(), until blocks or programs change. Counting takes a millisecond with the programs of many ranges.
  mutable std::optional<std::int64_t> program_bytes_;
  std::int64_t limit_bytes_ = 0;
  std::int64_t preparations_ = 0;
};

}  // namespace paretopipe::compute
