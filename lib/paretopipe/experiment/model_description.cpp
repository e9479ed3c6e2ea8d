#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/model_description.hpp>

#include <algorithm>
#include <array>

namespace paretopipe::experiment {

namespace {

constexpr std::size_t kMaxDimensions = 7;  // the wire's tensors have 8; one is the batch
constexpr std::int64_t kMaxSize = 1'000'000;

[[noreturn]] void refuse_shape(const std::string& text) {
  throw UsageError(fmt::format(
      "\"{}\" is not the shape of a sample; write its sizes without the batch, such as 3x224x224 (up to {} sizes)",
      text, kMaxDimensions));
}

}  // namespace

bool names_archive(const std::string& model) {
  constexpr std::array<std::string_view, 3> kEndings{".pt", ".pth", ".torchscript"};
  if (is_synthetic(model)) return false;
  return model.find('/') != model.npos ||
         std::any_of(kEndings.begin(), kEndings.end(), [&](auto ending) { return model.ends_with(ending); });
}

std::vector<std::int64_t> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  for (const auto part : split(text, 'x')) {
    const auto size = parse_number<std::int64_t>(part);
    if (!size || *size < 1 || *size > kMaxSize || shape.size() == kMaxDimensions) refuse_shape(text);
    shape.push_back(*size);
  }
  return shape;
}

void check_archive_settings(const std::vector<std::string>& models, const std::string& input, const std::string& cuts,
                            int max_crossing) {
  const auto archive = std::find_if(models.begin(), models.end(), names_archive);
  if (archive == models.end()) {
    if (input.empty() && cuts == kDefaultCuts && max_crossing == 1) return;
    throw UsageError(
        fmt::format("input, cuts and max_crossing are for TorchScript archives, and none of the models is one: {} has "
                    "its own input and blocks",
                    models.front()));
  }
  if (input.empty()) {
    throw UsageError(fmt::format(
        "{} is a TorchScript archive, which does not say what it takes: add the shape of one sample, such as --input "
        "3x224x224",
        *archive));
  }
  parse_shape(input);
  if (cuts.empty()) throw UsageError("cuts is empty; it must be unit, all, modules or a pattern of block names");
}

ModelSource find_source(const std::string& model, const std::string& input, const std::string& cuts, int max_crossing) {
  if (!names_archive(model)) return {.name = model, .file = {}, .archive = {}};
  ModelSource source{.name = {}, .file = std::filesystem::absolute(model).lexically_normal(), .archive = Archive{}};
  if (!is_utf8(source.file.string())) {
    throw UsageError(
        fmt::format("the path of {} is not valid UTF-8, in which stages and records have it; rename the file or its "
                    "folders",
                    nlohmann::json(model).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  }
  source.archive->input_shape = parse_shape(input);
  source.archive->cuts = cuts;
  source.archive->max_crossing = max_crossing;
  source.archive->sha256 = sha256_of_file(source.file);
  source.name = source.file.filename().string();
  return source;
}

const std::vector<std::int64_t>& ModelDescription::shape_at(int split) const {
  return split == 0 ? input_shape : blocks.at(static_cast<std::size_t>(split - 1)).output_shape;
}

std::vector<std::vector<std::int64_t>> ModelDescription::shapes_at(int split) const {
  std::vector<std::vector<std::int64_t>> shapes{shape_at(split)};
  if (split == 0) return shapes;
  const auto& others = blocks.at(static_cast<std::size_t>(split - 1)).other_shapes;
  shapes.insert(shapes.end(), others.begin(), others.end());
  return shapes;
}

std::int64_t ModelDescription::bytes_at(int split) const {
  return split == 0 ? input_bytes : blocks.at(static_cast<std::size_t>(split - 1)).activation_bytes;
}

std::int64_t ModelDescription::parameter_bytes(BlockRange range) const {
  std::int64_t bytes = 0;
  for (int block = range.begin; block < range.end; ++block) {
    bytes += blocks.at(static_cast<std::size_t>(block)).parameter_bytes;
  }
  return bytes;
}

}  // namespace paretopipe::experiment
