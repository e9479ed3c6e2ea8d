#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/front_desk.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/references.hpp>
#include <paretopipe/stage/stage_loops.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <utility>

namespace paretopipe::stage {

FrontDesk::FrontDesk(wire::Link& control, const Progress& progress)
    : control_(control), progress_(progress), thread_([this] { listen(); }) {}

FrontDesk::~FrontDesk() {
  control_.shutdown();
  thread_.join();
}

std::optional<FrontDesk::Request> FrontDesk::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !requests_.empty(); });
  if (requests_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return std::nullopt;
  }
  auto request = std::move(requests_.front());
  requests_.pop_front();
  return request;
}

void FrontDesk::reply(const nlohmann::json& message, std::uint32_t tag, std::span<const Activation> tensors) {
  const std::lock_guard lock(sending_);
  control_.send_message(message);
  for (std::size_t i = 0; i < tensors.size(); ++i) control_.send_tensor(tag, i, tensors[i].spec, tensors[i].bytes);
}

void FrontDesk::listen() {
  let_compute_go_first();
  std::exception_ptr error;
  try {
    take_requests();
  } catch (const wire::Closed&) {  // the driver has gone; the stage may go too
  } catch (...) {                  // the stage rethrows it
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    error_ = error;
  }
  changed_.notify_one();
}

void FrontDesk::take_requests() {
  for (;;) {
    Request request{control_.receive_message(), now_ns()};
    if (holds<WhereAreYou>(request.message)) {
      reply(wrap(progress_.where()), 0, {});
      continue;
    }
    request.tensors = receive_tensors_of(request.message, control_);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
    }
    changed_.notify_one();
  }
}

}  // namespace paretopipe::stage
