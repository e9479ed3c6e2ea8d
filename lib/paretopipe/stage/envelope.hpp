#pragma once
#include <optional>

#include <nlohmann/json.hpp>

/// How every control message travels: {"type": name, "body": {...}}.
namespace paretopipe::stage {

/// The base of a message that has no fields. Its body is an empty object; reading ignores whatever is there.
struct NoFields {};
inline void to_json(nlohmann::json& json, const NoFields&) {
  json = nlohmann::json::object();
}
inline void from_json(const nlohmann::json&, NoFields&) {}

template <class Message>
nlohmann::json wrap(const Message& message) {
  return {{"type", Message::kType}, {"body", message}};
}

/// True if the envelope says that it holds a Message. Throws nothing, whatever the JSON contains.
template <class Message>
bool holds(const nlohmann::json& envelope) {
  return envelope.is_object() && envelope.contains("type") && envelope.at("type") == Message::kType;
}

/// The body, if the envelope holds a Message.
template <class Message>
std::optional<Message> unwrap(const nlohmann::json& envelope) {
  if (!envelope.is_object() || envelope.value("type", "") != Message::kType) return std::nullopt;
  return envelope.at("body").template get<Message>();
}

}  // namespace paretopipe::stage
