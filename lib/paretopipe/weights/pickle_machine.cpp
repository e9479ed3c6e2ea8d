#include <paretopipe/weights/pickle_machine.hpp>

#include <algorithm>
#include <array>

namespace paretopipe::weights {
namespace {

/// A state_dict of ten thousand tensors has a quarter of that.
constexpr std::size_t kMostValues = 1'000'000;

struct Global {
  std::string_view module;
  std::string_view name;
  std::variant<PickleFunction, PickleStorageType> meaning;
};

constexpr auto kGlobals = std::to_array<Global>({
    {"collections", "OrderedDict", PickleFunction::ordered_dict},
    {"torch._utils", "_rebuild_tensor_v2", PickleFunction::rebuild_tensor},
    {"torch._utils", "_rebuild_parameter", PickleFunction::rebuild_parameter},
    {"torch", "HalfStorage", PickleStorageType{DType::float16}},
    {"torch", "BFloat16Storage", PickleStorageType{DType::bfloat16}},
    {"torch", "FloatStorage", PickleStorageType{DType::float32}},
    {"torch", "DoubleStorage", PickleStorageType{DType::float64}},
    {"torch", "CharStorage", PickleStorageType{DType::int8}},
    {"torch", "ByteStorage", PickleStorageType{DType::uint8}},
    {"torch", "ShortStorage", PickleStorageType{DType::int16}},
    {"torch", "IntStorage", PickleStorageType{DType::int32}},
    {"torch", "LongStorage", PickleStorageType{DType::int64}},
    {"torch", "BoolStorage", PickleStorageType{DType::boolean}},
});

/// Opcodes of pickle that no state_dict has, and that a person who wonders why a file is refused should read the name
/// of.
struct OpcodeName {
  std::uint8_t code;
  std::string_view name;
};
constexpr auto kRefused =
    std::to_array<OpcodeName>({{'i', "INST"},          {'o', "OBJ"},     {'P', "PERSID"},   {0x81, "NEWOBJ"},
                               {0x92, "NEWOBJ_EX"},    {0x82, "EXT1"},   {0x83, "EXT2"},    {0x84, "EXT4"},
                               {0x93, "STACK_GLOBAL"}, {0x95, "FRAME"},  {0x94, "MEMOIZE"}, {']', "EMPTY_LIST"},
                               {'a', "APPEND"},        {'e', "APPENDS"}, {'G', "BINFLOAT"}, {'U', "SHORT_BINSTRING"},
                               {'T', "BINSTRING"},     {'0', "POP"},     {'1', "POP_MARK"}, {'2', "DUP"}});

/// Null if the value is not of that kind.
template <class T>
const T* argument(const PickleTuple& arguments, std::size_t index) {
  return arguments.items[index]->get<T>();
}

/// PyTorch's own limit. Without one, a short pickle could ask for copies of a long tuple until the memory is full.
constexpr std::size_t kMostDimensions = 64;

/// Of a shape or of strides; nothing unless all items are whole numbers.
std::optional<std::vector<std::int64_t>> dimensions(const PickleTuple& tuple) {
  if (tuple.items.size() > kMostDimensions) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const auto* item : tuple.items) {
    const auto* number = item->get<std::int64_t>();
    if (number == nullptr) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::string_view kind_of(const PickleValue& value) {
  constexpr std::array<std::string_view, 10> kKinds{"None",   "a truth value", "a number", "text",    "a function",
                                                    "a type", "a storage",     "a tensor", "a tuple", "a dictionary"};
  return kKinds.at(value.content.index());
}

const PickleMachine::Opcode* PickleMachine::find_opcode(std::uint8_t code) {
  using M = PickleMachine;
  static constexpr auto kOpcodes = std::to_array<Opcode>(
      {{0x80, &M::protocol},  {'(', &M::mark},      {'N', &M::none},        {0x88, &M::new_true},
       {0x89, &M::new_false}, {'J', &M::integer},   {'K', &M::integer1},    {'M', &M::integer2},
       {0x8a, &M::long1},     {'X', &M::text},      {')', &M::empty_tuple}, {'t', &M::tuple},
       {0x85, &M::tuple1},    {0x86, &M::tuple2},   {0x87, &M::tuple3},     {'}', &M::empty_dict},
       {'s', &M::set_item},   {'u', &M::set_items}, {'c', &M::global},      {'Q', &M::persistent_id},
       {'R', &M::reduce},     {'b', &M::build},     {'q', &M::put1},        {'r', &M::put4},
       {'h', &M::get1},       {'j', &M::get4},      {'.', &M::stop}});
  const auto* found = std::ranges::find(kOpcodes, code, &Opcode::code);
  return found == kOpcodes.end() ? nullptr : found;
}

const PickleValue& PickleMachine::run() {
  while (!stopped_) {
    const auto code = take_integer<std::uint8_t>();
    const auto* opcode = find_opcode(code);
    if (opcode == nullptr) refuse_opcode(code);
    (this->*opcode->action)();
  }
  const auto* result = pop();
  if (!stack_.empty() || !marks_.empty() || !rest_.empty()) fail("something is left over at its end");
  return *result;
}

void PickleMachine::refuse_opcode(std::uint8_t code) const {
  const auto* known = std::ranges::find(kRefused, code, &OpcodeName::code);
  const auto name =
      known == kRefused.end() ? fmt::format("0x{:02x}", code) : fmt::format("{} (0x{:02x})", known->name, code);
  fail(fmt::format("it has the opcode {}, which no state_dict has", name));
}

void PickleMachine::fail(std::string_view reason) const {
  throw UsageError(
      fmt::format("refused at byte {} of its pickle, without executing anything: {}", size_ - rest_.size(), reason));
}

Bytes PickleMachine::take(std::uint64_t count) {
  const auto taken = slice(rest_, 0, count);
  if (!taken) fail("it is truncated");
  rest_ = rest_.subspan(taken->size());
  return *taken;
}

std::string_view PickleMachine::take_line() {
  const auto end = text_of(rest_).find('\n');
  if (end == std::string_view::npos) fail("it is truncated");
  const auto line = text_of(take(end));
  take(1);
  return line;
}

template <class Content>
void PickleMachine::push(Content content) {
  if (values_.size() == kMostValues) fail(fmt::format("it has more than {} values", kMostValues));
  stack_.push_back(&values_.emplace_back(PickleValue{std::move(content)}));
}

PickleValue& PickleMachine::top() {
  const auto bottom = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= bottom) fail("it takes from an empty stack");
  return *stack_.back();
}

PickleValue* PickleMachine::pop() {
  auto* value = &top();
  stack_.pop_back();
  return value;
}

std::vector<PickleValue*> PickleMachine::pop_to_mark() {
  if (marks_.empty()) fail("it goes back to a mark that it never set");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleValue*> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

const PickleTuple& PickleMachine::pop_tuple() {
  const auto* value = pop();
  const auto* tuple = value->get<PickleTuple>();
  if (tuple == nullptr) fail(fmt::format("there is {} where a tuple should be", kind_of(*value)));
  return *tuple;
}

void PickleMachine::push_tuple(std::size_t items) {
  PickleTuple tuple;
  tuple.items.resize(items);
  for (std::size_t i = items; i-- > 0;) tuple.items[i] = pop();
  push(std::move(tuple));
}

void PickleMachine::protocol() {
  const auto version = take_integer<std::uint8_t>();
  if (version != 2) fail(fmt::format("it is of protocol {}, and torch.save writes 2", version));
}

void PickleMachine::mark() {
  if (marks_.size() == kMostValues) fail(fmt::format("it has more than {} open marks", kMostValues));
  marks_.push_back(stack_.size());
}

void PickleMachine::long1() {
  const auto bytes = take(take_integer<std::uint8_t>());
  if (bytes.size() > sizeof(std::int64_t)) fail("it has a number of more than 64 bits");
  const bool negative = !bytes.empty() && static_cast<std::int8_t>(bytes.back()) < 0;
  std::array<std::byte, sizeof(std::int64_t)> extended{};
  extended.fill(negative ? std::byte{0xff} : std::byte{0});
  std::ranges::copy(bytes, extended.begin());
  push(load<std::int64_t>(extended, 0));
}

void PickleMachine::text() {
  push(text_of(take(take_integer<std::uint32_t>())));
}

void PickleMachine::tuple() {
  const auto items = pop_to_mark();
  push(PickleTuple{{items.begin(), items.end()}});
}

void PickleMachine::add_entries(PickleValue& dictionary, const std::vector<PickleValue*>& items) {
  auto* content = std::get_if<PickleDict>(&dictionary.content);
  if (content == nullptr) fail(fmt::format("it sets items of {}", kind_of(dictionary)));
  if (items.size() % 2 != 0) fail("it sets a key without a value");
  for (std::size_t i = 0; i < items.size(); i += 2) content->entries.emplace_back(items[i], items[i + 1]);
}

void PickleMachine::set_item() {
  auto* value = pop();
  auto* key = pop();
  add_entries(top(), {key, value});
}

void PickleMachine::set_items() {
  const auto items = pop_to_mark();
  add_entries(top(), items);
}

void PickleMachine::global() {
  const auto module = take_line();
  const auto name = take_line();
  const auto* found =
      std::ranges::find_if(kGlobals, [&](const Global& known) { return known.module == module && known.name == name; });
  if (found == kGlobals.end()) {
    fail(fmt::format("it asks for {}, which no state_dict needs", in_quotes(fmt::format("{}.{}", module, name))));
  }
  std::visit([&](auto meaning) { push(meaning); }, found->meaning);
}

/// ("storage", type, key, device, number of elements)
void PickleMachine::persistent_id() {
  const auto& id = pop_tuple();
  if (id.items.size() == 5) {
    const auto* word = argument<std::string_view>(id, 0);
    const auto* type = argument<PickleStorageType>(id, 1);
    const auto* key = argument<std::string_view>(id, 2);
    const auto* elements = argument<std::int64_t>(id, 4);
    if (word != nullptr && *word == "storage" && type != nullptr && key != nullptr && elements != nullptr) {
      push(PickleStorage{*key, type->dtype, *elements});
      return;
    }
  }
  fail("it refers to something that is no storage of a tensor");
}

void PickleMachine::reduce() {
  const auto& arguments = pop_tuple();
  const auto* callable = pop();
  const auto* function = callable->get<PickleFunction>();
  if (function == nullptr) fail(fmt::format("it calls {}", kind_of(*callable)));
  switch (*function) {
    case PickleFunction::ordered_dict:
      if (!arguments.items.empty()) fail("it makes an OrderedDict of something");
      return push(PickleDict{});
    case PickleFunction::rebuild_tensor:
      return rebuild_tensor(arguments);
    case PickleFunction::rebuild_parameter:
      return rebuild_parameter(arguments);
  }
}

/// (storage, offset, shape, strides, requires_grad, backward hooks[, metadata])
void PickleMachine::rebuild_tensor(const PickleTuple& arguments) {
  const auto count = arguments.items.size();
  if (count == 6 || count == 7) {
    const auto* storage = argument<PickleStorage>(arguments, 0);
    const auto* offset = argument<std::int64_t>(arguments, 1);
    const auto* shape = argument<PickleTuple>(arguments, 2);
    const auto* strides = argument<PickleTuple>(arguments, 3);
    if (storage != nullptr && offset != nullptr && shape != nullptr && strides != nullptr) {
      auto sizes = dimensions(*shape);
      auto steps = dimensions(*strides);
      if (sizes && steps) return push(PickleTensor{*storage, *offset, std::move(*sizes), std::move(*steps)});
    }
  }
  fail("it makes a tensor of something else than a storage, an offset, a shape and strides");
}

/// (tensor, requires_grad, backward hooks)
void PickleMachine::rebuild_parameter(const PickleTuple& arguments) {
  const auto* tensor = arguments.items.size() == 3 ? argument<PickleTensor>(arguments, 0) : nullptr;
  if (tensor == nullptr) fail("it makes a parameter of something else than a tensor");
  push(*tensor);
}

/// An OrderedDict's own attributes: the versions of modules, which nothing here depends on.
void PickleMachine::build() {
  const auto* state = pop();
  if (state->get<PickleDict>() == nullptr || top().get<PickleDict>() == nullptr) {
    fail(fmt::format("it sets the state of {}", kind_of(top())));
  }
}

void PickleMachine::get(std::uint32_t index) {
  const auto found = memo_.find(index);
  if (found == memo_.end()) fail("it refers to something that it never remembered");
  stack_.push_back(found->second);
}

}  // namespace paretopipe::weights
