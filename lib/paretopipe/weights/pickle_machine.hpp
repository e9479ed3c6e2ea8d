#pragma once
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/pickle_value.hpp>

#include <deque>
#include <unordered_map>
#include <vector>

namespace paretopipe::weights {

/// Runs the pickle of a state_dict: the opcodes of protocol 2 (Python's pickletools.py defines them) that torch.save
/// uses for one, with the globals that one names. Anything else, another opcode, another global such as os.system, a
/// call with other arguments, is refused by its name; nothing is executed or imported. Values live as long as the
/// machine, and text refers to `pickle`.
///
/// All methods throw UsageError, a sentence with the position in the pickle.
class PickleMachine {
 public:
  explicit PickleMachine(Bytes pickle) : rest_(pickle), size_(pickle.size()) {}

  /// To be called once. What the pickle holds; every byte of it is used.
  const PickleValue& run();

 private:
  using Action = void (PickleMachine::*)();
  struct Opcode {
    std::uint8_t code;
    Action action;
  };
  static const Opcode* find_opcode(std::uint8_t code);
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
  template <class Content>
  void push(Content content);
  PickleValue* pop();
  PickleValue& top();
  std::vector<PickleValue*> pop_to_mark();
  const PickleTuple& pop_tuple();
  void push_tuple(std::size_t items);

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
  void text();
  void empty_tuple() { push(PickleTuple{}); }
  void tuple();
  void tuple1() { push_tuple(1); }
  void tuple2() { push_tuple(2); }
  void tuple3() { push_tuple(3); }
  void empty_dict() { push(PickleDict{}); }
  void set_item();
  void set_items();
  void global();
  void persistent_id();
  void reduce();
  void build();
  void put1() { put(take_integer<std::uint8_t>()); }
  void put4() { put(take_integer<std::uint32_t>()); }
  void get1() { get(take_integer<std::uint8_t>()); }
  void get4() { get(take_integer<std::uint32_t>()); }
  void stop() { stopped_ = true; }

  void put(std::uint32_t index) { memo_[index] = &top(); }
  void get(std::uint32_t index);
  void add_entries(PickleValue& dictionary, const std::vector<PickleValue*>& items);
  void rebuild_tensor(const PickleTuple& arguments);
  void rebuild_parameter(const PickleTuple& arguments);

  Bytes rest_;
  std::size_t size_;
  bool stopped_ = false;
  std::deque<PickleValue> values_;  ///< whose addresses stay
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;  ///< heights of the stack
  std::unordered_map<std::uint32_t, PickleValue*> memo_;
};

}  // namespace paretopipe::weights
