#include <paretopipe/run/model_query.hpp>
#include <paretopipe/run/stage_client.hpp>

namespace paretopipe::run {
namespace {

constexpr auto kPatience = std::chrono::minutes(10);

template <class Reply, class Request>
Reply ask_once(const std::filesystem::path& stage_program, const Request& request) {
  StageClient stage(0, {stage_program});
  stage.send(stage::Configure{});
  stage.template receive<stage::Configured>();
  stage.send(request);
  Reply reply;
  for_each_reply({&stage}, {Clock::now() + kPatience, -1},
                 [&](StageClient& client) { reply = client.receive<Reply>(); });
  return reply;
}

}  // namespace

std::vector<std::string> list_models(const std::filesystem::path& stage_program) {
  return ask_once<stage::ModelList>(stage_program, stage::ListModels{}).models;
}

config::ModelDescription describe_model(const std::filesystem::path& stage_program,
                                        const stage::ModelRequest& request) {
  return ask_once<stage::Described>(stage_program, stage::Describe{request}).description;
}

}  // namespace paretopipe::run
