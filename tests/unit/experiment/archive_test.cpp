#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/model_description.hpp>

#include <fstream>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using support::contains;
using support::message_of;

namespace {

/// Why an experiment with these models and settings is refused; "(nothing was thrown)" if it is valid.
std::string refusal(const std::vector<std::string>& models, const std::string& input, const std::string& cuts = "unit",
                    int num_classes = 10) {
  Experiment experiment;
  experiment.models = models;
  experiment.input = input;
  experiment.cuts = cuts;
  experiment.num_classes = num_classes;
  return message_of<UsageError>([&] { validate(experiment); });
}

}  // namespace

TEST_CASE("a slash or an ending makes an archive, and forms with parameters are none", "[archive]") {
  for (const auto* model : {"./net", "net.pt", "net.pth", "net.torchscript", "/a/b.c", "a/b", "alexnet.pt"})
    CHECK(names_archive(model));
  for (const auto* model : {"alexnet", "synthetic:5ms/2MB,3ms", "net.pt.txt", "pt", ""})
    CHECK_FALSE(names_archive(model));
}

TEST_CASE("a shape is sizes with an x between them", "[archive]") {
  using Shape = std::vector<std::int64_t>;
  CHECK(parse_shape("3x224x224") == Shape{3, 224, 224});
  CHECK(parse_shape("128") == Shape{128});
  CHECK(parse_shape("1x1x1x1x1x1x1000000") == Shape{1, 1, 1, 1, 1, 1, 1000000});
  for (const auto* text : {"", "x", "3x", "x3", "3xx4", "3x0", "-3", "+3", "3x224,224", "3 x 4", "3X4", "1.5",
                           "1000001", "99999999999999999999", "1x1x1x1x1x1x1x1", "3x224x224\n"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_shape(text), UsageError);
  }
}

TEST_CASE("an archive needs an input, and models that are none refuse one", "[archive]") {
  CHECK(refusal({"net.pt"}, "3x4x4") == "(nothing was thrown)");
  CHECK(refusal({"alexnet", "net.pt"}, "3x4x4", "all", 1000) == "(nothing was thrown)");
  CHECK(contains(refusal({"alexnet", "net.pt"}, ""), "net.pt is a TorchScript archive"));
  CHECK(contains(refusal({"net.pt"}, "3x"), "\"3x\" is not the shape"));
  CHECK(contains(refusal({"alexnet"}, "3x224x224"), "alexnet has its own input and blocks"));
  CHECK(contains(refusal({"alexnet"}, "", "all"), "alexnet has its own input and blocks"));
  CHECK(contains(refusal({"net.pt"}, "3x4x4", ""), "cuts is empty"));
  CHECK(contains(refusal({"net.pt"}, "3x4x4", "\xff"), "not valid UTF-8"));
  CHECK(contains(refusal({"net.pt"}, "3x4x4", "unit", 100), "num_classes is 100"));
}

TEST_CASE("one or two tensors may cross a cut, of an archive only", "[archive]") {
  const auto refusal_of = [](const std::string& model, int max_crossing) {
    Experiment experiment;
    experiment.models = {model};
    if (names_archive(model)) experiment.input = "3x4x4";
    experiment.max_crossing = max_crossing;
    return message_of<UsageError>([&] { validate(experiment); });
  };
  CHECK(refusal_of("net.pt", 2) == "(nothing was thrown)");
  CHECK(refusal_of("alexnet", 1) == "(nothing was thrown)");
  CHECK(contains(refusal_of("alexnet", 2), "alexnet has its own input and blocks"));
  for (const int number : {0, 3, -1}) CHECK(contains(refusal_of("net.pt", number), "experiment.max_crossing is "));
}

TEST_CASE("an archive's JSON names the tensors that may cross where these are two", "[archive]") {
  Archive archive{.sha256 = "ab12", .input_shape = {3}, .cuts = "all"};
  const nlohmann::json one = archive;
  CHECK_FALSE(one.contains("max_crossing"));
  CHECK(one.get<Archive>() == archive);
  archive.max_crossing = 2;
  const nlohmann::json two = archive;
  CHECK(two.at("max_crossing") == 2);
  CHECK(two.get<Archive>() == archive);
}

TEST_CASE("an archive is known by its file's name and SHA-256, wherever it lies", "[archive]") {
  const support::TemporaryFolder folder;
  std::ofstream(folder.path() / "net.pt") << "abc";
  const auto source = find_source((folder.path() / "x" / ".." / "net.pt").string(), "3x4x5", "all");
  CHECK(source.name == "net.pt");
  CHECK(source.file == folder.path() / "net.pt");
  CHECK(source.archive == Archive{.sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                                  .input_shape = {3, 4, 5},
                                  .cuts = "all"});
  const auto known = find_source("alexnet", "", "unit");
  CHECK(known.name == "alexnet");
  CHECK_FALSE(known.archive);
}

TEST_CASE("a file that is missing, or no file, is a usage error that names it", "[archive]") {
  const auto message = [](const char* model) {
    return message_of<UsageError>([&] { find_source(model, "3", "unit"); });
  };
  CHECK(contains(message("/nonexistent/net.pt"), "read /nonexistent/net.pt: No such file"));
  CHECK(contains(message("/dev/zero"), "not a regular file"));
  CHECK(contains(message("/tmp/"), "Is a directory"));
}

TEST_CASE("a path that no message to a stage can hold is a usage error", "[archive]") {
  const auto message = message_of<UsageError>([] { find_source("./n\xff.pt", "3", "unit"); });
  INFO(message);
  CHECK(contains(message, "n\xEF\xBF\xBD.pt"));
  CHECK(contains(message, "not valid UTF-8"));
}
