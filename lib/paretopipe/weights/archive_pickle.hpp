#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/zip_archive.hpp>

#include <functional>
#include <string_view>

namespace paretopipe::weights {

/// The entry that holds a storage's numbers, by the storage's name; null if there is none.
using StorageFinder = std::function<const ZipEntry*(std::string_view key)>;

/// Reads a pickle of a TorchScript archive to its end, as PickleMachine does, for LibTorch, which reads it afterwards
/// and trusts it: values are only taken from where there are some, and every tensor lies within its storage. Throws
/// UsageError, a sentence without the pickle's name.
void check_archive_pickle(Bytes pickle, const StorageFinder& storage);

}  // namespace paretopipe::weights
