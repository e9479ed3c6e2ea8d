#pragma once
#include <cstddef>

namespace paretopipe {

/// How a phase's batches are dealt out to devices that each hold the whole model: in turn, beginning with the first
/// device anew in every phase. Phases follow one another, so that batch b is of phase b / phase_batches.
struct Deal {
  std::size_t devices = 1;
  std::size_t phase_batches = 1;  ///< at least as many as there are devices, so that each has a share

  std::size_t device_of(std::size_t batch) const { return batch % phase_batches % devices; }

  /// Batches of each phase that a device gets.
  std::size_t share_of(std::size_t device) const { return (phase_batches + devices - 1 - device) / devices; }

  /// Which batch it is that a device gets as its own `own`-th, from 0 and through all phases.
  std::size_t batch_of(std::size_t device, std::size_t own) const {
    const auto share = share_of(device);
    return own / share * phase_batches + own % share * devices + device;
  }
};

}  // namespace paretopipe
