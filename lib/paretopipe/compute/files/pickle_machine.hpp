#pragma once
#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/stored_tensor.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace paretopipe::files {

// The values of PyTorch's pickles as their reader sees them. Nothing here is a Python object, and nothing is ever
// called: the few functions that pickles name are constants, and their results are known.

struct PickleValue;

struct PickleNone {};

/// The functions that a pickle may call. Only TorchScript archives use the last three: a list of one type (made from a
/// list, whose elements stay), a list or dictionary with its type in words, and a device by its name.
enum class PickleFunction { ordered_dict, rebuild_tensor, rebuild_parameter, build_list, restore_type, device };

/// torch.FloatStorage and its like.
struct PickleStorageType {
  DType dtype;
};

/// A storage: the entry of the archive that holds its bytes.
struct PickleStorage {
  std::string_view key;
  DType dtype;
  std::int64_t elements;
};

/// A tensor as the pickle describes it. Nothing about it is checked but that its numbers are whole.
struct PickleTensor {
  PickleStorage storage;
  std::int64_t offset;  ///< of the first element, in elements
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

struct PickleTuple {
  std::vector<PickleValue*> items;
};

struct PickleList {
  std::vector<const PickleValue*> items;
};

/// A class of the archive's own code, and an object of it.
struct PickleClass {};
struct PickleObject {};

struct PickleDevice {};

/// A dictionary's entries in their original order; keys may be equal.
struct PickleDict {
  std::vector<std::pair<const PickleValue*, const PickleValue*>> entries;
};

struct PickleValue {
  std::variant<PickleNone, bool, std::int64_t, double, std::string_view, PickleFunction, PickleStorageType,
               PickleStorage, PickleTensor, PickleTuple, PickleList, PickleDict, PickleClass, PickleObject,
               PickleDevice>
      content;
  int depth = 0;      ///< nesting of values that hold values, in an archive's pickle
  bool held = false;  ///< by another value, in an archive's pickle

  template <class T>
  const T* get() const {
    return std::get_if<T>(&content);
  }
};

/// "a number", "a dictionary": for messages.
std::string_view kind_of(const PickleValue& value);

/// The kind of pickle, which decides on the allowed opcodes and globals.
enum class PickleDialect {
  state_dict,
  archive,  ///< of TorchScript: also lists, real numbers, and objects of the archive's own classes
};

/// Runs a pickle of PyTorch: the opcodes of protocol 2 (defined in Python's pickletools.py) that torch.save uses for a
/// state_dict or torch.jit.save for an archive, with the globals that they name. Refuses everything else by its name:
/// another opcode, another global such as os.system, a call with other arguments. Executes and imports nothing. Values
/// live as long as the machine; text refers to `pickle`.
///
/// LibTorch reads and trusts an archive's pickle afterwards. So the values must not be nested so deeply that their
/// destructors run out of stack, and must hold no cycle.
///
/// All methods throw UsageError, a sentence with the position in the pickle.
class PickleMachine {
 public:
  explicit PickleMachine(Bytes pickle, PickleDialect dialect = PickleDialect::state_dict)
      : rest_(pickle), size_(pickle.size()), dialect_(dialect) {}

  /// Returns the content of the pickle; every byte of it must be used. Call once.
  const PickleValue& run();

  /// All values that the pickle made.
  const std::deque<PickleValue>& values() const { return values_; }

 private:
  using Action = void (PickleMachine::*)();
  struct Opcode {
    std::uint8_t code;
    Action action;
    PickleDialect from = PickleDialect::state_dict;  ///< this dialect and those after it
  };
  const Opcode* find_opcode(std::uint8_t code) const;
  std::string_view owner() const;
  [[noreturn]] void refuse_opcode(std::uint8_t code) const;
  [[noreturn]] void fail(std::string_view reason) const;

  // Reading
  Bytes take(std::uint64_t count);
  template <class Integer>
  Integer take_integer() {
    return load<Integer>(take(sizeof(Integer)), 0);
  }
  std::string_view take_line();

  // The stack
  /// A state_dict of ten thousand tensors needs a quarter of this.
  static constexpr std::size_t kMostValues = 1'000'000;

  template <class Content>
  void push(Content content) {
    if (values_.size() == kMostValues) fail(fmt::format("it has more than {} values", kMostValues));
    stack_.push_back(&values_.emplace_back(PickleValue{std::move(content)}));
  }
  PickleValue* pop();
  PickleValue& top();
  std::vector<PickleValue*> pop_to_mark();
  const PickleTuple& pop_tuple();
  void push_tuple(std::vector<PickleValue*> items);
  std::vector<PickleValue*> pop_several(std::size_t count);
  void hold(PickleValue& holder, const std::vector<PickleValue*>& items);

  // Opcodes
  void protocol();
  void mark();
  void none() { push(PickleNone{}); }
  void new_true() { push(true); }
  void new_false() { push(false); }
  void integer() { push(std::int64_t{take_integer<std::int32_t>()}); }
  void integer1() { push(std::int64_t{take_integer<std::uint8_t>()}); }
  void integer2() { push(std::int64_t{take_integer<std::uint16_t>()}); }
  void long1();
  void real();
  void text();
  void empty_tuple() { push(PickleTuple{}); }
  void tuple() { push_tuple(pop_to_mark()); }
  void tuple1() { push_tuple(pop_several(1)); }
  void tuple2() { push_tuple(pop_several(2)); }
  void tuple3() { push_tuple(pop_several(3)); }
  void empty_list() { push(PickleList{}); }
  void append() { add_items(pop_several(1)); }
  void appends() { add_items(pop_to_mark()); }
  void empty_dict() { push(PickleDict{}); }
  void set_item() { add_entries(pop_several(2)); }
  void set_items() { add_entries(pop_to_mark()); }
  void global();
  void new_object();
  void persistent_id();
  void reduce();
  void build();
  void put1() { put(take_integer<std::uint8_t>()); }
  void put4() { put(take_integer<std::uint32_t>()); }
  void get1() { get(take_integer<std::uint8_t>()); }
  void get4() { get(take_integer<std::uint32_t>()); }
  void stop() { stopped_ = true; }

  void put(std::uint32_t index);
  void get(std::uint32_t index);
  void add_items(const std::vector<PickleValue*>& items);
  void add_entries(const std::vector<PickleValue*>& items);
  void call(PickleFunction function, const PickleTuple& arguments);
  void rebuild_tensor(const PickleTuple& arguments);
  void rebuild_parameter(const PickleTuple& arguments);
  void build_list(const PickleTuple& arguments);
  void restore_type(const PickleTuple& arguments);
  void device(const PickleTuple& arguments);

  Bytes rest_;
  std::size_t size_;
  PickleDialect dialect_;
  bool stopped_ = false;
  std::deque<PickleValue> values_;  ///< their addresses are stable
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;  ///< heights of the stack
  std::unordered_map<std::uint32_t, PickleValue*> memo_;
};

}  // namespace paretopipe::files
