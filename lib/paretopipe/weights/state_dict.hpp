#pragma once
#include <paretopipe/weights/stored_tensor.hpp>

namespace paretopipe::weights {

/// The tensors of a file that `torch.save(model.state_dict(), file)` wrote with PyTorch 1.6 or newer: a zip archive
/// with a pickle (see PickleMachine) and one entry of raw bytes for each storage. Reads the archive's directory and the
/// pickle. Every tensor carries the checksum of its storage, which is not compared (`verify` does). The result refers
/// to `file`.
///
/// Throws UsageError, a sentence without the file's name: as read_entries, require_stored and PickleMachine do, and for
/// a value that is not a tensor, a repeated name, a tensor that reaches beyond its storage, a storage that is missing
/// or has another size than in the pickle, big-endian bytes, and a TorchScript archive.
TensorMap read_state_dict(std::span<const std::byte> file);

}  // namespace paretopipe::weights
