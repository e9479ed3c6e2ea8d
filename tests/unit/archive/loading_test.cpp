// What a stage takes of an archive: the file's own pages while it looks for its blocks, and then these alone.
#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/files/zip_archive.hpp>
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/host/process_usage.hpp>

#include <functional>

#include <malloc.h>

#include <ATen/ops/equal.h>
#include <c10/core/InferenceMode.h>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "archives.hpp"

namespace paretopipe::archive {
namespace {

constexpr int kLayers = 6;
constexpr std::int64_t kFeatures = 2048;
constexpr std::int64_t kLayerBytes = kFeatures * kFeatures * 4;

stage::ModelRequest deep_request(const std::filesystem::path& folder) {
  auto request = request_for(write_deep_archive(folder, kLayers, kFeatures), "all", 1);
  request.archive->input_shape = {kFeatures};
  return request;
}

/// By how much the process grows at most meanwhile.
template <class Action>
std::int64_t growth_of(Action action) {
  ::malloc_trim(0);  // or what other tests have freed would be used again, and nothing grow
  REQUIRE(host::reset_peak_rss());
  const auto before = host::read_peak_rss_bytes().value();
  action();
  return host::read_peak_rss_bytes().value() - before;
}

TEST_CASE("a stage that loads its blocks of an archive never takes the memory of the others") {
  constexpr std::int64_t kOther = kLayerBytes * 3 / 2;
  const support::TemporaryFolder folder;
  auto request = deep_request(folder.path());
  auto source = make_script_backend();
  source->configure({});
  experiment::ModelDescription description;
  // Described, the model is computed, a layer at a time.
  CHECK(growth_of([&] { description = source->describe(request); }) < 2 * kLayerBytes + kOther);
  const int blocks = description.block_count();
  REQUIRE(blocks >= kLayers);
  request.cut_positions = description.cut_positions;

  auto stage = make_script_backend();
  stage->configure({});
  const auto last = growth_of([&] { stage->load(request, {blocks - 2, blocks}); });  // a layer and its ReLU
  CHECK(stage->held_parameter_bytes() == kLayerBytes);
  CHECK(last < 2 * kLayerBytes + kOther);  // seen twice: mapped, and copied
  const auto all = growth_of([&] { source->load(request, {0, blocks}); });
  CHECK(source->held_parameter_bytes() == kLayers * kLayerBytes);
  CHECK(all > (kLayers - 1) * kLayerBytes);  // or the measurements above would prove nothing
  CHECK(all < kLayers * kLayerBytes + 2 * kOther);
}

const char* const kLoadedNet =
    "def forward(self, x):\n"
    "  x = self.block.forward(self.act.forward(self.conv1.forward(x)))\n"
    "  return self.fc.forward(torch.flatten(torch.mul(x, self.scale), 1))\n";

/// What a backend computes of an archive that takes 4x4 images of 4 channels, and what LibTorch does; `before` is
/// called between loading and computing.
template <class Action>
void check_whole(const std::filesystem::path& archive, Action before) {
  const c10::InferenceMode inference;
  const auto request = request_for(archive);
  auto backend = make_script_backend();
  backend->configure({});
  const experiment::BlockRange all{0, backend->describe(request).block_count()};
  backend->load(request, all);
  const auto input = backend->make_inputs(request, 1).at(0);
  const auto expected = compute_whole(archive, compute::to_tensor(input));
  before(*backend);
  CHECK(at::equal(compute::to_tensor(backend->forward(all, input)), expected));
}

void check_whole(const std::filesystem::path& archive) {
  check_whole(archive, [](const stage::Backend&) {});
}

TEST_CASE("blocks stay what they are when the archive is gone, and hold their indices, too") {
  const auto where = GENERATE(Numbers::attributes, Numbers::constants);
  const WrittenArchive archive(
      "def forward(self, x):\n  return torch.flatten(torch.mul(x, self.scale)[:, self.order], 1)\n", where);
  check_whole(archive.path, [&](const stage::Backend& backend) {
    CHECK(backend.held_parameter_bytes() == 4 * (sizeof(float) + sizeof(std::int64_t)));
    std::filesystem::resize_file(archive.path, 0);  // a page of it that anything still refers to ends the process
  });
}

TEST_CASE("loaded at the positions of its description, a block is the one that was described") {
  const c10::InferenceMode inference;
  const WrittenArchive archive(kLoadedNet);
  auto request = request_for(archive.path, "unit");
  auto found = make_script_backend();
  auto told = make_script_backend();
  found->configure({});
  const auto description = found->describe(request);
  const int blocks = description.block_count();
  REQUIRE(description.cut_positions.size() == static_cast<std::size_t>(blocks));
  found->load(request, {0, blocks});
  request.cut_positions = description.cut_positions;
  told->load(request, {0, blocks});
  auto left = found->make_inputs(request, 1).at(0);
  auto right = left;
  for (int i = 0; i < blocks; ++i) {
    left = found->forward({i, i + 1}, left);
    right = told->forward({i, i + 1}, right);
    CHECK(is_described(right, description, i + 1));
    CHECK(at::equal(compute::to_tensor(left), compute::to_tensor(right)));
  }
}

TEST_CASE("an archive is not cut where it cannot be") {
  const WrittenArchive archive(kLoadedNet);
  auto request = request_for(archive.path);
  const auto positions = make_script_backend()->describe(request).cut_positions;
  const int last = positions.back();
  for (const std::vector<int>& wrong : {std::vector{last + 1}, {0}, {-1, last}, {1, 1, last}, {2, 1, last}}) {
    request.cut_positions = wrong;
    CHECK(support::message_of<UsageError>([&] {
            make_script_backend()->load(request, {0, 1});
          }) == "the archive is to be cut where it cannot be");
  }
}

/// The same archive with its numbers wherever the zip has room for them.
void misalign(const std::filesystem::path& archive) {
  const auto file = files::zip_file(members_of(archive), {.alignment = 1});
  bool odd = false;
  for (const auto& [name, entry] : files::read_entries(files::bytes_of(file))) {
    const auto offset = reinterpret_cast<const char*>(entry.bytes.data()) - file.data();
    odd = odd || (name.find("/data/") != name.npos && offset % 4 != 0);
    odd = odd || (name.find("/constants/") != name.npos && offset % 4 != 0);
  }
  REQUIRE(odd);
  support::write_file(archive, file);
}

TEST_CASE("numbers among an archive's constants, its attributes, or both, are those that were saved") {
  const auto where = GENERATE(Numbers::attributes, Numbers::constants, Numbers::both);
  const bool misaligned = GENERATE(false, true);
  const WrittenArchive archive(kLoadedNet, where);
  if (misaligned) misalign(archive.path);
  check_whole(archive.path);
}

TEST_CASE("operators mean what they meant in the archive's version, wherever that stands in it") {
  // Because of the second, LibTorch writes the version elsewhere; the first has rounded down before version 4.
  const WrittenArchive archive(
      "def forward(self, x):\n"
      "  n = torch.argsort(torch.flatten(x, 1))\n"
      "  return torch.gelu(torch.div(n, torch.add(n, 1)))\n");
  bool elsewhere = false;
  for (const auto& member : members_of(archive.path)) elsewhere = elsewhere || member.name.ends_with("/.data/version");
  REQUIRE(elsewhere);
  check_whole(archive.path);
}

/// What is said of an archive after a change of its parts.
std::string refusal_after(const std::function<void(files::ZipMember&)>& change) {
  const WrittenArchive archive(kLoadedNet);
  auto members = members_of(archive.path);
  for (auto& member : members) change(member);
  support::write_file(archive.path, files::zip_file(members));
  return refusal_of(request_for(archive.path));
}

TEST_CASE("an archive of a version that LibTorch does not know is refused, wherever that stands in it") {
  const auto* place = GENERATE("/version", "/.data/version");
  const auto message = refusal_after([&](files::ZipMember& member) {
    if (!member.name.ends_with("/version")) return;
    member.name.replace(member.name.find('/'), member.name.npos, place);
    member.bytes = "999\n";
  });
  CHECK(support::contains(message, "version 999"));
}

TEST_CASE("storages that are not numbered, as no archive has them, are refused") {
  const std::string name = GENERATE("", "a", "ts_code/0/data.pkl");
  const auto message = refusal_after([&](files::ZipMember& member) {
    if (member.name.ends_with("/data/0")) member.name.replace(member.name.size() - 1, 1, name);
    if (!member.name.ends_with("/data.pkl")) return;
    const auto key = files::pickle::text("0");
    const auto changed = files::pickle::text(name);
    for (auto at = member.bytes.find(key); at != std::string::npos; at = member.bytes.find(key, at + 1)) {
      member.bytes.replace(at, key.size(), changed);
    }
  });
  CHECK(support::contains(message,
                          "its \"data.pkl\": a storage is called \"" + name + "\", and an archive numbers them"));
}

TEST_CASE("the storages of an archive for phones have an ending, and are numbered") {
  const WrittenArchive archive(kLoadedNet, Numbers::both);
  auto members = members_of(archive.path);
  for (auto& member : members) {
    const bool constants = member.name.find("/constants/") != std::string::npos;
    if (constants) member.name += ".storage";
    if (!member.name.ends_with("/constants.pkl")) continue;
    for (int number = 0; number < 100; ++number) {
      const auto key = files::pickle::text(std::to_string(number));
      const auto at = member.bytes.find(key);
      if (at == std::string::npos) continue;
      member.bytes.replace(at, key.size(), files::pickle::text(std::to_string(number) + ".storage"));
    }
  }
  support::write_file(archive.path, files::zip_file(members));
  check_whole(archive.path);
}

TEST_CASE("more code than any model has is refused before it is in memory") {
  const auto message = refusal_after([](files::ZipMember& member) {
    if (member.name.ends_with("code/__torch__/tests.py")) member.bytes.append(std::size_t{129} << 20, '\n');
  });
  CHECK(support::contains(message, "its code and pickles have more than 134217728 bytes"));
}

}  // namespace
}  // namespace paretopipe::archive
