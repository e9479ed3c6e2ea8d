#pragma once
#include <paretopipe/weights/stored_tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// The values of PyTorch's pickles as their reader sees them. Nothing here is a Python object, and nothing is ever
// called: the few functions that pickles name are constants, and their results are known.
namespace paretopipe::weights {

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

/// A tensor as the pickle describes it. Only checked for whole numbers.
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

/// In the original order of the entries; keys may be equal.
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

}  // namespace paretopipe::weights
