#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/file_cache.hpp>
#include <paretopipe/stage/front_desk.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/references.hpp>
#include <paretopipe/stage/stage_loops.hpp>
#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <new>
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
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].bytes.empty()) control_.send_tensor(tag, i, tensors[i].spec, tensors[i].bytes);
  }
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

namespace {

std::vector<wire::TensorSpec> announced_by(const nlohmann::json& request) {
  if (const auto message = unwrap<TakeReferences>(request)) return tensors_of(*message);
  if (const auto message = unwrap<TakeChunk>(request)) return {tensor_of(*message)};
  if (const auto message = unwrap<PrepareTraining>(request)) return tensors_of(*message);
  return {};
}

/// Memory for the tensors that follow a request. None follow an invalid one, which its handler reports. Throws
/// std::bad_alloc if there is too little memory: the tensors would come all the same, and nothing could receive them.
std::vector<Activation> room_after(const nlohmann::json& request) {
  std::vector<Activation> room;
  try {
    for (const auto& spec : announced_by(request)) {
      const auto bytes = static_cast<std::size_t>(wire::byte_size(spec));
      std::shared_ptr<std::byte[]> memory(new std::byte[bytes]);
      room.push_back({spec, {memory.get(), bytes}, memory});
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return {};
  }
  return room;
}

std::vector<Activation> receive_tensors_after(const nlohmann::json& request, wire::Link& control) {
  auto tensors = room_after(request);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    control.receive_tensor(0, i, tensors[i].spec, tensors[i].bytes);
  }
  return tensors;
}

}  // namespace

void FrontDesk::take_requests() {
  for (;;) {
    Request request{control_.receive_message(), now_ns()};
    if (holds<WhereAreYou>(request.message)) {
      reply(wrap(progress_.where()), 0, {});
      continue;
    }
    request.tensors = receive_tensors_after(request.message, control_);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
    }
    changed_.notify_one();
  }
}

}  // namespace paretopipe::stage
