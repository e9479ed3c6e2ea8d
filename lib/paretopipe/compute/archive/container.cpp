#include "container.hpp"

#include <paretopipe/compute/files/saved_archive.hpp>
#include <paretopipe/compute/files/stored_tensor.hpp>
#include <paretopipe/compute/files/zip_archive.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace paretopipe::archive {

namespace {

constexpr std::string_view kNesting = "([{.+-*/%~<>&|^@";
constexpr std::array<std::string_view, 7> kNestingWords{"and", "else", "for", "if", "lambda", "not", "or"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Scans the code once, token by token. It recognises strings and comments exactly as LibTorch's lexer does; any
/// difference could be used to hide code.
class Statements {
 public:
  explicit Statements(std::string_view code) : rest_(code) {}

  std::size_t deepest() {
    indent();
    while (!rest_.empty()) step();
    return std::max(deepest_, nested_);
  }

 private:
  void step() {
    const char c = rest_.front();
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#' && !rest_.starts_with("# type:")) return rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    if (rest_.starts_with("\\\n")) return rest_.remove_prefix(2);
    if (is_word(c)) return read_word();
    rest_.remove_prefix(1);
    if (kNesting.find(c) != kNesting.npos) ++nested_;
    if (c == '(' || c == '[' || c == '{') ++open_;
    if ((c == ')' || c == ']' || c == '}') && open_ > 0) --open_;
    if (c == '\n' && open_ == 0) end_statement();
  }

  /// Triple quotes end at the next triple quote. A single quote ends at the next one or at the end of the line. A
  /// character after a backslash ends nothing.
  void skip_string(char quote) {
    const bool triple = rest_.starts_with(std::string(3, quote));
    const std::string end(triple ? 3 : 1, quote);
    rest_.remove_prefix(end.size());
    while (!rest_.empty() && !rest_.starts_with(end)) {
      if (rest_.front() == '\n' && !triple) return;
      rest_.remove_prefix(std::min<std::size_t>(rest_.front() == '\\' ? 2 : 1, rest_.size()));
    }
    rest_.remove_prefix(std::min(end.size(), rest_.size()));
  }

  void read_word() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
    const auto word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    if (std::find(kNestingWords.begin(), kNestingWords.end(), word) != kNestingWords.end()) ++nested_;
    rest_.remove_prefix(word.size());
  }

  void end_statement() {
    deepest_ = std::max(deepest_, nested_);
    indent();
  }

  /// Counts each leading blank as a level, because a level takes at least one.
  void indent() { nested_ = std::min(rest_.find_first_not_of(" \t"), rest_.size()); }

  std::string_view rest_;
  std::size_t open_ = 0;    ///< open brackets
  std::size_t nested_ = 0;  ///< depth of this statement
  std::size_t deepest_ = 0;
};

}  // namespace

std::size_t deepest_statement(std::string_view code) {
  return Statements(code).deepest();
}

namespace {

using files::Bytes;
using files::ZipEntry;

constexpr std::string_view kHowToMakeOne =
    "trace or script the model in Python and save it with torch.jit.save(torch.jit.trace(model.eval(), example), FILE)";

constexpr std::string_view kPickle =
    "it is a pickle of torch.save (a state_dict, which --weights takes for a built-in model, or a whole Python module)";

/// The most bytes of code, and of pickles about it, in total: they are held in memory.
constexpr std::uint64_t kLongestText = std::uint64_t{128} << 20;

[[noreturn]] void refuse(std::string_view what) {
  throw UsageError(std::string(what));
}

void check_magic(Bytes file) {
  if (file.empty()) refuse("it is empty");
  if (files::text_of(file).starts_with('\x80')) refuse("it is a pickle, as torch.save wrote them before PyTorch 1.6");
  if (!files::looks_like_zip(file)) refuse("it is not a zip file");
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

struct Part {
  std::string name;  ///< without the folder that contains all parts
  const ZipEntry* entry;
};

/// The archive's files by lower-case name, because LibTorch ignores case.
using Parts = std::map<std::string, Part>;

Parts parts_of(const files::ZipEntries& entries) {
  Parts parts;
  for (const auto& [name, entry] : entries) {
    const auto folder = name.substr(0, name.find('/'));
    if (folder.size() == name.size() || !entries.begin()->first.starts_with(name.substr(0, folder.size() + 1))) {
      refuse("it is some other zip file: its entries do not lie in one folder");
    }
    const std::string rest(name.substr(folder.size() + 1));
    if (!parts.emplace(lower_case(rest), Part{rest, &entry}).second) {
      refuse(fmt::format("its entry {} has the name of another, but for the case", files::in_quotes(name)));
    }
  }
  return parts;
}

bool is_code(const std::string& name) {
  return name.starts_with(kCodeFolder) && name.ends_with(".py");
}

void check_kind(const Parts& parts) {
  const bool has_code = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return is_code(part.first); });
  if (!parts.contains("constants.pkl") || !has_code) {
    refuse(parts.contains("data.pkl") ? kPickle : "it is some other zip file");
  }
  // If this file is present, LibTorch takes the code from wherever it says.
  if (parts.contains("model.json")) refuse("it is of a format that PyTorch gave up before 1.3 (model.json)");
}

