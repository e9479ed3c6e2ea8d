#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/pickle_value.hpp>
#include <paretopipe/weights/zip_archive.hpp>

namespace paretopipe::weights {

/// Throws UsageError for a storage that is missing (null), compressed or of another size than the pickle says.
void check_storage(const PickleStorage& storage, const ZipEntry* entry);

/// The bytes of a pickled tensor in its storage, the entry of an archive (null if there is none of that name): from its
/// first element to behind its last, none if it has no element. Throws UsageError as check_storage does,
/// and for a tensor that reaches beyond its storage.
Bytes locate(const PickleTensor& tensor, const ZipEntry* storage);

}  // namespace paretopipe::weights
