#pragma once
#include <paretopipe/diagnosis/demands.hpp>

#include <vector>

namespace paretopipe::diagnosis {

/// What can bound a pipeline's throughput.
enum class Kind {
  compute,   ///< of a stage
  link,      ///< from a stage to the next
  way_back,  ///< of the results to stage 0
  source,    ///< stage 0 between a result and the batch that takes its place
  depth,     ///< too little in flight for any part to be always busy
};

/// Results cannot follow each other faster than one every `period_ns`.
struct Constraint {
  Kind kind = Kind::compute;
  int stage = 0;  ///< whose compute; the sender of a link and of the way back; 0 otherwise
  double period_ns = 0;
};

/// "compute", "link", "way_back", "source", "depth", as JSON has it.
std::string_view to_string(Kind kind);

/// The asymptotic bounds of a closed network (Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System
/// Performance", 1984, chapter 5): with n batches in flight, one completes at most every
///
///   max(D_max, R / n),   D_max the largest demand of a part, R = Demands::unqueued_ns()
///
/// the second by Little's law. Slowest first: the first is the bottleneck, and its inverse bounds the throughput. (A
/// run of few batches can be faster than its second bound for as long as it lasts: what was in flight comes in
/// bunches.) Where all is local, one thread computes, compares and hands over in turn: the only bound is their sum,
/// called after the larger of them. Never empty.
std::vector<Constraint> constraints(const Demands& demands);

/// What would bound the throughput if the first of constraints() did not: a part that took no time, or enough batches
/// in flight. None where nothing else is known to take time.
std::optional<Constraint> next_constraint(const Demands& demands);

/// The smallest number of batches in flight with which a part, and not the depth, bounds the throughput: R / D_max,
/// rounded up. None where that is beyond any depth, because no part takes time.
std::optional<int> sufficient_depth(const Demands& demands);

/// Images per second where a batch completes every `period_ns`, which is positive.
double throughput_at(const Demands& demands, double period_ns);

/// How near the run came to its bottleneck's bound, as a share of it; 1 is all there is.
double reached(const Demands& demands);

}  // namespace paretopipe::diagnosis