struct Forbidden {
  std::string_view text;  ///< in the archive's code
  std::string_view why;
};

/// A graph's operators are checked once the graph exists. The following would have run by then, or do not show in the
/// graph.
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

/// The pickles that LibTorch parses: the model, its constants, and where its code comes from.
bool is_parsed_pickle(const std::string& name) {
  return name == kDataPickle || name == kConstantsPickle || name.ends_with(".debug_pkl");
}

/// The files that LibTorch reads besides tensors. The version is in one of two places, depending on the operators used.
bool is_text(const std::string& name) {
  return is_code(name) || is_parsed_pickle(name) || name == "version" || name == ".data/version" || name == "byteorder";
}

/// Requires LibTorch's numeric storage names, to which its writer for phones adds an ending. import_module relies on
/// this.
void check_numbered(std::string_view key) {
  constexpr std::string_view kEnding = ".storage";
  const auto number = key.ends_with(kEnding) ? key.substr(0, key.size() - kEnding.size()) : key;
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  if (!number.empty() && std::all_of(number.begin(), number.end(), is_digit)) return;
  refuse(fmt::format("a storage is called {}, and an archive numbers them", files::in_quotes(key)));
}

/// Finds a pickle's storages where LibTorch does: in the folder beside it that has its name.
files::StorageFinder storages_beside(const std::string& pickle, const Parts& parts) {
  const auto folder = pickle.substr(0, pickle.rfind('.'));
  return [&parts, folder](std::string_view key) {
    const auto found = parts.find(lower_case(fmt::format("{}/{}", folder, key)));
    return found == parts.end() ? nullptr : found->second.entry;
  };
}

/// Compares the checksum, which LibTorch does not do.
std::string text_of(const ZipEntry& entry) {
  if (entry.file_bytes) return files::inflated(entry, kLongestText);
  files::verify(files::Checksum{entry.bytes, entry.crc32});
  return std::string(files::text_of(entry.bytes));
}

std::vector<Storage> check_pickle(const std::string& name, const std::string& pickle, const Parts& parts) {
  std::vector<Storage> storages;
  for (const auto& [key, entry] :
       files::check_archive_pickle(std::as_bytes(std::span(pickle)), storages_beside(name, parts))) {
    check_numbered(key);
    storages.push_back({std::string(key), static_cast<std::size_t>(key.data() - pickle.data()), entry->bytes});
  }
  return storages;
}

void add_text(const std::string& name, const Parts& parts, Container& container) {
  const auto& part = parts.at(name);
  auto known_as = name;
  if (name.starts_with(kCodeFolder)) known_as.replace(kCodeFolder.size(), known_as.npos, part.name, kCodeFolder.size());
  const auto& text = container.texts.emplace(known_as, text_of(*part.entry)).first->second;
  if (name.ends_with(".py")) check_code(text);
  if (!is_parsed_pickle(name)) return;
  auto storages = check_pickle(name, text, parts);
  if (name == kDataPickle) container.storages_of_data = std::move(storages);
  if (name == kConstantsPickle) container.storages_of_constants = std::move(storages);
}

void check_numbers(const ZipEntry& entry, const files::MappedFile& file) {
  if (entry.file_bytes) {
    files::inflated(entry, kLongestText);
  } else {
    files::verify(files::Checksum{entry.bytes, entry.crc32}, [&](Bytes piece) { file.forget(piece); });
  }
}

void check_text_sizes(const Parts& parts) {
  std::uint64_t sum = 0;
  for (const auto& [name, part] : parts) {
    const std::uint64_t size = part.entry->file_bytes.value_or(part.entry->bytes.size());
    if (is_text(name)) sum += std::min(size, kLongestText + 1);
    if (sum > kLongestText) refuse(fmt::format("its code and pickles have more than {} bytes", kLongestText));
  }
}

void add_parts(Container& container) {
  const auto entries = files::read_entries(container.file->bytes());
  const auto parts = parts_of(entries);
  check_kind(parts);
  check_text_sizes(parts);
  for (const auto& [name, part] : parts) {
    with_prefix(fmt::format("its {}: ", files::in_quotes(name)), [&, &name = name, &part = part] {
      if (is_text(name)) return add_text(name, parts, container);
      check_numbers(*part.entry, *container.file);
    });
  }
}

}  // namespace

Container open_container(const std::filesystem::path& file) {
  Container container{.file = std::make_shared<files::MappedFile>(file),
                      .texts = {},
                      .storages_of_data = {},
                      .storages_of_constants = {}};
  try {
    check_magic(container.file->bytes());
    add_parts(container);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} is no TorchScript archive that can be loaded: {}; {}", file.string(), error.what(),
                                 kHowToMakeOne));
  }
  return container;
}

}  // namespace paretopipe::archive
