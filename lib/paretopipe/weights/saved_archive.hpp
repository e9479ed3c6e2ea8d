#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/pickle_value.hpp>
#include <paretopipe/weights/stored_tensor.hpp>
#include <paretopipe/weights/zip_archive.hpp>

#include <string_view>

namespace paretopipe::weights {

/// The archive that torch.save writes with PyTorch 1.6 or newer, of a state_dict or of a single tensor: a zip with a
/// pickle and one entry of raw bytes for each storage, which all lie in one folder of any name. Refers to `file`.
///
/// All throw UsageError, a sentence without the file's name: as read_entries and require_stored do, and for bytes in
/// big-endian order, a TorchScript archive, and another checksum of the pickle than the archive says.
class SavedArchive {
 public:
  /// `how_to_save`: what a person is to do about an archive of something else.
  SavedArchive(Bytes file, std::string_view how_to_save);

  Bytes pickle() const;

  /// The tensor where it lies in the file, with the checksum of its storage, which is not compared (`verify` does).
  /// Throws UsageError also for a tensor that reaches beyond its storage, and a storage that is missing, misplaced or
  /// of another size than the pickle says.
  StoredTensor tensor_of(const PickleTensor& pickled) const;

 private:
  const ZipEntry* find(std::string_view name) const;

  Bytes file_;
  ZipEntries entries_;
  std::string_view folder_;
};

}  // namespace paretopipe::weights
