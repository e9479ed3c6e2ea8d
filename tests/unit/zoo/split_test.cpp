// A split must not change a bit, whatever the split point: the backend as two stages would use it.
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>

#include <cmath>
#include <cstring>
#include <map>

#include <support/catch.hpp>
#include <support/crossing.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::zoo {
namespace {

using support::boundary_of;
using support::bytes_of;
using support::logits_of;
using support::send;

stage::ModelRequest split_request_for(const std::string& model, int batch = 1) {
  return {.model = model, .num_classes = 10, .batch = batch, .seed = 1, .data = "random"};
}

bool same_bits(const stage::Activation& a, const stage::Activation& b) {
  return a.spec == b.spec && a.bytes.size() == b.bytes.size() &&
         std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

std::vector<std::vector<std::int64_t>> shapes_of(const stage::Activation& activation) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (auto& spec : boundary_of(activation)) shapes.push_back(std::move(spec.shape));
  return shapes;
}

/// The first stage holds and runs blocks [0, k), the second [k, N), for every k from 0 to N, or for every `step`-th
/// from N downwards, a divisor of N: enough where the blocks are alike or those of another model.
void check_every_split(const stage::ModelRequest& request, int step = 1) {
  auto first = make_model_backend();
  auto second = make_model_backend();
  first->configure({});
  const auto description = first->describe(request);
  const int blocks = description.block_count();
  first->load(request, {0, blocks});
  const auto input = first->make_inputs(request, 1).at(0);
  const auto pixels = send(*first, input);
  const auto whole = first->forward({0, blocks}, input);
  REQUIRE(whole.spec.shape == std::vector<std::int64_t>{request.batch, 10});
  for (const float logit : logits_of(whole)) {
    CHECK(std::isfinite(logit));
    CHECK(std::abs(logit) > 1e-6F);
  }
  for (int k = blocks; k >= 0; k -= step) {  // downwards, so that the second stage builds one block more each time
    INFO("split point " << k);
    second->load(request, {k, blocks});
    const auto sent = first->encode(first->forward({0, k}, input));
    CHECK(shapes_of(sent) == description.shapes_at(k));
    CHECK(bytes_of(sent) == description.bytes_at(k));
    const auto result = second->forward({k, blocks}, second->decode(send(*second, sent)));
    CHECK(same_bits(result, whole));
  }
  CHECK(same_bits(input, pixels));
}

TEST_CASE("every model split at any point computes the same bits as the whole") {
  const std::map<std::string_view, int> steps{
      {"resnet101", 7}, {"densenet121", 9}, {"vit_b_16", 7}, {"roberta_base", 7}};  // whose tokens cross at 0
  for (const auto& model : models()) {
    INFO(model.name);
    check_every_split(split_request_for(std::string(model.name)),
                      steps.contains(model.name) ? steps.at(model.name) : 1);
  }
}

TEST_CASE("RoBERTa split at any point computes the same bits as the whole for sequences that padding fills up") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "tokens.txt";
  support::write_file(file, "0 31414 232 2\n0 7 8 9 10 11 12 13 14 15 16 17 18 19 20 2\n");
  auto request = split_request_for("roberta_base", 2);
  request.data = "tokens:" + file.string();
  check_every_split(request);
}

TEST_CASE("a batch gives each of its images the logits that the image gets alone") {
  const auto model = GENERATE(as<std::string>(), "alexnet", "resnet18", "mobilenet_v2", "densenet_cifar", "vit_b_16");
  auto backend = make_model_backend();
  backend->configure({});
  auto request = split_request_for(model, 2);
  request.data = "fashion-mnist";
  const auto batch = backend->make_inputs(request, 1).at(0);
  request.batch = 1;
  const auto images = backend->make_inputs(request, 2);
  const experiment::BlockRange all{0, backend->describe(request).block_count()};
  backend->load(request, all);
  const auto together = logits_of(backend->forward(all, batch));
  float largest = 0;
  for (const float logit : together) largest = std::max(largest, std::abs(logit));
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto alone = logits_of(backend->forward(all, images[i]));
    // Not bit for bit: a single row is multiplied by other kernels than two.
    for (std::size_t c = 0; c < alone.size(); ++c) {
      CHECK(alone[c] == Approx(together[i * alone.size() + c]).margin(1e-5 * largest).epsilon(0));
    }
  }
}

}  // namespace
}  // namespace paretopipe::zoo
