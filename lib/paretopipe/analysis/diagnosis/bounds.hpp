#pragma once
#include <paretopipe/analysis/diagnosis/demands.hpp>

#include <vector>

namespace paretopipe::diagnosis {

/// What can bound a pipeline's throughput.
enum class Kind {
  compute,   ///< a stage's compute
  codec,     ///< a stage's encoding, in the thread that sends
  link,      ///< a link from a stage to the next
  way_back,  ///< the link of the results to stage 0
  source,    ///< stage 0, between a result and the batch that replaces it
  depth,     ///< too few batches in flight to keep any part always busy
};

/// Results cannot follow each other faster than one every `period_ns`.
struct Constraint {
  Kind kind = Kind::compute;
  int stage = 0;  ///< the stage that computes or encodes, or the sender of a link or of the way back; otherwise 0
  double period_ns = 0;
};

/// The kind's name in JSON: "compute", "codec", "link", "way_back", "source", "depth".
std::string_view to_string(Kind kind);

/// Computes the asymptotic bounds of a closed network (Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System
/// Performance", 1984, chapter 5). With n batches in flight, batches complete at intervals of at least
///
///   max(D_max, R / n),   D_max the largest demand of a part, R = Demands::unqueued_ns().
///
/// The second bound is Little's law. Returns the constraints slowest first: the first is the bottleneck, and its
/// inverse bounds the throughput. A run of few batches can beat its second bound while it lasts, because what was in
/// flight completes in bunches. In an all-local pipeline one thread computes, compares and hands over in turn: the only
/// bound is the sum, named after the larger part. Never empty.
std::vector<Constraint> constraints(const Demands& demands);

/// The bound that remains if the first of constraints() is removed, that is, if that part took no time or enough
/// batches were in flight. None if nothing else is known to take time.
std::optional<Constraint> next_constraint(const Demands& demands);

/// The smallest number of batches in flight with which a part, and not the depth, bounds the throughput: R / D_max,
/// rounded up. None if it would be unreasonably large because no part takes time.
std::optional<int> sufficient_depth(const Demands& demands);

/// How long a batch keeps the part busy that a constraint is about; null for the source and the depth.
const Busy* busy_at(const Demands& demands, const Constraint& constraint);

/// Images per second if a batch completes every `period_ns`, which must be positive.
double throughput_at(const Demands& demands, double period_ns);

/// How near the run came to its bottleneck's bound, as a share of the bound; 1 means it was reached.
double reached(const Demands& demands);

}  // namespace paretopipe::diagnosis
