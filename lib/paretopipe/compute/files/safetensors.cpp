#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/safetensors.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <nlohmann/json.hpp>

namespace paretopipe::files {

namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the limit of the format's own library
constexpr int kDeepestHeader = 4;                      // levels in {"name": {"shape": [1]}}, and one to spare

constexpr Word<DType> kSafetensorsDTypes[]{{DType::float16, "F16"}, {DType::bfloat16, "BF16"}, {DType::float32, "F32"},
                                           {DType::float64, "F64"}, {DType::int8, "I8"},       {DType::uint8, "U8"},
                                           {DType::int16, "I16"},   {DType::int32, "I32"},     {DType::int64, "I64"},
                                           {DType::boolean, "BOOL"}};

/// Refuses what the JSON library would silently accept: repeated keys (it takes the last) and endless nesting.
class StrictKeys {
 public:
  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    if (depth > kDeepestHeader) throw UsageError("damaged: its header is nested more deeply than any header is");
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second) {
      throw UsageError(fmt::format("damaged: {} stands twice in its header", in_quotes(parsed.get<std::string>())));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

json parse_header(std::string_view text) {
  try {
    return json::parse(text, StrictKeys{});
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("damaged: its header is not the JSON that it should be ({})", error.what()));
  }
}

struct Parts {
  json header;
  Bytes data;
  std::size_t data_offset;  ///< of `data` in the file
};

Parts parts_of(Bytes file) {
  if (file.size() < kLengthBytes) throw UsageError("truncated: it is shorter than the length of a header");
  const auto length = load<std::uint64_t>(file, 0);
  if (length > kLongestHeader) {
    throw UsageError(
        fmt::format("damaged: it claims a header of {} bytes, more than the format's {}", length, kLongestHeader));
  }
  const auto header = slice(file, kLengthBytes, length);
  if (!header) {
    throw UsageError(
        fmt::format("truncated: it claims a header of {} bytes, and {} are there", length, file.size() - kLengthBytes));
  }
  const auto offset = kLengthBytes + static_cast<std::size_t>(length);
  Parts parts{parse_header(text_of(*header)), file.subspan(offset), offset};
  if (!parts.header.is_object()) throw UsageError("damaged: its header is no JSON object");
  return parts;
}

DType dtype_of(const json& value) {
  const auto* name = value.get_ptr<const json::string_t*>();
  if (name == nullptr) throw UsageError("its dtype is not a string");
  if (const auto found = find_word(kSafetensorsDTypes, *name)) return *found;
  throw UsageError(fmt::format("its dtype {} is unknown here; save it as F32", in_quotes(*name)));
}

std::vector<std::int64_t> whole_numbers(const json& value, const char* what) {
  const auto refuse = [&] { throw UsageError(fmt::format("its {} is not a list of whole numbers from 0", what)); };
  if (!value.is_array()) refuse();
  std::vector<std::int64_t> numbers;
  for (const auto& number : value) {
    const bool representable = number.is_number_unsigned() && number.get<std::uint64_t>() <= INT64_MAX;
    if (!representable) refuse();
    numbers.push_back(number.get<std::int64_t>());
  }
  return numbers;
}

/// The place of the tensor's bytes in the data, checked to be within it.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

Range range_of(const json& value, std::size_t data_bytes) {
  const auto ends = whole_numbers(value, "data_offsets");
  if (ends.size() != 2 || ends[0] > ends[1]) throw UsageError("its data_offsets are not a begin and an end");
  if (static_cast<std::uint64_t>(ends[1]) > data_bytes) {
    throw UsageError(fmt::format("its bytes end at {}, and the file holds {}", ends[1], data_bytes));
  }
  return {ends[0], ends[1]};
}

void check_alignment(std::int64_t position, std::int64_t element) {
  if (position % element == 0) return;
  throw UsageError(fmt::format(
      "its bytes begin at {} of the file, which is not a multiple of the {} of an element; save it again with "
      "a newer safetensors",
      position, element));
}

StoredTensor tensor_of(const json& entry, const Parts& parts) {
  constexpr std::array<const char*, 3> kKeys{"dtype", "shape", "data_offsets"};
  for (const auto* key : kKeys) {
    if (!entry.is_object() || !entry.contains(key)) throw UsageError(fmt::format("it has no {}", key));
  }
  if (entry.size() != kKeys.size()) throw UsageError("it has keys that the format does not know");
  StoredTensor tensor;
  tensor.dtype = dtype_of(entry["dtype"]);
  tensor.shape = whole_numbers(entry["shape"], "shape");
  const auto layout = dense_layout(tensor.shape);
  const auto size = static_cast<std::int64_t>(element_bytes(tensor.dtype));
  const auto bytes = layout ? checked_product(layout->elements, size) : std::nullopt;
  const auto range = range_of(entry["data_offsets"], parts.data.size());
  if (!bytes || *bytes != range.end - range.begin) {
    throw UsageError(fmt::format("{} of shape [{}] is not the {} bytes that it has", to_string(tensor.dtype),
                                 fmt::join(tensor.shape, ", "), range.end - range.begin));
  }
  check_alignment(static_cast<std::int64_t>(parts.data_offset) + range.begin, size);
  tensor.strides = layout->strides;
  tensor.bytes = parts.data.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(*bytes));
  return tensor;
}

/// Checks that every byte belongs to exactly one tensor. The format promises this; so a file holds only what its header
/// says.
void check_cover(const TensorMap& tensors, Bytes data) {
  std::vector<Bytes> ranges;
  for (const auto& [name, tensor] : tensors) ranges.push_back(tensor.bytes);
  // Sorted by their ends, too, because tensors without elements lie between others.
  std::ranges::sort(ranges, {}, [](Bytes range) { return std::pair(range.data(), range.size()); });
  const auto* next = data.data();
  for (const auto range : ranges) {
    if (range.data() < next) throw UsageError("damaged: tensors overlap");
    if (range.data() > next) throw UsageError("damaged: there are bytes that belong to no tensor");
    next = range.data() + range.size();
  }
  if (next != data.data() + data.size()) throw UsageError("damaged: there are bytes behind the last tensor");
}

void check_metadata(const json& metadata) {
  const auto is_text = [](const json& value) { return value.is_string(); };
  if (!metadata.is_object() || !std::ranges::all_of(metadata, is_text)) {
    throw UsageError("damaged: its __metadata__ is not an object of strings");
  }
}

}  // namespace

bool looks_like_safetensors(Bytes file) {
  return file.size() > kLengthBytes && file[kLengthBytes] == std::byte{'{'};
}

TensorMap read_safetensors(Bytes file) {
  const auto parts = parts_of(file);
  TensorMap tensors;
  for (const auto& [name, entry] : parts.header.items()) {
    if (name == "__metadata__") {
      check_metadata(entry);
      continue;
    }
    tensors.emplace(name, with_prefix(fmt::format("tensor {}: ", in_quotes(name)),
                                      [&, &stored = entry] { return tensor_of(stored, parts); }));
  }
  check_cover(tensors, parts.data);
  return tensors;
}

}  // namespace paretopipe::files
