#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
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

}  // namespace

/// Reads a file from its beginning, piece by piece.
class FileCopies::Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file), stream_(file, std::ios::binary) {
    if (!stream_) throw cannot_read(file_, errno);
    std::error_code error;
    size_ = static_cast<std::int64_t>(std::filesystem::file_size(file_, error));
    if (error) throw cannot_read(file_, error.value());
    if (size_ == 0) throw UsageError(fmt::format("read {}: it is empty", file_.string()));
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

const std::string& FileCopies::place(StageClient& stage, const std::string& sha256, const std::filesystem::path& file) {
  auto& path = known_[{stage.index(), sha256}];
  if (path.empty()) path = find_or_send(stage, sha256, file);
  return path;
}

template <class Action>
auto FileCopies::refusing(StageClient& stage, const std::string& what, const Action& action) {
  try {
    return action();
  } catch (const StageError& error) {
    if (error.kind() != StageError::Kind::refused) throw;
    throw StageError(error.stage(), error.kind(), error.code(),
                     fmt::format("{} cannot take {}: {}", stage.name(), what, error.what()));
  }
}

std::string FileCopies::find_or_send(StageClient& stage, const std::string& sha256, const std::filesystem::path& file) {
  return refusing(stage, file.string(), [&] {
    stage.send(stage::FindFile{sha256});
    auto path = wait_for_reply<stage::FileFound>(stage, limits_()).path;
    if (!path.empty()) return path;
    Reader reader(file);
    tell(stage, fmt::format("{} ({})", file.string(), format_bytes(static_cast<double>(reader.size()))));
    return send(stage, sha256, reader);
  });
}

std::string FileCopies::place_together(StageClient& stage, const std::vector<std::filesystem::path>& files) {
  stage::FindFolder request;
  std::map<std::string, std::filesystem::path> by_sha256;
  for (const auto& file : files) {
    request.names.push_back(file.filename().string());
    if (!is_utf8(request.names.back())) {
      throw UsageError(
          fmt::format("the name of {} is not valid UTF-8, in which stages have it; rename the file", file.string()));
    }
    request.sha256s.push_back(sha256_of_file(file));
    by_sha256.emplace(request.sha256s.back(), file);
  }
  const auto find = [&] {
    stage.send(request);
    return wait_for_reply<stage::FolderFound>(stage, limits_());
  };
  const auto folder = files.front().parent_path().string();
  return refusing(stage, "the data in " + folder, [&] {
    auto found = find();
    if (found.missing.empty()) return found.path;
    tell(stage, fmt::format("{} {} of {}", found.missing.size(), found.missing.size() > 1 ? "files" : "file", folder));
    for (const auto& sha256 : found.missing) {
      Reader reader(by_sha256.at(sha256));
      send(stage, sha256, reader);
    }
    return find().path;
  });
}

void FileCopies::tell(const StageClient& stage, const std::string& what) const {
  if (notice_) notice_(fmt::format("copies {} to the device of {}, which keeps it", what, stage.name()));
}

std::string FileCopies::send(StageClient& stage, const std::string& sha256, Reader& reader) {
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
    taken = wait_for_reply<stage::ChunkTaken>(stage, limits_());
  }
  return taken.path;
}

}  // namespace paretopipe::run
