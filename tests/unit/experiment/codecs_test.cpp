#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

using Texts = std::vector<std::string>;

std::string refusal_of_codecs(const Texts& texts) {
  return message_of<UsageError>([&] { canonical_codecs(texts, "experiment.codec"); });
}

}  // namespace

TEST_CASE("the same codec for every cut is written once, and another one for each cut as it is") {
  CHECK(canonical_codecs({"none", "sort8/sort8", "none/sort8+zstd"}, "codec") ==
        Texts{"none", "sort8", "none/sort8+zstd"});
  CHECK(codec_count("sort8") == 1);
  CHECK(codec_count("none/sort8/lz4") == 3);
  CHECK(to_string(codec_of_cut("none/sort8", 0)) == "none");
  CHECK(to_string(codec_of_cut("none/sort8", 1)) == "sort8");
  CHECK(to_string(codec_of_cut("sort8", 5)) == "sort8");
  CHECK(contains(message_of<UsageError>([] { codec_of_cut("none/sort8", 2); }), "has none for cut 3"));
}

TEST_CASE("a list of codecs that is empty, holds one twice, or what is none, is refused") {
  CHECK(contains(refusal_of_codecs({}), "experiment.codec is empty"));
  CHECK(contains(refusal_of_codecs({"sort8", "sort8/sort8"}), "experiment.codec holds sort8 twice"));
  CHECK(contains(refusal_of_codecs({"none/"}), "experiment.codec: \"\" is no codec"));
  CHECK(contains(refusal_of_codecs({"/"}), "\"\" is no codec"));
  CHECK(contains(refusal_of_codecs({"a/b"}), "\"a\" is no codec"));
}

TEST_CASE("a model's input has codecs of its own, where it crosses a cut and nowhere else") {
  CHECK(canonical_input_codecs({"none", "uint8+zstd"}, "codec_input") == Texts{"none", "uint8+zstd"});
  CHECK(canonical_input_codecs({"jpeg:90", "jpeg:75"}, "codec_input") == Texts{"jpeg", "jpeg:75"});
  CHECK(contains(message_of<UsageError>([] {
                   canonical_input_codecs({"jpeg", "jpeg:90"}, "codec_input");
                 }),
                 "holds jpeg twice"));
  CHECK(
      contains(message_of<UsageError>([] { canonical_input_codecs({"uint8/sort8"}, "codec_input"); }), "is no codec"));
  CHECK(contains(refusal_of_codecs({"none/uint8"}), "uint8 is for a model's input; name it in --codec-input"));
  CHECK(with_input_codec("sort8", "uint8", {0}) == "uint8");
  CHECK(with_input_codec("sort8", "uint8", {0, 4}) == "uint8/sort8");
  CHECK(with_input_codec("none/sort8", "uint8", {0, 0}) == "uint8");
  CHECK(with_input_codec("none/sort8/lz4", "none", {0, 0, 3}) == "none/none/lz4");
}

TEST_CASE("an experiment with a codec of images names images as its data") {
  const auto refusal = [](const char* data) {
    Experiment experiment;
    experiment.codec_inputs = {"none", "uint8"};
    experiment.data = data;
    return message_of<UsageError>([&] { validate(experiment); });
  };
  CHECK(contains(refusal("random"), "experiment.codec_input is uint8, which encodes images, and the data are random"));
  CHECK(contains(refusal("tokens:t.txt"), "the data are tokens"));
  Experiment experiment;
  experiment.codec_inputs = {"float16"};
  experiment.data = "random";
  CHECK_NOTHROW(validate(experiment));
  experiment.codec_inputs = {"uint8"};
  experiment.data = "images:photos";
  CHECK_NOTHROW(validate(experiment));
}
