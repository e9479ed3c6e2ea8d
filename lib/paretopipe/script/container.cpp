#include <paretopipe/core/error.hpp>
#include <paretopipe/script/container.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>

namespace paretopipe::script {
namespace {

constexpr std::string_view kHowToMakeOne =
    "trace or script the model in Python and save it with torch.jit.save(torch.jit.trace(model.eval(), example), FILE)";

constexpr std::string_view kPickle =
    "it is a pickle of torch.save (a state_dict, which --weights takes for a built-in model, or a whole Python module)";

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view what) {
  throw UsageError(fmt::format("{} is no TorchScript archive: {}; {}", file.string(), what, kHowToMakeOne));
}

void check_magic(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 4> magic{};
  stream.read(magic.data(), magic.size());
  const std::string_view text(magic.data(), static_cast<std::size_t>(stream.gcount()));
  if (text.empty()) refuse(file, "it is empty");
  if (text.starts_with('\x80')) refuse(file, "it is a pickle, as torch.save wrote them before PyTorch 1.6");
  if (text != std::string_view("PK\x03\x04")) refuse(file, "it is no zip file");
}

struct Forbidden {
  std::string_view text;  ///< in the archive's code
  std::string_view why;
};

/// A graph's operators are checked when it is there; these would have been executed by then, or do not show in it.
constexpr std::array kForbidden{
    Forbidden{"__setstate__", "code that runs while it is loaded (__setstate__)"},
    Forbidden{"from_file(", "an operator that opens other files (from_file)"},
    Forbidden{"torch.save(", "an operator that writes files (save)"},
};

void check_code(const std::filesystem::path& file, caffe2::serialize::PyTorchStreamReader& reader,
                const std::string& record) {
  const auto [data, size] = reader.getRecord(record);
  const std::string_view code(static_cast<const char*>(data.get()), size);
  for (const auto& [text, why] : kForbidden) {
    if (code.find(text) == code.npos) continue;
    throw UsageError(fmt::format("{} is not loaded: its {} contains {}", file.string(), record, why));
  }
}

void check_parts(const std::filesystem::path& file) {
  caffe2::serialize::PyTorchStreamReader reader(file.string());
  const auto records = reader.getAllRecords();
  const auto is_code = [](const std::string& record) { return record.starts_with("code/") && record.ends_with(".py"); };
  if (!reader.hasRecord("constants.pkl") || std::none_of(records.begin(), records.end(), is_code)) {
    refuse(file, reader.hasRecord("data.pkl") ? kPickle : "it is some other zip file");
  }
  for (const auto& record : records) {
    if (is_code(record)) check_code(file, reader, record);
  }
}

}  // namespace

void check_container(const std::filesystem::path& file) {
  check_magic(file);
  try {
    check_parts(file);
  } catch (const c10::Error&) {  // its text is about the source of LibTorch
    refuse(file, "it is a zip file that is cut off, damaged or has no version");
  }
}

}  // namespace paretopipe::script
