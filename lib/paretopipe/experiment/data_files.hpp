#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::experiment {

enum class DataSetPart { images, labels };

/// The file of a data set that holds its images, or their labels; one file may hold both. Without a folder, the file is
/// where the data set's package or download puts it:
///   fashion-mnist        t10k-images-idx3-ubyte[.gz], t10k-labels-idx1-ubyte[.gz] of /usr/share/datasets/fashion-mnist
///   fashion-mnist-train  train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz] there
///   cifar10              test_batch.bin[.gz] of data/cifar-10-batches-bin, for both
/// Throws UsageError for an unknown name, and EnvironmentError, with how to get it, for a missing file.
std::filesystem::path find_in_data_set(std::string_view name, const std::string& folder, DataSetPart part);

/// All files that samples are made from, and the files of their own labels if `labels` asks for these. `request` and
/// `labels` are as in DataSource. Random samples have no files. Throws as find_in_data_set and list_images do.
std::vector<std::filesystem::path> files_of_data(const std::string& request, const std::string& labels);

/// The request for the same data in another folder, where the files have the same names.
std::string data_in_folder(const std::string& request, const std::filesystem::path& folder);

}  // namespace paretopipe::experiment
