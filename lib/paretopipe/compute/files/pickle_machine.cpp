#include <paretopipe/compute/files/pickle_machine.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace paretopipe::files {

namespace {

/// Enough for modules within modules, with a few tuples and lists at each.
constexpr int kDeepestNesting = 500;

/// The names of opcodes that a pickle may be refused for.
constexpr Word<std::uint8_t> kRefused[]{
    {'i', "INST"},          {'o', "OBJ"},     {'P', "PERSID"},   {0x81, "NEWOBJ"},
    {0x92, "NEWOBJ_EX"},    {0x82, "EXT1"},   {0x83, "EXT2"},    {0x84, "EXT4"},
    {0x93, "STACK_GLOBAL"}, {0x95, "FRAME"},  {0x94, "MEMOIZE"}, {']', "EMPTY_LIST"},
    {'a', "APPEND"},        {'e', "APPENDS"}, {'G', "BINFLOAT"}, {'U', "SHORT_BINSTRING"},
    {'T', "BINSTRING"},     {'0', "POP"},     {'1', "POP_MARK"}, {'2', "DUP"}};

}  // namespace

std::string_view kind_of(const PickleValue& value) {
  constexpr std::array<std::string_view, 15> kKinds{
      "None",     "a truth value", "a number", "a real number", "text",    "a function", "a type",  "a storage",
      "a tensor", "a tuple",       "a list",   "a dictionary",  "a class", "an object",  "a device"};
  return kKinds.at(value.content.index());
}

const PickleMachine::Opcode* PickleMachine::find_opcode(std::uint8_t code) const {
  using M = PickleMachine;
  constexpr auto kArchive = PickleDialect::archive;
  static constexpr auto kOpcodes = std::to_array<Opcode>({{0x80, &M::protocol},
                                                          {'(', &M::mark},
                                                          {'N', &M::none},
                                                          {0x88, &M::new_true},
                                                          {0x89, &M::new_false},
                                                          {'J', &M::integer},
                                                          {'K', &M::integer1},
                                                          {'M', &M::integer2},
                                                          {0x8a, &M::long1},
                                                          {'X', &M::text},
                                                          {')', &M::empty_tuple},
                                                          {'t', &M::tuple},
                                                          {0x85, &M::tuple1},
                                                          {0x86, &M::tuple2},
                                                          {0x87, &M::tuple3},
                                                          {'}', &M::empty_dict},
                                                          {'s', &M::set_item},
                                                          {'u', &M::set_items},
                                                          {'c', &M::global},
                                                          {'Q', &M::persistent_id},
                                                          {'R', &M::reduce},
                                                          {'b', &M::build},
                                                          {'q', &M::put1},
                                                          {'r', &M::put4},
                                                          {'h', &M::get1},
                                                          {'j', &M::get4},
                                                          {'.', &M::stop},
                                                          {'G', &M::real, kArchive},
                                                          {']', &M::empty_list, kArchive},
                                                          {'a', &M::append, kArchive},
                                                          {'e', &M::appends, kArchive},
                                                          {0x81, &M::new_object, kArchive}});
  const auto* found = std::ranges::find(kOpcodes, code, &Opcode::code);
  return found == kOpcodes.end() || found->from > dialect_ ? nullptr : found;
}

std::string_view PickleMachine::owner() const {
  return dialect_ == PickleDialect::archive ? "TorchScript archive" : "state_dict";
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
  const std::string_view known = word_of(kRefused, code);
  const auto name = known.empty() ? fmt::format("0x{:02x}", code) : fmt::format("{} (0x{:02x})", known, code);
  fail(fmt::format("it has the opcode {}, which no {} has", name, owner()));
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

std::vector<PickleValue*> PickleMachine::pop_several(std::size_t count) {
  std::vector<PickleValue*> items(count);
  for (std::size_t i = count; i-- > 0;) items[i] = pop();
  return items;
}

void PickleMachine::push_tuple(std::vector<PickleValue*> items) {
  push(PickleTuple{{items.begin(), items.end()}});
  hold(top(), items);
}

/// For an archive, which LibTorch will build: refuses changes to a held value, so there are no cycles.
void PickleMachine::hold(PickleValue& holder, const std::vector<PickleValue*>& items) {
  if (dialect_ != PickleDialect::archive || items.empty()) return;
  if (holder.held) fail(fmt::format("it changes {} that something else holds already", kind_of(holder)));
  for (auto* item : items) {
    item->held = true;
    holder.depth = std::max(holder.depth, item->depth + 1);
  }
  if (holder.held) fail(fmt::format("it puts {} into itself", kind_of(holder)));
  if (holder.depth > kDeepestNesting) fail(fmt::format("it is nested more than {} deep", kDeepestNesting));
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

/// Big-endian, unlike everything else.
void PickleMachine::real() {
  push(std::bit_cast<double>(__builtin_bswap64(take_integer<std::uint64_t>())));
}

void PickleMachine::text() {
  push(text_of(take(take_integer<std::uint32_t>())));
}

void PickleMachine::add_items(const std::vector<PickleValue*>& items) {
  auto* list = std::get_if<PickleList>(&top().content);
  if (list == nullptr) fail(fmt::format("it appends to {}", kind_of(top())));
  hold(top(), items);
  list->items.insert(list->items.end(), items.begin(), items.end());
}

void PickleMachine::add_entries(const std::vector<PickleValue*>& items) {
  auto* dictionary = std::get_if<PickleDict>(&top().content);
  if (dictionary == nullptr) fail(fmt::format("it sets items of {}", kind_of(top())));
  if (items.size() % 2 != 0) fail("it sets a key without a value");
  hold(top(), items);
  for (std::size_t i = 0; i < items.size(); i += 2) dictionary->entries.emplace_back(items[i], items[i + 1]);
}

/// LibTorch's table is as long as the greatest index, so an archive's indices are limited.
void PickleMachine::put(std::uint32_t index) {
  if (dialect_ == PickleDialect::archive && index > kMostValues) fail(fmt::format("it remembers a value as {}", index));
  memo_[index] = &top();
}

void PickleMachine::get(std::uint32_t index) {
  const auto found = memo_.find(index);
  if (found == memo_.end()) fail("it refers to something that it never remembered");
  stack_.push_back(found->second);
}

}  // namespace paretopipe::files
