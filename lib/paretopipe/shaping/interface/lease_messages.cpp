#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/interface/host_tc.hpp>
#include <paretopipe/shaping/interface/lease.hpp>

namespace paretopipe::shaping {

NLOHMANN_JSON_SERIALIZE_ENUM(LeaseEnd, {{LeaseEnd::expired, "expired"},
                                        {LeaseEnd::released, "released"},
                                        {LeaseEnd::keeper_interrupted, "keeper interrupted"},
                                        {LeaseEnd::keeper_killed, "keeper killed"}})

void to_json(nlohmann::json& json, const LeaseTerms& terms) {
  json = {{"interface", terms.interface},
          {"apply", terms.plan.apply},
          {"undo", terms.plan.undo},
          {"duration_ns", terms.duration.count()}};
}

void from_json(const nlohmann::json& json, LeaseTerms& terms) {
  json.at("interface").get_to(terms.interface);
  json.at("apply").get_to(terms.plan.apply);
  json.at("undo").get_to(terms.plan.undo);
  terms.duration = Nanoseconds(json.at("duration_ns").get<std::int64_t>());
}

void to_json(nlohmann::json& json, const LeaseOutcome& outcome) {
  json = {{"end", outcome.end}, {"removed", outcome.removed}};
}

void from_json(const nlohmann::json& json, LeaseOutcome& outcome) {
  json.at("end").get_to(outcome.end);
  json.at("removed").get_to(outcome.removed);
}

bool clear_leftovers(const std::string& interface) {
  const auto ours = [&] { return root_qdisc(run_tc(show_command(interface))).owner == RootOwner::paretopipe; };
  if (!ours()) return false;
  try {
    run_tc(undo_command(interface));
  } catch (const EnvironmentError&) {
    if (ours()) throw;
    return false;  // somebody was faster
  }
  return true;
}

void refuse_foreign_root(const std::string& interface) {
  const auto root = root_qdisc(run_tc(show_command(interface)));
  if (root.owner == RootOwner::paretopipe) {
    throw EnvironmentError(fmt::format(
        "{0} carries what an earlier `paretopipe net apply` added; remove it with `paretopipe net clear --interface "
        "{0}`",
        interface));
  }
  if (root.owner == RootOwner::somebody) {
    throw EnvironmentError(fmt::format(
        "{0} has a root qdisc that somebody made ({1}), which would be lost; it was left alone. Remove it first if "
        "nobody needs it: tc qdisc del dev {0} root",
        interface, root.name));
  }
}

}  // namespace paretopipe::shaping
