#pragma once
#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/pickle_machine.hpp>
#include <paretopipe/compute/files/stored_tensor.hpp>
#include <paretopipe/compute/files/zip_archive.hpp>

#include <functional>
#include <string_view>
#include <vector>

namespace paretopipe::files {

/// Finds the entry that holds a storage's numbers, by the storage's name; null if there is none.
using StorageFinder = std::function<const ZipEntry*(std::string_view key)>;

/// A storage that a pickle names.
struct ArchiveStorage {
  std::string_view key;  ///< its name, as in the pickle
  const ZipEntry* entry;
};

/// Reads a pickle of a TorchScript archive to its end, as PickleMachine does, before LibTorch reads and trusts it.
/// Checks that only existing values are taken, that every storage exists, and that every tensor lies within its
/// storage. Returns the storages, possibly with repetitions; their keys refer to `pickle`. Throws UsageError, a
/// sentence without the pickle's name.
std::vector<ArchiveStorage> check_archive_pickle(Bytes pickle, const StorageFinder& find);

/// The archive that torch.save of PyTorch 1.6 or newer writes for a state_dict or a single tensor: a zip with a pickle
/// and one entry of raw bytes for each storage, all in one folder of any name. Refers to `file`.
///
/// All functions throw UsageError, a sentence without the file's name: as read_entries and require_stored do, and for
/// big-endian bytes, a TorchScript archive, and a pickle whose checksum differs from the archive's.
class SavedArchive {
 public:
  /// `how_to_save` is advice for a person whose archive holds something else.
  SavedArchive(Bytes file, std::string_view how_to_save);

  Bytes pickle() const;

  /// The tensor at its place in the file, with the checksum of its storage, which is not compared (`verify` does). Also
  /// throws UsageError for a tensor that reaches beyond its storage, and for a storage that is missing, misplaced or of
  /// another size than in the pickle.
  StoredTensor tensor_of(const PickleTensor& pickled) const;

 private:
  const ZipEntry* find(std::string_view name) const;

  Bytes file_;
  ZipEntries entries_;
  std::string_view folder_;
};

/// The tensors of a file that `torch.save(model.state_dict(), file)` wrote with PyTorch 1.6 or newer: a zip archive
/// with a pickle (see PickleMachine) and one entry of raw bytes for each storage. Reads the archive's directory and the
/// pickle. Every tensor carries the checksum of its storage, which is not compared (`verify` does). The result refers
/// to `file`.
///
/// Throws UsageError, a sentence without the file's name: as read_entries, require_stored and PickleMachine do, and for
/// a value that is not a tensor, a repeated name, a tensor that reaches beyond its storage, a storage that is missing
/// or has another size than in the pickle, big-endian bytes, and a TorchScript archive.
TensorMap read_state_dict(std::span<const std::byte> file);

}  // namespace paretopipe::files
