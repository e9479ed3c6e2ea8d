#pragma once
#include <paretopipe/core/json.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <nlohmann/json.hpp>

/// The keys of a struct and the members behind them, said once for both directions: a std::tuple of field()s.
namespace paretopipe {

template <class Class, class Value, class Usual>
struct Field {
  const char* key;
  Value Class::*member;
  Usual usual;
};

/// A member that is always written and must be there. If it is a std::optional, it is written and read like
/// write_optional() and read_optional() do.
template <class Class, class Value>
constexpr Field<Class, Value, std::nullptr_t> field(const char* key, Value Class::*member) {
  return {key, member, nullptr};
}

/// A member that is written only if it is not as usual, and is that if the key is missing.
template <class Class, class Value, class Usual>
constexpr Field<Class, Value, Usual> field(const char* key, Value Class::*member, Usual usual) {
  return {key, member, usual};
}

template <class Class, class... Fields>
void write_fields(nlohmann::json& object, const Class& value, const std::tuple<Fields...>& fields) {
  object = nlohmann::json::object();
  const auto write = [&]<class Value, class Usual>(const Field<Class, Value, Usual>& field) {
    const auto& member = value.*field.member;
    if constexpr (!std::is_same_v<Usual, std::nullptr_t>) {
      if (member != field.usual) object[field.key] = member;
    } else if constexpr (requires { write_optional(object, field.key, member); }) {
      write_optional(object, field.key, member);
    } else {
      object[field.key] = member;
    }
  };
  std::apply([&](const auto&... each) { (write(each), ...); }, fields);
}

/// Throws nlohmann's exceptions for a missing key and for a value of another type.
template <class Class, class... Fields>
void read_fields(const nlohmann::json& object, Class& value, const std::tuple<Fields...>& fields) {
  const auto read = [&]<class Value, class Usual>(const Field<Class, Value, Usual>& field) {
    auto& member = value.*field.member;
    if constexpr (!std::is_same_v<Usual, std::nullptr_t>) {
      member = object.value(field.key, Value(field.usual));
    } else if constexpr (requires { read_optional(object, field.key, member); }) {
      read_optional(object, field.key, member);
    } else {
      object.at(field.key).get_to(member);
    }
  };
  std::apply([&](const auto&... each) { (read(each), ...); }, fields);
}

}  // namespace paretopipe
