#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/zip_archive.hpp>

#include <functional>
#include <string_view>
#include <vector>

namespace paretopipe::weights {

/// The entry that holds a storage's numbers, by the storage's name; null if there is none.
using StorageFinder = std::function<const ZipEntry*(std::string_view key)>;

/// Where numbers are.
struct ArchiveStorage {
  std::string_view key;  ///< its name, as it stands in the pickle
  const ZipEntry* entry;
};

/// Reads a pickle of a TorchScript archive to its end, as PickleMachine does, for LibTorch, which reads it afterwards
/// and trusts it: values are only taken from where there are some, every storage is there, and every tensor lies within
/// one. Returns the storages, some of them more than once; their keys refer to `pickle`. Throws UsageError, a sentence
/// without the pickle's name.
std::vector<ArchiveStorage> check_archive_pickle(Bytes pickle, const StorageFinder& find);

}  // namespace paretopipe::weights
