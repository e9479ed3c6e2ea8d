#include <paretopipe/compute/files/pickle_machine.hpp>

#include <algorithm>
#include <array>

// The names that a pickle refers to: types, storages, functions, classes.
namespace paretopipe::files {

namespace {

struct Global {
  std::string_view module;
  std::string_view name;
  std::variant<PickleFunction, PickleStorageType> meaning;
  PickleDialect from = PickleDialect::state_dict;  ///< this dialect and those after it
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
    {"torch", "device", PickleFunction::device, PickleDialect::archive},
    {"torch.jit._pickle", "build_intlist", PickleFunction::build_list, PickleDialect::archive},
    {"torch.jit._pickle", "build_doublelist", PickleFunction::build_list, PickleDialect::archive},
    {"torch.jit._pickle", "build_boollist", PickleFunction::build_list, PickleDialect::archive},
    {"torch.jit._pickle", "build_tensorlist", PickleFunction::build_list, PickleDialect::archive},
    {"torch.jit._pickle", "restore_type_tag", PickleFunction::restore_type, PickleDialect::archive},
});

/// Null if the value is of another kind.
template <class T>
const T* argument(const PickleTuple& arguments, std::size_t index) {
  return arguments.items[index]->get<T>();
}

/// PyTorch's own limit. Without one, a short pickle could ask for copies of a long tuple until the memory is full.
constexpr std::size_t kMostDimensions = 64;

/// The numbers of a shape or of strides; nothing unless all items are whole numbers.
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

/// The longest textual type. LibTorch parses types recursively.
constexpr std::size_t kLongestType = 1000;

/// Excludes classes that LibTorch itself provides: their objects are made by C++ code.
bool is_class_of_archive(std::string_view module) {
  if (module.starts_with("__torch__.torch.classes")) return false;
  return module == "__torch__" || module.starts_with("__torch__.");
}

}  // namespace

void PickleMachine::global() {
  const auto module = take_line();
  const auto name = take_line();
  const auto* found = std::ranges::find_if(kGlobals, [&](const Global& known) {
    return known.module == module && known.name == name && known.from <= dialect_;
  });
  if (found != kGlobals.end()) return std::visit([&](auto meaning) { push(meaning); }, found->meaning);
  if (dialect_ == PickleDialect::archive && is_class_of_archive(module)) return push(PickleClass{});
  fail(fmt::format("it asks for {}, which no {} needs", in_quotes(fmt::format("{}.{}", module, name)), owner()));
}

/// ("storage", type, key, device, number of elements)
void PickleMachine::persistent_id() {
  const auto& id = pop_tuple();
  if (id.items.size() == 5) {
    const auto* word = argument<std::string_view>(id, 0);
    const auto* type = argument<PickleStorageType>(id, 1);
    const auto* key = argument<std::string_view>(id, 2);
    const auto* device = argument<std::string_view>(id, 3);
    const auto* elements = argument<std::int64_t>(id, 4);
    const bool complete = type != nullptr && key != nullptr && device != nullptr && elements != nullptr;
    if (word != nullptr && *word == "storage" && complete) {
      return push(PickleStorage{*key, type->dtype, *elements});
    }
  }
  fail("it refers to something that is not a storage of a tensor");
}

void PickleMachine::reduce() {
  const auto& arguments = pop_tuple();
  const auto* callable = pop();
  const auto* function = callable->get<PickleFunction>();
  if (function == nullptr) fail(fmt::format("it calls {}", kind_of(*callable)));
  call(*function, arguments);
}

void PickleMachine::call(PickleFunction function, const PickleTuple& arguments) {
  switch (function) {
    case PickleFunction::ordered_dict:
      if (!arguments.items.empty()) fail("it makes an OrderedDict of something");
      return push(PickleDict{});
    case PickleFunction::rebuild_tensor:
      return rebuild_tensor(arguments);
    case PickleFunction::rebuild_parameter:
      return rebuild_parameter(arguments);
    case PickleFunction::build_list:
      return build_list(arguments);
    case PickleFunction::restore_type:
      return restore_type(arguments);
    case PickleFunction::device:
      return device(arguments);
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

/// (list): returns the same list, which from now on has one element type, e.g. whole numbers.
void PickleMachine::build_list(const PickleTuple& arguments) {
  if (arguments.items.size() != 1 || argument<PickleList>(arguments, 0) == nullptr) {
    fail("it makes a list of something else than a list");
  }
  stack_.push_back(arguments.items.front());
}

/// (list or dictionary, its type in words): returns the same value.
void PickleMachine::restore_type(const PickleTuple& arguments) {
  if (arguments.items.size() == 2) {
    const bool container =
        argument<PickleList>(arguments, 0) != nullptr || argument<PickleDict>(arguments, 0) != nullptr;
    const auto* type = argument<std::string_view>(arguments, 1);
    if (container && type != nullptr && type->size() <= kLongestType) return stack_.push_back(arguments.items.front());
  }
  fail("it gives a type to something else than a list or a dictionary");
}

/// (name)
void PickleMachine::device(const PickleTuple& arguments) {
  if (arguments.items.size() != 1 || argument<std::string_view>(arguments, 0) == nullptr) {
    fail("it makes a device of something else than its name");
  }
  push(PickleDevice{});
}

void PickleMachine::new_object() {
  const auto& arguments = pop_tuple();
  const auto* type = pop();
  if (type->get<PickleClass>() == nullptr) fail(fmt::format("it makes an object of {}", kind_of(*type)));
  if (!arguments.items.empty()) fail("it makes an object with arguments");
  push(PickleObject{});
}

/// Sets the attributes of an object. In a state_dict, these are an OrderedDict's own: the versions of modules, which
/// nothing here depends on.
void PickleMachine::build() {
  auto* state = pop();
  const bool owner_fits =
      dialect_ == PickleDialect::archive ? top().get<PickleObject>() != nullptr : top().get<PickleDict>() != nullptr;
  if (state->get<PickleDict>() == nullptr || !owner_fits) {
    fail(fmt::format("it sets the state of {}", kind_of(top())));
  }
  hold(top(), {state});
}

}  // namespace paretopipe::files
