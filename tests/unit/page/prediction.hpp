#pragma once
#include <paretopipe/analysis/predict/prediction.hpp>

#include <vector>

namespace paretopipe::testing {

/// Two splits of four blocks in batches of two: all local, and a cut whose parts add up to its latency.
inline predict::Prediction a_prediction() {
  const auto exactly = [](double ns) { return predict::Band{ns, ns, ns}; };
  predict::Prediction prediction;
  prediction.model = "chain";
  prediction.batch = 2;
  prediction.codecs = {"none", "uniform8"};
  prediction.network = "wifi";
  prediction.devices = {"pi", "server"};
  prediction.frontier = {{.stages = {{0, 0, 4}},
                          .stage_ns = {exactly(38e6)},
                          .memory_bytes = {3 << 20},
                          .latency_ns = exactly(38e6),
                          .throughput_image_per_s = exactly(52.6)},
                         {.stages = {{0, 0, 2}, {1, 2, 4}},
                          .codec = "uniform8",
                          .stage_ns = {exactly(18e6), exactly(7e6)},
                          .coding_ns = {exactly(2e6), exactly(1e6)},
                          .memory_bytes = {2 << 20, 1 << 20},
                          .payload_bytes = {1000, 80},
                          .link_ns = {exactly(9e6), exactly(4e6)},
                          .latency_ns = {40e6, 41e6, 44e6},
                          .throughput_image_per_s = {98, 100, 101}}};
  return prediction;
}

inline std::vector<predict::Profile> a_profile() {
  predict::ProfiledDevice pi, server;
  pi.name = "pi";
  pi.cpus = "0";
  pi.host.cpu_model = "Cortex-A76";
  server.name = "server";
  server.cpus = "1";
  server.host.cpu_model = "EPYC";
  predict::Profile profile;
  profile.made_at = "2026-03-01T12:00:00Z";
  profile.release = "1.0";
  profile.devices = {pi, server};
  return {profile};
}

}  // namespace paretopipe::testing
