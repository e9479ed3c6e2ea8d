#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/run/file_copies.hpp>
#include <paretopipe/stage/file_cache.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

UsageError cannot_read(const std::filesystem::path& file, int reason) {
  return UsageError(system_error("read " + file.string(), reason).what());
}

/// Reads a file from its beginning, piece by piece.
class FileReader {
 public:
  explicit FileReader(const std::filesystem::path& file) : file_(file), stream_(file, std::ios::binary) {
    if (!stream_) throw cannot_read(file_, errno);
    std::error_code error;
    size_ = static_cast<std::int64_t>(std::filesystem::file_size(file_, error));
    if (error) throw cannot_read(file_, error.value());
  }

  std::int64_t size() const { return size_; }

  void read(std::span<std::byte> into) {
    stream_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    if (stream_.bad()) throw cannot_read(file_, errno);
    if (!stream_) throw UsageError(fmt::format("read {}: it became shorter meanwhile", file_.string()));
  }

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::int64_t size_ = 0;
};

}  // namespace

template <class Reply>
Reply FileCopies::wait_for(StageClient& stage) {
  Reply reply;
  for_each_reply({&stage}, limits_(), [&](StageClient& client) { reply = client.receive<Reply>(); });
  return reply;
}

const std::string& FileCopies::place(StageClient& stage, const std::string& sha256, const std::filesystem::path& file) {
  auto& path = known_[{stage.index(), sha256}];
  if (path.empty()) path = find_or_send(stage, sha256, file);
  return path;
}

std::string FileCopies::find_or_send(StageClient& stage, const std::string& sha256, const std::filesystem::path& file) {
  try {
    stage.send(stage::FindFile{sha256});
    auto path = wait_for<stage::FileFound>(stage).path;
    return path.empty() ? send(stage, sha256, file) : path;
  } catch (const StageError& error) {
    if (error.kind() != StageError::Kind::refused) throw;
    throw StageError(error.stage(), error.kind(), error.code(),
                     fmt::format("{} cannot take {}: {}", stage.name(), file.string(), error.what()));
  }
}

std::string FileCopies::send(StageClient& stage, const std::string& sha256, const std::filesystem::path& file) {
  FileReader reader(file);
  if (notice_) {
    notice_(fmt::format("copies {} ({}) to the device of {}, which keeps it", file.string(),
                        format_bytes(static_cast<double>(reader.size())), stage.name()));
  }
  std::vector<std::byte> buffer(static_cast<std::size_t>(stage::kChunkBytes));
  stage::ChunkTaken taken;
  for (stage::TakeChunk chunk{sha256, 0, 0, reader.size()}; chunk.offset < chunk.total; chunk.offset += chunk.bytes) {
    chunk.bytes = std::min(stage::kChunkBytes, chunk.total - chunk.offset);
    const auto spec = stage::tensor_of(chunk);
    const auto tensor = std::span(buffer).first(static_cast<std::size_t>(wire::byte_size(spec)));
    const auto bytes = static_cast<std::size_t>(chunk.bytes);
    reader.read(tensor.first(bytes));
    std::ranges::fill(tensor.subspan(bytes), std::byte{0});
    stage.send_within(limits_(), [&] {
      stage.send(chunk);
      stage.send_tensor(0, 0, spec, tensor);
    });
    taken = wait_for<stage::ChunkTaken>(stage);
  }
  return taken.path;
}

}  // namespace paretopipe::run
