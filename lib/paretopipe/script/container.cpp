#include <paretopipe/core/error.hpp>
#include <paretopipe/script/code_depth.hpp>
#include <paretopipe/script/container.hpp>
#include <paretopipe/weights/archive_pickle.hpp>
#include <paretopipe/weights/mapped_file.hpp>
#include <paretopipe/weights/stored_tensor.hpp>
#include <paretopipe/weights/zip_archive.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

namespace paretopipe::script {
namespace {

using weights::Bytes;
using weights::ZipEntry;

constexpr std::string_view kHowToMakeOne =
    "trace or script the model in Python and save it with torch.jit.save(torch.jit.trace(model.eval(), example), FILE)";

constexpr std::string_view kPickle =
    "it is a pickle of torch.save (a state_dict, which --weights takes for a built-in model, or a whole Python module)";

/// Of what an archive has compressed: code, and pickles about it.
constexpr std::uint64_t kLongestText = std::uint64_t{64} << 20;

[[noreturn]] void refuse(std::string_view what) {
  throw UsageError(std::string(what));
}

void check_magic(Bytes file) {
  if (file.empty()) refuse("it is empty");
  if (weights::text_of(file).starts_with('\x80')) refuse("it is a pickle, as torch.save wrote them before PyTorch 1.6");
  if (!weights::looks_like_zip(file)) refuse("it is no zip file");
}

/// The archive's files by their names, without the folder that all of them lie in, in lower case: LibTorch looks them
/// up without regard to case.
using Parts = std::map<std::string, const ZipEntry*>;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

Parts parts_of(const weights::ZipEntries& entries) {
  Parts parts;
  for (const auto& [name, entry] : entries) {
    const auto folder = name.substr(0, name.find('/'));
    if (folder.size() == name.size() || !entries.begin()->first.starts_with(name.substr(0, folder.size() + 1))) {
      refuse("it is some other zip file: its entries do not lie in one folder");
    }
    if (!parts.emplace(lower_case(name.substr(folder.size() + 1)), &entry).second) {
      refuse(fmt::format("its entry {} has the name of another, but for the case", weights::in_quotes(name)));
    }
  }
  return parts;
}

bool is_code(const std::string& name) {
  return name.starts_with("code/") && name.ends_with(".py");
}

void check_kind(const Parts& parts) {
  const bool has_code = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return is_code(part.first); });
  if (!parts.contains("constants.pkl") || !has_code) {
    refuse(parts.contains("data.pkl") ? kPickle : "it is some other zip file");
  }
  // Where LibTorch finds it, it takes the code from wherever that says.
  if (parts.contains("model.json")) refuse("it is of a format that PyTorch gave up before 1.3 (model.json)");
}

struct Forbidden {
  std::string_view text;  ///< in the archive's code
  std::string_view why;
};

/// A graph's operators are checked when it is there; these would have been executed by then, or do not show in it.
constexpr std::array kForbidden{
    Forbidden{"__setstate__", "code that runs while it is loaded (__setstate__)"},
    Forbidden{"from_file", "an operator that opens other files (from_file)"},
    Forbidden{"torch.save(", "an operator that writes files (save)"},
};

void check_code(std::string_view code) {
  for (const auto& [text, why] : kForbidden) {
    if (code.find(text) != code.npos) refuse(fmt::format("it contains {}", why));
  }
  if (const auto depth = deepest_statement(code); depth > kDeepestStatement) {
    refuse(fmt::format("a statement may nest {} deep; more than {} would end LibTorch's parser", depth,
                       kDeepestStatement));
  }
}

/// The model, its constants, and where its code comes from.
bool is_parsed_pickle(const std::string& name) {
  return name == "data.pkl" || name == "constants.pkl" || name.ends_with(".debug_pkl");
}

/// Where LibTorch takes the numbers from that a pickle speaks of: the folder beside it that is called as it is.
weights::StorageFinder storages_beside(const std::string& pickle, const Parts& parts) {
  const auto folder = pickle.substr(0, pickle.rfind('.'));
  return [&parts, folder](std::string_view key) {
    const auto found = parts.find(lower_case(fmt::format("{}/{}", folder, key)));
    return found == parts.end() ? nullptr : found->second;
  };
}

/// Compares the checksum of every part, which LibTorch does not, and looks into those that it parses.
void check_part(const std::string& name, const Parts& parts) {
  const auto& entry = *parts.at(name);
  std::string text;
  auto bytes = entry.bytes;
  if (entry.file_bytes) {
    text = weights::inflated(entry, kLongestText);
    bytes = std::as_bytes(std::span(text));
  } else {
    weights::verify(weights::Checksum{entry.bytes, entry.crc32});
  }
  if (name.ends_with(".py")) check_code(weights::text_of(bytes));
  if (is_parsed_pickle(name)) weights::check_archive_pickle(bytes, storages_beside(name, parts));
}

void check_parts(Bytes file) {
  const auto entries = weights::read_entries(file);
  const auto parts = parts_of(entries);
  check_kind(parts);
  for (const auto& [name, entry] : parts) {
    try {
      check_part(name, parts);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("its {}: {}", weights::in_quotes(name), error.what()));
    }
  }
}

}  // namespace

void check_container(const std::filesystem::path& file) {
  const weights::MappedFile mapped(file);
  try {
    check_magic(mapped.bytes());
    check_parts(mapped.bytes());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} is no TorchScript archive that can be loaded: {}; {}", file.string(), error.what(),
                                 kHowToMakeOne));
  }
}

}  // namespace paretopipe::script
