#pragma once
#include <paretopipe/compute/zoo/block.hpp>

#include <filesystem>
#include <vector>

// A model's tensors as files of weights, in both formats.
namespace paretopipe::zoo {

/// Of a batch norm's batches: an integer, which not all files have.
bool is_counter(const NamedTensor& entry);

void write_safetensors(const std::filesystem::path& path, std::vector<NamedTensor> tensors);

/// Only what describes the tensors; their bytes are a hole in the file.
void write_hollow_safetensors(const std::filesystem::path& path, std::vector<NamedTensor> tensors);

/// What torch.save writes of a state_dict.
void write_state_dict(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors);

}  // namespace paretopipe::zoo
