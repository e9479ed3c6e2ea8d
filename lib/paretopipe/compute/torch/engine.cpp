#include "engine.hpp"

#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <utility>

#include <ATen/ops/zeros.h>

#include "device.hpp"
#include "optimise.hpp"
#include "tensors.hpp"

namespace paretopipe::compute {

namespace {

bool uses_programs(const experiment::ComputeMode& mode) {
  return mode.compute == experiment::Compute::optimized || !device().is_cpu();
}

/// Bytes by address.
using Memory = std::map<const void*, std::int64_t>;

/// A tensor in a oneDNN layout has no address, so its TensorImpl's is used. It shares its memory with no other.
Memory bytes_by_address(const std::vector<at::Tensor>& tensors) {
  Memory memory;
  for (const auto& tensor : tensors) {
    const void* place = tensor.is_mkldnn() ? tensor.unsafeGetTensorImpl() : tensor.data_ptr();
    memory.emplace(place, tensor.numel() * static_cast<std::int64_t>(tensor.element_size()));
  }
  return memory;
}

/// Adds to `counted` what it lacks; returns the bytes of these entries.
std::int64_t add_new(Memory& counted, const Memory& more) {
  std::int64_t bytes = 0;
  for (const auto& [place, size] : more) bytes += counted.emplace(place, size).second ? size : 0;
  return bytes;
}

}  // namespace

experiment::ComputeMode mode_of_blocks(const experiment::ComputeMode& mode) {
  return uses_programs(mode) ? experiment::ComputeMode{} : mode;
}

void Engine::use(const stage::ModelRequest& identity) {
  if (models_.at(model_) == identity) return;
  blocks_.clear();
  program_bytes_.reset();
  mode_ = identity.compute;
  model_ = static_cast<std::size_t>(std::find(models_.begin(), models_.end(), identity) - models_.begin());
  if (model_ == models_.size()) models_.push_back(identity);
  make_room(nullptr);
}

bool Engine::holds(experiment::BlockRange range) const {
  bool all = range.begin < range.end;
  for (int i = range.begin; i < range.end; ++i) all = all && blocks_.contains(i);
  return all;
}

void Engine::take(const OpenModel& opened, experiment::BlockRange range) {
  if (range.begin < 0 || range.begin > range.end || range.end > opened.block_count) {
    throw UsageError(fmt::format("{} has blocks 0 to {}; there is no range [{}, {})", model(), opened.block_count - 1,
                                 range.begin, range.end));
  }
  block_count_ = opened.block_count;
  for (int i = range.begin; i < range.end; ++i) {
    if (!blocks_.contains(i)) blocks_.emplace(i, opened.make_block(i));
  }
  program_bytes_.reset();
}

void Engine::keep_at_most(std::int64_t bytes) {
  limit_bytes_ = bytes;
  make_room(nullptr);
}

std::optional<Preparation> Engine::prepare(experiment::BlockRange range, const stage::Boundary& incoming) {
  if (!uses_programs(mode_)) return std::nullopt;
  const auto begin = now_ns();
  auto key = key_of(range);
  for (const auto& spec : incoming) key.add(spec.shape);
  Preparation done{.made = !range.empty() && !programs_.contains(key), .limit_bytes = limit()};
  make_room(&key);
  if (done.made) run_once(range, incoming);
  if (!range.empty()) {
    auto& held = programs_.at(key);
    held.prepared = ++preparations_;
    auto blocks = bytes_by_address(tensors());
    done.graph_bytes = add_new(blocks, held.memory);
    make_room(&key);
  }
  done.graphs = static_cast<int>(programs_.size());
  done.graphs_bytes = program_bytes();
  done.duration_ns = now_ns() - begin;
  return done;
}

void Engine::run_once(experiment::BlockRange range, const stage::Boundary& incoming) {
  Tensors examples;
  for (const auto& spec : incoming) examples.push_back(to_tensor(allocate_activation(spec)).zero_().to(device()));
  if (range.begin == 0) examples.front() = in_mode(examples.front(), mode_);
  program(range, examples).run(examples);
}

stage::Activation Engine::forward(experiment::BlockRange range, stage::Activation input) {
  // Held until all is computed: freed GPU memory is reused for another activation at once.
  const auto held = to_device(std::move(input), device());
  auto tensors = to_tensors(held);
  if (range.begin == 0) tensors.front() = in_mode(tensors.front(), mode_);
  if (uses_programs(mode_)) {
    const auto& code = program(range, tensors);
    tensors = code.run(std::move(tensors));
  } else {
    for (const auto* block : blocks_of(range)) tensors = block->run(std::move(tensors));
  }
  auto output = range.end == block_count_
                    ? to_activation(tensors.front().to(at::kFloat), wire::MemoryFormat::contiguous)
                    : to_activation(std::move(tensors), mode_);
  finish(device());
  return output;
}

std::int64_t Engine::held_bytes() const {
  std::int64_t bytes = program_bytes();
  for (const auto& [place, size] : bytes_by_address(tensors())) bytes += size;
  return bytes;
}

host::StageMemory Engine::memory_of(experiment::BlockRange range) const {
  host::StageMemory memory;
  Memory weights;
  for (const auto* block : blocks_of(range)) memory.weights_bytes += add_new(weights, bytes_by_address(block->tensors));
  const std::pair<const Key, Held>* prepared = nullptr;
  for (const auto& program : programs_) {
    const auto& key = program.first;
    const bool of_range = key.model == model_ && key.begin == range.begin && key.end == range.end;
    if (of_range && (prepared == nullptr || program.second.prepared > prepared->second.prepared)) prepared = &program;
  }
  auto counted = bytes_by_address(tensors());
  if (prepared != nullptr) memory.prepared_bytes = add_new(counted, prepared->second.memory);
  return memory;
}

void Engine::keep_only(experiment::BlockRange range) {
  std::erase_if(blocks_, [&](const auto& held) { return held.first < range.begin || held.first >= range.end; });
  std::erase_if(programs_, [&](const auto& held) {
    const auto& key = held.first;
    return key.model != model_ || key.begin != range.begin || key.end != range.end;
  });
  program_bytes_.reset();
}

/// A tensor shared by a held block and a program counts as the block's. It counts as the program's once only the
/// program keeps it.
std::int64_t Engine::program_bytes() const {
  if (program_bytes_) return *program_bytes_;
  auto counted = bytes_by_address(tensors());
  std::int64_t bytes = 0;
  for (const auto& [key, held] : programs_) bytes += add_new(counted, held.memory);
  program_bytes_ = bytes;
  return bytes;
}

std::int64_t Engine::limit() const {
  return device().is_cpu() ? limit_bytes_ : 0;
}

/// Forgets the programs that were prepared longest ago until the rest fits; always keeps `current`.
void Engine::make_room(const Key* current) {
  while (limit() == 0 || program_bytes() > limit()) {
    auto oldest = programs_.end();
    for (auto entry = programs_.begin(); entry != programs_.end(); ++entry) {
      if (current != nullptr && entry->first == *current) continue;
      if (oldest == programs_.end() || entry->second.prepared < oldest->second.prepared) oldest = entry;
    }
    if (oldest == programs_.end()) return;
    programs_.erase(oldest);
    program_bytes_.reset();
  }
}

Engine::Key Engine::key_of(experiment::BlockRange range) const {
  Key key{model_, range.begin, range.end, {}};
  key.shapes.reserve(std::size_t{experiment::kMostCrossing} * (1 + wire::kMaxRank));
  return key;
}

void Engine::Key::add(c10::IntArrayRef shape) {
  shapes.push_back(static_cast<std::int64_t>(shape.size()));
  shapes.insert(shapes.end(), shape.begin(), shape.end());
}

std::vector<const HeldBlock*> Engine::blocks_of(experiment::BlockRange range) const {
  std::vector<const HeldBlock*> blocks;
  for (int i = range.begin; i < range.end; ++i) {
    const auto found = blocks_.find(i);
    if (found == blocks_.end()) {
      throw Error(ExitCode::internal, fmt::format("block {} of {} is computed but was not loaded", i, model()));
    }
    blocks.push_back(&found->second);
  }
  return blocks;
}

std::vector<at::Tensor> Engine::tensors() const {
  std::vector<at::Tensor> tensors;
  for (const auto& [index, block] : blocks_) tensors.insert(tensors.end(), block.tensors.begin(), block.tensors.end());
  return tensors;
}

const Program& Engine::program(experiment::BlockRange range, const Tensors& inputs) {
  auto key = key_of(range);
  for (const auto& input : inputs) key.add(input.sizes());
  const auto found = programs_.find(key);
  if (found != programs_.end()) return found->second.program;
  auto program = make_program(range, inputs);
  auto memory = bytes_by_address(program.tensors());
  program_bytes_.reset();
  return programs_.emplace(key, Held{std::move(program), std::move(memory)}).first->second.program;
}

Program Engine::make_program(experiment::BlockRange range, const Tensors& inputs) const {
  Tensors examples;
  for (const auto& input : inputs) {
    examples.push_back(at::zeros(input.sizes(), input.is_floating_point() ? at::kFloat : input.scalar_type()));
  }
  auto graph = source_.graph_of(blocks_of(range), examples);
  for (auto& example : examples) example = in_mode(example, mode_).to(device());
  if (mode_.compute == experiment::Compute::optimized) {
    optimise(graph, examples, mode_);
  } else {
    place(graph, mode_, device());
  }
  return Program(std::move(graph));
}

}  // namespace paretopipe::compute
