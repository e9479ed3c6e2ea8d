#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/zip_archive.hpp>

#include <functional>
#include <string_view>
#include <vector>

namespace paretopipe::weights {

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

}  // namespace paretopipe::weights
