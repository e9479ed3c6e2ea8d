#include <paretopipe/run/max_rate_search.hpp>

#include <cmath>

namespace paretopipe::run {

void MaxRateSearch::tried(bool kept) {
  const double rate = next_.value();
  (kept ? kept_ : missed_) = rate;
  next_.reset();
  if (++tried_ == kMostRates) return;
  if (!missed_) {
    next_ = 2 * rate;
  } else if (!kept_) {
    if (rate > lowest_) next_ = rate / 2;
  } else if (*missed_ > (1 + kResolution) * *kept_) {
    next_ = std::sqrt(*kept_ * *missed_);
  }
}

}  // namespace paretopipe::run
