#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <nlohmann/json.hpp>

// Shaping of a real interface that cannot be left behind. Two processes take part: the one that a person started (the
// owner), and a keeper in a session of its own, which neither Ctrl-C nor a lost terminal reaches. Only the keeper runs
// the commands. It removes what it added when the time is over, when the owner asks for it, and when the owner is gone,
// however it ended (the kernel then closes the connection between them). If the keeper is killed, the owner removes it.
// It is left behind only if both are killed or the machine stops: `net clear` removes it, and so does a restart.
namespace paretopipe::shaping {

/// Bytes of the longest message between an owner and a keeper.
inline constexpr std::size_t kLargestLeaseMessage = 64 * 1024;

struct LeaseTerms {
  std::string interface;
  PeerPlan plan;
  Nanoseconds duration{0};  ///< counted from when all is applied

  bool operator==(const LeaseTerms&) const = default;
};

void to_json(nlohmann::json& json, const LeaseTerms& terms);
void from_json(const nlohmann::json& json, LeaseTerms& terms);

/// How the lease ended, and whether the shaping had to be removed: somebody may have done that meanwhile.
enum class LeaseEnd { expired, released, keeper_interrupted, keeper_killed };
NLOHMANN_JSON_SERIALIZE_ENUM(LeaseEnd, {{LeaseEnd::expired, "expired"},
                                        {LeaseEnd::released, "released"},
                                        {LeaseEnd::keeper_interrupted, "keeper interrupted"},
                                        {LeaseEnd::keeper_killed, "keeper killed"}})

struct LeaseOutcome {
  LeaseEnd end = LeaseEnd::released;
  bool removed = true;  ///< false: it was already gone
};
PARETOPIPE_JSON(LeaseOutcome, end, removed)

/// The owner's side.
class Lease {
 public:
  /// `keeper`: the command of a program that calls keep_lease on kControlDescriptor. Returns once all is applied.
  /// Throws EnvironmentError, with nothing applied, if somebody made a root qdisc for the interface, another lease runs
  /// on it, or the kernel refused. If a part could not be removed, the error says so.
  Lease(const std::vector<std::string>& keeper, const LeaseTerms& terms);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// The applied conditions according to the kernel. Throws EnvironmentError for output that tc never prints.
  experiment::LinkConditions read_back() const { return read_back_peer(applied_); }

  /// Readable once the lease has ended by itself.
  int descriptor() const { return connection_.get(); }

  /// Ends the lease if necessary, and waits until everything is removed. If that failed, throws EnvironmentError with
  /// the command to type. Call once.
  LeaseOutcome end();

 private:
  std::optional<std::string> receive(int timeout_ms) const;

  LeaseTerms terms_;
  std::string applied_;  ///< output of tc
  FileDescriptor connection_;
  pid_t keeper_ = -1;
  bool ended_ = false;
};

/// The keeper's side: applies the terms from `connection`, keeps them, removes them, and then returns. Never throws for
/// what the machine refuses: the owner is told.
void keep_lease(FileDescriptor connection);

/// Removes what a lease left on an interface. False if there is nothing of ours; throws EnvironmentError if the kernel
/// refuses. Never touches a foreign root qdisc.
bool clear_leftovers(const std::string& interface);

/// Throws EnvironmentError, which names the owner, if a foreign root qdisc is in the way.
void refuse_foreign_root(const std::string& interface);

}  // namespace paretopipe::shaping
