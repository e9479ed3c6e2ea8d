#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/launch/file_descriptor.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <nlohmann/json.hpp>

// Shaping of a real interface that cannot be left behind. Two processes know of it: the one that a person started (its
// owner), and a keeper in a session of its own, which neither Ctrl-C nor a lost terminal reaches. The keeper alone runs
// the commands. It removes what it added when the time is over, when the owner asks for it, and when the owner is gone
// (the kernel then closes the connection between them), however it ended. Should the keeper be killed, the owner
// removes it. Only both killed, or the machine stopped, leave it: `net clear` removes it, and so does a restart.
namespace paretopipe::shaping {

/// Bytes of the longest message between an owner and a keeper.
inline constexpr std::size_t kLargestLeaseMessage = 64 * 1024;

struct LeaseTerms {
  std::string interface;
  PeerPlan plan;
  Nanoseconds duration{0};  ///< from when all is applied

  bool operator==(const LeaseTerms&) const = default;
};

void to_json(nlohmann::json& json, const LeaseTerms& terms);
void from_json(const nlohmann::json& json, LeaseTerms& terms);

/// How it ended, and whether what was added had to be removed: somebody may have done that meanwhile.
enum class LeaseEnd { expired, released, keeper_interrupted, keeper_killed };
struct LeaseOutcome {
  LeaseEnd end = LeaseEnd::released;
  bool removed = true;  ///< false: it was gone already
};

void to_json(nlohmann::json& json, const LeaseOutcome& outcome);
void from_json(const nlohmann::json& json, LeaseOutcome& outcome);

/// The owner's side.
class Lease {
 public:
  /// `keeper`: the command of a program that calls keep_lease on kControlDescriptor. Returns once all is applied.
  /// Throws EnvironmentError, with nothing applied: the interface has a root qdisc of somebody's making, another lease
  /// runs on it, or the kernel refused.
  Lease(const std::vector<std::string>& keeper, const LeaseTerms& terms);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// What the kernel says was applied. Throws EnvironmentError for what tc never prints.
  config::LinkConditions read_back() const { return read_back_peer(applied_); }

  /// Readable once it has ended by itself.
  int descriptor() const { return connection_.get(); }

  /// Ends it if it has not ended, and waits until everything is removed. Throws EnvironmentError, with the command for
  /// a person to type, if that failed. To be called once.
  LeaseOutcome end();

 private:
  std::optional<std::string> receive(int timeout_ms) const;

  LeaseTerms terms_;
  std::string applied_;  ///< as tc shows it
  launch::FileDescriptor connection_;
  pid_t keeper_ = -1;
  bool ended_ = false;
};

/// The keeper's side: applies what comes through `connection`, keeps it, removes it. Returns when it is removed. Never
/// throws for what the machine refuses: the owner is told.
void keep_lease(launch::FileDescriptor connection);

/// Removes what a lease left on an interface. False if there is nothing of ours; throws EnvironmentError if the kernel
/// refuses. Never touches a root qdisc of somebody else's.
bool clear_leftovers(const std::string& interface);

/// Throws EnvironmentError that says whose root qdisc is in the way.
void refuse_foreign_root(const std::string& interface);

}  // namespace paretopipe::shaping
