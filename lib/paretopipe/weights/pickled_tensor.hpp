#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/pickle_value.hpp>
#include <paretopipe/weights/zip_archive.hpp>

namespace paretopipe::weights {

/// Throws UsageError for a storage that is missing (null), compressed, or of another size than in the pickle.
void check_storage(const PickleStorage& storage, const ZipEntry* entry);

/// The bytes of a pickled tensor within its storage, an archive's entry (null if there is none of that name): from its
/// first element to the end of its last; empty if it has no element. Throws UsageError as check_storage does, and for a
/// tensor that reaches beyond its storage.
Bytes locate(const PickleTensor& tensor, const ZipEntry* storage);

}  // namespace paretopipe::weights
