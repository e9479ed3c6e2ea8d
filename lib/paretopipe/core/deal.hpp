#pragma once
#include <cstddef>

namespace paretopipe {

/// Deals a phase's batches out to devices that each hold the whole model: in turn, starting with the first device in
/// every phase. Phases follow one another, so batch b belongs to phase b / phase_batches.
struct Deal {
  std::size_t devices = 1;
  std::size_t phase_batches = 1;  ///< at least as many as devices, so that each has a share

  std::size_t device_of(std::size_t batch) const { return batch % phase_batches % devices; }

  /// The number of batches of each phase that a device gets.
  std::size_t share_of(std::size_t device) const { return (phase_batches + devices - 1 - device) / devices; }

  /// The batch that a device gets as its own `own`-th, counted from 0 through all phases.
  std::size_t batch_of(std::size_t device, std::size_t own) const {
    const auto share = share_of(device);
    return own / share * phase_batches + own % share * devices + device;
  }
};

}  // namespace paretopipe
