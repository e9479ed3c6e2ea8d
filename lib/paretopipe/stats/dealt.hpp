#pragma once
#include <paretopipe/record/record.hpp>

namespace paretopipe::stats {

/// Of a phase whose batches were dealt out to several devices, the batches of one of them, in order, with its share of
/// the warm-up: a pipeline of two stages, the source and the device. The source itself, device 0, is one of them. Of
/// samples that breakdown() accepts.
record::PhaseSamples of_device(const record::PhaseSamples& samples, int device);

}  // namespace paretopipe::stats
