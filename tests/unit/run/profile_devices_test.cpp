#include <paretopipe/host/host_context.hpp>
#include <paretopipe/run/profile_devices.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../predict/profiles.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// A profile that this machine made, and what is asked for when it is to be used again.
struct Kept {
  predict::Profile profile = a_profile({{30, 30, 30}, {10, 10, 10}});
  std::vector<experiment::Trial> plan{1};
  record::Provenance now{};

  Kept() {
    for (auto& device : profile.devices) {
      device.host = host::read_host_context();
      device.cpus = "0-1";
    }
    auto& trial = plan.front();
    trial.model = "m";
    trial.batch = 2;
    trial.block_count = 3;
    trial.split_points = {1};
    trial.cpus = {"0,1", "0-1"};
    now.stage_program_sha256 = profile.stage_program_sha256;
  }

  std::string why_outdated() const { return run::why_outdated(profile, plan, now); }
};

std::string why_outdated_after(const std::function<void(Kept&)>& change) {
  Kept kept;
  change(kept);
  return kept.why_outdated();
}

}  // namespace

TEST_CASE("a kept profile is used again while model, devices, codecs, program and machine are what they were") {
  CHECK(why_outdated_after([](Kept&) {}).empty());
  const auto* other_model = "another model, batch or mode";
  const std::vector<std::pair<std::function<void(Kept&)>, std::string>> changes{
      {[](Kept& kept) { kept.plan.front().model = "n"; }, other_model},
      {[](Kept& kept) { kept.plan.front().batch = 4; }, other_model},
      {[](Kept& kept) { kept.plan.front().weights_sha256 = "ff"; }, other_model},
      {[](Kept& kept) { kept.plan.front().num_classes = 7; }, other_model},
      {[](Kept& kept) {
         kept.plan.front().split_points = {1, 2};
       },
       "it is of 2 devices"},
      {[](Kept& kept) {
         kept.plan.front().cpus = {"0", "1"};
       },
       "its device device 0"},
      {[](Kept& kept) { kept.plan.front().threads_per_stage = 2; }, "its device device 0"},
      {[](Kept& kept) {
         kept.plan.front().compute_devices = {"cpu", "cuda:0"};
       },
       "its device device 1"},
      {[](Kept& kept) { kept.profile.devices[1].cpu_quota = 0.5; }, "its device device 1"},
      {[](Kept& kept) { kept.plan.front().codec = "lz4"; }, "without the codec lz4"},
      {[](Kept& kept) { kept.now.stage_program_sha256 = "cd34"; }, "another stage program"}};
  for (const auto& [change, reason] : changes) {
    const auto said = why_outdated_after(change);
    CAPTURE(said, reason);
    CHECK(contains(said, reason));
  }
}

TEST_CASE("a profile of another machine, processor or kernel is not used again, and says where it was made") {
  const auto of_host = [](auto change) {
    return why_outdated_after([&](Kept& kept) { change(kept.profile.devices.front().host); });
  };
  CHECK(contains(of_host([](auto& host) { host.hostname = "elsewhere"; }), "it was made on elsewhere"));
  CHECK(contains(of_host([](auto& host) { host.cpu_model = "a faster one"; }), "a faster one"));
  CHECK(contains(of_host([](auto& host) { host.kernel = "1.0"; }), "1.0"));
}
