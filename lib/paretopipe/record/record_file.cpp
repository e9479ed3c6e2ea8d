#include <paretopipe/core/error.hpp>
#include <paretopipe/record/record_file.hpp>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace paretopipe::record {
namespace {

using nlohmann::json;

/// "", or " trial \"0123456789abcdef\":" if the line names a trial, whatever else is wrong with it.
std::string name_of(const json& value) {
  if (!value.is_object()) return "";
  const auto id = value.find("id");
  return id == value.end() || !id->is_string() ? "" : fmt::format(" trial {}:", id->dump());
}

/// The JSON library's messages speak of "line 1" and end in a code, which helps nobody.
json parse_json(std::string_view line, const std::string& place) {
  try {
    return json::parse(line);
  } catch (const json::parse_error& error) {
    throw UsageError(fmt::format("{}: this line is not JSON (it goes wrong at character {})", place, error.byte));
  } catch (const json::exception&) {
    throw UsageError(fmt::format("{}: this line is not JSON (one of its numbers has too many digits)", place));
  }
}

TrialRecord parse_line(std::string_view line, const RecordCheck& check, const std::string& place) {
  const auto value = parse_json(line, place);
  try {
    auto record = value.get<TrialRecord>();
    if (check) check(record);
    return record;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}:{} {}", place, name_of(value), error.what()));
  }
}

/// A kill leaves the beginning of an object; a power failure may leave zeros behind it. Any other text without a line
/// feed is another program's file and must not pass for an empty sweep.
bool is_beginning_of_record(std::string_view line) {
  line = line.substr(0, line.find_last_not_of('\0') + 1);
  if (line.empty()) return true;
  if (line.front() != '{') return false;
  try {
    return json::parse(line).contains("schema");  // complete except for its line feed
  } catch (const json::parse_error& error) {
    return error.byte >= line.size();
  } catch (const json::exception&) {
    return false;
  }
}

std::string judge_unfinished_line(std::string_view line, const std::string& place) {
  if (!is_beginning_of_record(line)) {
    throw UsageError(fmt::format("{}: this is neither a paretopipe record nor the beginning of one", place));
  }
  return fmt::format("{}: the last line is unfinished (the sweep was killed while writing it) and was ignored", place);
}

}  // namespace

std::filesystem::path records_file(const std::filesystem::path& path) {
  std::error_code unknown;  // reading tells more
  return std::filesystem::is_directory(path, unknown) ? path / kRecordsFileName : path;
}

std::string read_text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  int reason = errno;
  try {
    if (stream) return {std::istreambuf_iterator<char>(stream), {}};
  } catch (const std::ios_base::failure& error) {  // opened, but a folder or a failing disk cannot be read
    reason = error.code().value();
  }
  throw UsageError(
      fmt::format("cannot read records from {}: {}", file.string(), std::generic_category().message(reason)));
}

std::vector<std::string> visit_records(const std::filesystem::path& path, const RecordCheck& check,
                                       const std::function<void(RecordLine&&)>& visit) {
  const auto file = records_file(path);
  std::error_code unknown;
  if (std::filesystem::status(file, unknown).type() == std::filesystem::file_type::not_found) {
    throw UsageError(fmt::format("there are no records at {}; `paretopipe sweep --out {}` makes some", file.string(),
                                 path.string()));
  }
  const auto text = read_text_of(file);
  std::vector<std::string> warnings;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const auto place = fmt::format("{}:{}", file.string(), number);
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) {
      warnings.push_back(judge_unfinished_line(rest, place));
      break;
    }
    const auto line = rest.substr(0, end);
    if (!line.empty()) visit({number, line, parse_line(line, check, place)});
    rest.remove_prefix(end + 1);
  }
  return warnings;
}

}  // namespace paretopipe::record
