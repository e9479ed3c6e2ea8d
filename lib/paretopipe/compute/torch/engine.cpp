#include "engine.hpp"

#include <paretopipe/core/clock.hpp>

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

/// A tensor in a oneDNN layout has no address and shares its memory with no other; it is left out.
Memory memory_of(const std::vector<at::Tensor>& tensors) {
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

void Engine::use(const stage::ModelRequest& identity, int block_count) {
  mode_ = identity.compute;
  block_count_ = block_count;
  model_ = static_cast<std::size_t>(std::find(models_.begin(), models_.end(), identity) - models_.begin());
  if (model_ == models_.size()) models_.push_back(identity);
  make_room(nullptr);
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
    auto blocks = memory_of(blocks_.tensors());
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
    tensors = run_blocks(range, std::move(tensors));
  }
  auto output = range.end == block_count_
                    ? to_activation(tensors.front().to(at::kFloat), wire::MemoryFormat::contiguous)
                    : to_activation(std::move(tensors), mode_);
  finish(device());
  return output;
}

std::int64_t Engine::held_bytes() const {
  std::int64_t bytes = program_bytes();
  for (const auto& [place, size] : memory_of(blocks_.tensors())) bytes += size;
  return bytes;
}

std::int64_t Engine::program_bytes(experiment::BlockRange range) const {
  auto counted = memory_of(blocks_.tensors());
  std::int64_t bytes = 0;
  for (const auto& [key, held] : programs_) {
    if (key.model == model_ && key.begin == range.begin && key.end == range.end) bytes += add_new(counted, held.memory);
  }
  return bytes;
}

void Engine::keep_only(experiment::BlockRange range) {
  std::erase_if(programs_, [&](const auto& held) {
    const auto& key = held.first;
    return key.model != model_ || key.begin != range.begin || key.end != range.end;
  });
}

/// A tensor shared by a held block and a program counts as the block's. It counts as the program's once only the
/// program keeps it.
std::int64_t Engine::program_bytes() const {
  auto counted = memory_of(blocks_.tensors());
  std::int64_t bytes = 0;
  for (const auto& [key, held] : programs_) bytes += add_new(counted, held.memory);
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

Tensors Engine::run_blocks(experiment::BlockRange range, Tensors tensors) const {
  for (int i = range.begin; i < range.end; ++i) tensors = blocks_.run(i, std::move(tensors));
  return tensors;
}

const Program& Engine::program(experiment::BlockRange range, const Tensors& inputs) {
  auto key = key_of(range);
  for (const auto& input : inputs) key.add(input.sizes());
  const auto found = programs_.find(key);
  if (found != programs_.end()) return found->second.program;
  auto program = make_program(range, inputs);
  auto memory = memory_of(program.tensors());
  return programs_.emplace(key, Held{std::move(program), std::move(memory)}).first->second.program;
}

Program Engine::make_program(experiment::BlockRange range, const Tensors& inputs) const {
  Tensors examples;
  for (const auto& input : inputs) {
    examples.push_back(at::zeros(input.sizes(), input.is_floating_point() ? at::kFloat : input.scalar_type()));
  }
  auto graph = blocks_.graph_of(range, examples);
  for (auto& example : examples) example = in_mode(example, mode_).to(device());
  if (mode_.compute == experiment::Compute::optimized) {
    optimise(graph, examples, mode_);
  } else {
    place(graph, mode_, device());
  }
  return Program(std::move(graph));
}

}  // namespace paretopipe::compute
