#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/stage/messages.hpp>

#include <vector>

/// What is different about a trial whose batches are dealt out to devices that each hold the whole model.
namespace paretopipe::run {

/// Makes of requests of one whole run those for the source and for the shares of the other devices.
void deal_out(std::vector<stage::Run>& requests);

/// Makes of the timelines of all devices, the source's first, those of `record::PhaseSamples::devices`. Throws
/// Error(internal) where a device did not report its share.
void gather_dealt(record::PhaseSamples& samples, int devices);

/// The links from the source to each device and back; what crosses is said of a batch that does.
std::vector<record::LinkPayload> dealt_payloads(const plan::Trial& trial, const config::ModelDescription& model);

}  // namespace paretopipe::run
