#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <support/crossing.hpp>
#include <support/temporary_folder.hpp>
#include <unit/files/files.hpp>

// Declared only: LibTorch's headers may define CHECK, and would take Catch2's from whoever includes this behind it.
namespace at {
class Tensor;
}

namespace paretopipe::archive {

using support::boundary_of;
using support::bytes_of;
using support::send;

/// What an archive keeps its tensors as: attributes of modules, as most do; or constants, as a frozen one does, of
/// which a person may have kept `scale` as it was.
enum class Numbers { attributes, constants, both };

/// The source of a TorchScript model, written as Python would save it: `forward` of the top module, which may use the
/// children below by their names.
///   conv1, conv2   3x3 convolutions of 4 channels
///   bn             a batch norm of 4 channels
///   counted        another one, which has num_batches_tracked, too
///   act            a ReLU
///   block          a residual block of 4 channels with children conv1, bn1, relu, conv2, bn2
///   fc             a linear layer from 64 features to 5, of a 4x4 image of 4 channels
/// a parameter `scale` of 4 channels, a buffer `order` with the 4 channels in another order, a buffer `mask` to add to
/// channels, which is 0 and for the last one -inf, and a flag `training`, which is set. The weights depend on nothing
/// but the seed.
std::filesystem::path write_archive(const std::filesystem::path& folder, const std::string& forward,
                                    const std::string& name = "net.pt", Numbers where = Numbers::attributes,
                                    std::uint64_t seed = 0);

/// A whole classifier of a 4x4 image with 4 channels, for write_archive.
inline constexpr const char* kClassifier =
    "def forward(self, x):\n"
    "  x = self.act.forward(self.bn.forward(self.conv1.forward(x)))\n"
    "  x = self.block.forward(x)\n"
    "  return self.fc.forward(torch.flatten(x, 1))\n";

/// Square linear layers and ReLUs, one behind the other, without biases.
std::filesystem::path write_deep_archive(const std::filesystem::path& folder, int layers, std::int64_t features);

/// The files in an archive, for those who want to change some and put it together anew, with the right checksums.
std::vector<files::ZipMember> members_of(const std::filesystem::path& archive);

/// An archive in a folder of its own.
class WrittenArchive {
 public:
  explicit WrittenArchive(const std::string& forward, Numbers where = Numbers::attributes)
      : path(write_archive(folder_.path(), forward, "net.pt", where)) {}

 private:
  support::TemporaryFolder folder_;

 public:
  const std::filesystem::path path;
};

/// The archive as a model that takes 4x4 images of 4 channels.
stage::ModelRequest request_for(const std::filesystem::path& archive, const std::string& cuts = "all", int batch = 2,
                                int max_crossing = 1);

/// What is said of a model, by a usage error, when it is to be described.
std::string refusal_of(const stage::ModelRequest& request);

/// True if tensors and bytes are those that the description has at the split, in that mode.
bool is_described(const stage::Activation& activation, const experiment::ModelDescription& description, int split,
                  const experiment::ComputeMode& mode = {});

/// What LibTorch computes of the archive as it stands, in evaluation mode. The first tensor of what it returns.
at::Tensor compute_whole(const std::filesystem::path& archive, const at::Tensor& input);

}  // namespace paretopipe::archive
