#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/pickle_value.hpp>
#include <paretopipe/weights/stored_tensor.hpp>
#include <paretopipe/weights/zip_archive.hpp>

#include <string_view>

namespace paretopipe::weights {

/// The archive that torch.save of PyTorch 1.6 or newer writes for a state_dict or a single tensor: a zip with a pickle
/// and one entry of raw bytes for each storage, all in one folder of any name. Refers to `file`.
///
/// All functions throw UsageError, a sentence without the file's name: as read_entries and require_stored do, and for
/// big-endian bytes, a TorchScript archive, and a pickle whose checksum differs from the archive's.
class SavedArchive {
 public:
  /// `how_to_save`: advice for a person whose archive holds something else.
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

}  // namespace paretopipe::weights
