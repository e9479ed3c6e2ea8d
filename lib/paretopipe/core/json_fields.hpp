#pragma once
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>

#include <nlohmann/json.hpp>

/// A struct's keys and the members behind them, listed once for both directions. PARETOPIPE_JSON is for a struct whose
/// keys are its members' names. A struct with other keys, or with more keys than members, takes a std::tuple of
/// field()s. Everything here is a template, so that only a file that converts a struct compiles the conversion.
namespace paretopipe {

/// Writes `value` under `key`, or nothing if there is none: an undefined value must look missing, never like a zero.
template <class T>
void write_optional(nlohmann::json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

template <class T>
void read_optional(const nlohmann::json& object, const char* key, std::optional<T>& value) {
  if (const auto found = object.find(key); found != object.end()) {
    value = found->template get<T>();
  } else {
    value.reset();
  }
}

/// A std::optional is written and read like write_optional() and read_optional() do; any other member must be there.
template <class Value>
void write_member(nlohmann::json& object, const char* key, const Value& member) {
  if constexpr (requires { write_optional(object, key, member); }) {
    write_optional(object, key, member);
  } else {
    object[key] = member;
  }
}

/// Throws nlohmann's exceptions for a missing key and for a value of another type.
template <class Value>
void read_member(const nlohmann::json& object, const char* key, Value& member) {
  if constexpr (requires { read_optional(object, key, member); }) {
    read_optional(object, key, member);
  } else {
    object.at(key).get_to(member);
  }
}

#define PARETOPIPE_EACH(Do, ...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(Do, __VA_ARGS__))
#define PARETOPIPE_LIST(...) __VA_ARGS__
#define PARETOPIPE_WRITE(member) paretopipe::write_member(json, #member, value.member);
#define PARETOPIPE_READ(member) paretopipe::read_member(json, #member, value.member);
#define PARETOPIPE_WRITE_UNUSUAL(member) \
  if (value.member != usual.member) json[#member] = value.member;
#define PARETOPIPE_READ_UNUSUAL(member) value.member = json.value(#member, usual.member);

/// Defines to_json() and from_json() for a struct with these members.
#define PARETOPIPE_JSON(Class, ...)                \
  template <class Json>                            \
  void to_json(Json& json, const Class& value) {   \
    json = Json::object();                         \
    PARETOPIPE_EACH(PARETOPIPE_WRITE, __VA_ARGS__) \
  }                                                \
  template <class Json>                            \
  void from_json(const Json& json, Class& value) { \
    PARETOPIPE_EACH(PARETOPIPE_READ, __VA_ARGS__)  \
  }

/// Does the same for two lists of members in parentheses. A member of the second list is left out where it equals that
/// of Class{}, and a missing key reads as that.
#define PARETOPIPE_JSON_UNLESS_USUAL(Class, always, unless_usual)           \
  template <class Json>                                                     \
  void to_json(Json& json, const Class& value) {                            \
    const Class usual{};                                                    \
    json = Json::object();                                                  \
    PARETOPIPE_EACH(PARETOPIPE_WRITE, PARETOPIPE_LIST always)               \
    PARETOPIPE_EACH(PARETOPIPE_WRITE_UNUSUAL, PARETOPIPE_LIST unless_usual) \
  }                                                                         \
  template <class Json>                                                     \
  void from_json(const Json& json, Class& value) {                          \
    const Class usual{};                                                    \
    PARETOPIPE_EACH(PARETOPIPE_READ, PARETOPIPE_LIST always)                \
    PARETOPIPE_EACH(PARETOPIPE_READ_UNUSUAL, PARETOPIPE_LIST unless_usual)  \
  }

template <class Class, class Value, class Usual>
struct Field {
  const char* key;
  Value Class::*member;
  Usual usual;
};

/// A member that write_member() writes and read_member() reads.
template <class Class, class Value>
constexpr Field<Class, Value, std::nullptr_t> field(const char* key, Value Class::*member) {
  return {key, member, nullptr};
}

/// A member that is written only if it differs from `usual`. A missing key reads as `usual`.
template <class Class, class Value, class Usual>
constexpr Field<Class, Value, Usual> field(const char* key, Value Class::*member, Usual usual) {
  return {key, member, usual};
}

template <class Class, class... Fields>
void write_fields(nlohmann::json& object, const Class& value, const std::tuple<Fields...>& fields) {
  object = nlohmann::json::object();
  const auto write = [&]<class Value, class Usual>(const Field<Class, Value, Usual>& field) {
    const auto& member = value.*field.member;
    if constexpr (std::is_same_v<Usual, std::nullptr_t>) {
      write_member(object, field.key, member);
    } else if (member != field.usual) {
      object[field.key] = member;
    }
  };
  std::apply([&](const auto&... each) { (write(each), ...); }, fields);
}

/// Throws as read_member() does.
template <class Class, class... Fields>
void read_fields(const nlohmann::json& object, Class& value, const std::tuple<Fields...>& fields) {
  const auto read = [&]<class Value, class Usual>(const Field<Class, Value, Usual>& field) {
    if constexpr (std::is_same_v<Usual, std::nullptr_t>) {
      read_member(object, field.key, value.*field.member);
    } else {
      value.*field.member = object.value(field.key, Value(field.usual));
    }
  };
  std::apply([&](const auto&... each) { (read(each), ...); }, fields);
}

}  // namespace paretopipe
