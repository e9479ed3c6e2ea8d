#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/stage/messages.hpp>

#include <vector>

/// The specifics of a trial whose batches are dealt out to devices that each hold the whole model.
namespace paretopipe::run {

/// Turns the requests of one whole run into those for the source and for the shares of the other devices.
void deal_out(std::vector<stage::Run>& requests);

/// Turns the timelines of all devices, the source's first, into those of `record::PhaseSamples::devices`. Throws
/// Error(internal) if a device did not report its share.
void gather_dealt(record::PhaseSamples& samples, int devices);

/// The links from the source to each device and back. Payloads are those of a batch that crosses the link.
std::vector<record::LinkPayload> dealt_payloads(const plan::Trial& trial, const config::ModelDescription& model);

}  // namespace paretopipe::run
