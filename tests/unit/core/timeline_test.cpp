#include <paretopipe/core/timeline.hpp>

#include <vector>

#include <support/catch.hpp>

using paretopipe::Deal;

TEST_CASE("every batch of every phase is dealt to one device, in turn, and found again by its number there") {
  for (const std::size_t devices : {1U, 2U, 3U, 5U}) {
    for (const std::size_t phase_batches : {5U, 6U, 7U}) {
      CAPTURE(devices, phase_batches);
      const Deal deal{devices, phase_batches};
      std::vector<std::size_t> dealt(devices);
      for (std::size_t batch = 0; batch < 2 * phase_batches; ++batch) {
        const auto device = deal.device_of(batch);
        REQUIRE(device == batch % phase_batches % devices);
        REQUIRE(deal.batch_of(device, dealt[device]++) == batch);
      }
      for (std::size_t device = 0; device < devices; ++device) CHECK(dealt[device] == 2 * deal.share_of(device));
    }
  }
}
