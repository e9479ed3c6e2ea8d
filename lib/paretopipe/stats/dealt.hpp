#pragma once
#include <paretopipe/record/record.hpp>

namespace paretopipe::stats {

/// The batches of one device, in order and with its share of the warm-up, from a phase whose batches were dealt out to
/// several devices. The result is a pipeline of two stages, the source and the device. The source itself, device 0, is
/// one of the devices. `samples` must be accepted by breakdown().
record::PhaseSamples of_device(const record::PhaseSamples& samples, int device);

}  // namespace paretopipe::stats
