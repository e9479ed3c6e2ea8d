// A model that is trained over a pipeline, by `paretopipe train`, and what becomes of its weights.
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>

#include <algorithm>
#include <csignal>

#include <sys/resource.h>

#include <integration/driver_fixture.hpp>
#include <support/file_size_limit.hpp>

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

constexpr int kSamples = 24;

/// With images of two kinds, bright above and bright below, and their classes.
struct School : Shell {
  School() : Shell(Stages::real) {
    std::vector<float> pixels;
    std::string classes;
    for (int sample = 0; sample < kSamples; ++sample) {
      const bool below = sample % 3 == 0;
      for (int i = 0; i < 3 * 32 * 32; ++i) {
        const bool lower_half = i / 32 % 32 >= 16;
        pixels.push_back((lower_half == below ? 1.0F : -1.0F) + 0.01F * static_cast<float>((i + sample) % 17));
      }
      classes += below ? "1\n" : "0\n";
    }
    const files::DenseTensor images{files::DType::float32, {kSamples, 3, 32, 32}, std::as_bytes(std::span(pixels))};
    write("images.safetensors", files::tensor_file_of(images, "images.safetensors"));
    write("classes.txt", classes);
  }
};

const Words kData = "--data tensor:images.safetensors --labels classes.txt";
const Words kModel = Words("--model densenet_cifar --classes 2") + kData;
const Words kOptimizer = "--lr 0.02 --momentum 0.9";
const Words kTrain = Words("train") + kModel + kOptimizer + "--batch 8 --micro-batch 4";

std::string weights_after(const School& school, const Words& how) {
  school.run(0, kTrain + "--epochs 3 --save weights.safetensors" + how);
  return school.text("weights.safetensors");
}

}  // namespace

TEST_CASE(
    "weights that a pipeline trains are those of one device, to the last bit of the file, for any cut and schedule") {
  const School school;
  const auto alone = weights_after(school, "--split 63");
  CHECK(alone.size() > 500'000);
  CHECK(weights_after(school, "--split 31") == alone);
  CHECK(weights_after(school, "--split 5 --schedule 1f1b") == alone);
  CHECK(weights_after(school, "--stages 3 --partitions 10,40 --schedule 1f1b --recompute") == alone);
  CHECK(weights_after(school, "--split 31 --seed 2") != alone);
}

TEST_CASE("a training ends after the first epoch with the accuracy that was asked for, or says that none has it") {
  const School school;
  const auto reached =
      school.run(0, kTrain + "--split 31 --epochs 30 --target-accuracy 0.99 --save weights.safetensors");
  CHECK(contains(reached.output, "an accuracy of 99.00 % was reached after "));
  CHECK_FALSE(contains(reached.output, "epoch 30/30"));
  CHECK(school.has("weights.safetensors"));
  const auto not_reached = school.run(1, kTrain + "--split 31 --epochs 1 --target-accuracy 1");
  CHECK(contains(not_reached.output, "an accuracy of 100.00 % was not reached in "));
  check_refused(school, kTrain + "--split 31", {{"--target-accuracy 80", "--target-accuracy"}});
}

TEST_CASE("stages on two machines train the same weights, and the other one keeps a copy of the data and labels") {
  const School school;
  const auto here = weights_after(school, "--split 31");
  const auto cut = Words("--split 31") + on_pi_too(school);
  const auto first = school.run(0, kTrain + "--epochs 3 --save weights.safetensors" + cut);
  CHECK(school.text("weights.safetensors") == here);
  check_contains(first.errors, {"copies 1 file of ", "to the device of stage 1 on pi", "classes.txt"});
  const auto again = school.run(0, kTrain + "--epochs 1" + cut);
  CHECK_FALSE(contains(again.errors, "copies"));
}

TEST_CASE(
    "a codec without loss changes no bit of the weights, and one with loss is shown beside the training without") {
  const School school;
  const auto plain = weights_after(school, "--split 31");
  CHECK(weights_after(school, "--split 31 --codec zstd") == plain);
  const auto said = school.run(0, kTrain + "--epochs 2 --split 31 --codec sort4 --save lossy.pth").output;
  check_contains(said, {"epoch 2/2: loss ", "; without the codec: loss ", "sort4 costs ", "weights: lossy.pth"});
  CHECK_NOTHROW(files::WeightsFile(school.folder() / "lossy.pth"));
  const auto alone = school.run(0, kTrain + "--epochs 1 --split 31 --codec sort4 --codec-only").output;
  CHECK_FALSE(contains(alone, "without the codec"));
}

TEST_CASE("rates follow their schedule over all epochs, wherever the model is cut, and losses can be summed") {
  const School school;
  const Words rates = "--lr-schedule cosine --lr-warmup 20%";
  const auto alone = weights_after(school, Words("--split 63") + rates);
  CHECK(weights_after(school, Words("--split 31 --schedule 1f1b") + rates) == alone);
  CHECK(weights_after(school, "--split 63") != alone);
  CHECK(weights_after(school, Words("--split 63 --loss-sum") + rates) != alone);
}

TEST_CASE("a model learns, its weights have PyTorch's names, and are read again to infer and to train on") {
  const School school;
  const auto said = school.run(0, kTrain + "--split 31 --epochs 35 --save weights.safetensors").output;
  check_contains(said,
                 {"epoch 1/35: loss ", "epoch 35/35: loss ", "accuracy 100.00 %", "weights: weights.safetensors"});
  const files::WeightsFile weights(school.folder() / "weights.safetensors");
  for (const auto* name :
       {"conv1.weight", "dense2.0.bn1.running_mean", "dense2.0.bn1.num_batches_tracked", "linear.bias"}) {
    CHECK(weights.tensors().contains(name));
  }
  const auto sweep = Words(
                         "sweep --weights weights.safetensors --split 31 --batch 8 --batches 3 --warmup 0 --repeat 1 "
                         "--repeat-slow 0 --compute eager --out out") +
                     kModel;
  school.run(0, sweep);
  CHECK(school.records().front().fidelity->accuracy->top1 == 1);
  const auto on = school.run(0, kTrain + "--split 31 --init weights.safetensors --epochs 1").output;
  CHECK(contains(on, "accuracy 100.00 %"));
}

namespace {

/// The stage's entry among what `models` predicts.
const nlohmann::json& predicted(const nlohmann::json& said, const experiment::Trial& trial, std::size_t stage) {
  const auto& all = said.at("training");
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) {
    return entry.at("split_points") == trial.split_points && entry.at("training") == trial.way_of_training() &&
           entry.at("stage") == stage;
  });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("what models predicts of each stage's memory is what a trial then counts, to 5 % and what waits for a link") {
  const School school;
  const Words ways =
      "--task train --batch 16 --micro-batch 4 --split 31,63 --schedule gpipe,1f1b,pipedream --momentum 0.9";
  const auto said =
      nlohmann::json::parse(school.run(0, Words("models densenet_cifar --classes 2 --format json") + ways).output);
  school.run(0, Words("sweep --steps 2 --warmup 1 --repeat 1 --repeat-slow 0 --out out") + kModel + ways);
  const auto crossing =
      said.at("blocks").at(30).at("activation_bytes").get<double>() * 4 / said.at("batch").get<double>();
  for (const auto& record : school.records()) {
    for (std::size_t stage = 0; stage < record.stages.size(); ++stage) {
      const auto& prediction = predicted(said, record.trial, stage);
      const auto peak = prediction.at("peak").get<double>();
      const auto counted = static_cast<double>(record.stages[stage].memory->total());
      const auto waiting = record.stages.size() == 1 ? 0.0 : 4 * 4 * crossing;  // four queues of four micro-batches
      INFO(record.trial.way_of_training() << " stage " << stage << ": predicted " << peak << ", counted " << counted);
      CHECK(counted >= 0.95 * peak);
      CHECK(counted <= 1.05 * peak + waiting);
      CHECK(prediction.at("in_flight") >= 1);
    }
  }
}

TEST_CASE("four stages train to the bit what one process trains") {
  const School school;
  school.run(0, Words("sweep --task train --stages 4 --partitions 10,31,50 --schedule gpipe,1f1b --batch 8 "
                      "--micro-batch 2 --steps 2 --warmup 1 --repeat 1 --repeat-slow 0 --out out") +
                    kModel + kOptimizer);
  const auto records = school.records();
  CHECK(records.size() == 2);
  for (const auto& record : records) {
    INFO(record.trial.label());
    REQUIRE(record.status == record::Status::ok);
    CHECK(record.stages.size() == 4);
    CHECK(record.links.size() == 6);
    CHECK(record.training->verified_steps == 2);
  }
}

TEST_CASE(
    "recomputing takes the memory of one micro-batch's activations in place of all, and is a row of the frontier") {
  const School school;
  const Words sweep =
      Words(
          "sweep --task train --split 31 --schedule gpipe --batch 24 --micro-batch 4 --steps 2 --warmup 1 "
          "--repeat 1 --repeat-slow 0 --resume --out out") +
      kModel;
  school.run(0, sweep);
  school.run(0, sweep + "--recompute");
  const auto records = school.records();
  REQUIRE(records.size() == 2);
  for (const auto& record : records) CHECK(record.training->verified_steps == 2);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const auto without = records[0].stages[stage].memory->total(), with = records[1].stages[stage].memory->total();
    CAPTURE(stage, without, with);
    CHECK(with < without / 2);
  }
  check_contains(school.run(0, "frontier out").output, {"31 gpipe/4 ", "31 gpipe/4+recompute "});
}

TEST_CASE("a training that is stopped or loses a stage keeps the weights of its last whole epoch") {
  const auto signal = GENERATE(SIGINT, SIGKILL);  // of the driver, or of a stage
  const School school;
  auto training = school.start(kTrain + "--split 31 --epochs 100000 --save weights.safetensors");
  REQUIRE(support::wait_until_written(school.folder() / "weights.safetensors"));
  const auto stages = support::watch(support::children_of(training.pid()));
  ::kill(signal == SIGINT ? training.pid() : support::children_of(training.pid()).back(), signal);
  const auto outcome = training.wait();
  INFO(outcome.errors);
  CHECK(outcome.exit_code == (signal == SIGINT ? 130 : 1));
  CHECK(contains(outcome.errors, "weights.safetensors has the weights after epoch"));
  CHECK(support::all_ended(stages));
  CHECK_NOTHROW(files::WeightsFile(school.folder() / "weights.safetensors"));
}

TEST_CASE("a disk that is full when weights are saved ends the training in a sentence and leaves the file as it was") {
  const bool has_older = GENERATE(false, true);
  const School school;
  const auto save = kTrain + "--split 31 --epochs 1 --save weights.safetensors";
  if (has_older) school.run(0, save);
  const auto before = school.files();
  const auto older = has_older ? school.text("weights.safetensors") : "";
  const support::FileSizeLimit limit(200'000);
  const auto outcome = school.run(3, save + "--seed 2");
  CHECK(contains(outcome.errors, "write weights.safetensors: "));
  CHECK(school.files() == before);
  if (has_older) CHECK(school.text("weights.safetensors") == older);
}

TEST_CASE("a disk that fills up during a training leaves the weights of the last epoch that was saved") {
  const School school;
  const support::FileSizeLimit none_yet(RLIM_INFINITY);  // whose signal the driver ignores as well
  auto training = school.start(kTrain + "--split 31 --epochs 100000 --save weights.safetensors");
  REQUIRE(support::wait_until_written(school.folder() / "weights.safetensors"));
  const rlimit full{200'000, 200'000};
  REQUIRE(::prlimit(training.pid(), RLIMIT_FSIZE, &full, nullptr) == 0);
  const auto outcome = training.wait();
  INFO(outcome.errors);
  CHECK(outcome.exit_code == 3);
  CHECK(contains(outcome.errors, "write weights.safetensors: "));
  CHECK(contains(outcome.errors, "weights.safetensors has the weights after epoch "));
  CHECK_NOTHROW(files::WeightsFile(school.folder() / "weights.safetensors"));
  CHECK(school.files() == std::set<std::string>{"classes.txt", "images.safetensors", "weights.safetensors"});
}

TEST_CASE("a training that diverges says at which step, and the file has the weights of the last epoch before that") {
  const School school;
  // The decay alone makes every weight 999 times as large in each step, whatever the CPU; float32 ends after some five.
  const auto diverging =
      Words("train") + kModel + "--split 31 --lr 1000 --weight-decay 1 --save weights.safetensors --micro-batch 2";
  school.run(0, diverging + "--batch 8 --epochs 1");
  const auto of_first_epoch = school.text("weights.safetensors");
  // Three steps an epoch, so that the first one passes, or twelve, so that it does not.
  for (const auto& [batch, kept] : {std::pair{"--batch 8", "weights.safetensors has the weights after epoch 1"},
                                    std::pair{"--batch 2", "weights.safetensors was not written"}}) {
    const auto outcome = school.run(1, diverging + batch + "--epochs 3");
    check_contains(outcome.errors, {"the loss of step ", "nan: the training diverges; a lower --lr may help", kept});
    CHECK(school.text("weights.safetensors") == of_first_epoch);
  }
}

TEST_CASE("what train cannot do is said before anything is trained") {
  const School school;
  check_refused(school, kTrain,
                {{"--epochs 2", "say where to cut"},
                 {"--split 31 --schedule gpipe,1f1b", "train takes one way"},
                 {"--split 31 --save weights.npz", "must end in .pt, .pth or .safetensors"},
                 {"--split 31 --codec sort7", "sort7"},
                 {"--split 31 --save images.safetensors", "images.safetensors is what is read, and would be lost"},
                 {"--split 31 --lr-schedule cosin", "did you mean \"cosine\"?"},
                 {"--split 31 --save nowhere/w.safetensors", "nowhere"},
                 {"--split 31 --epochs 0", "--epochs"}});
  check_refused(school, Words("train --model densenet_cifar --data random"),
                {{"--split 31", "training needs the class of each sample, and random has none of its own"}});
  check_refused(school, Words("train") + kModel,
                {{"--split 31 --batch 64", "fewer samples than a batch of 64"},
                 {"--split 31 --lr 1e20", "must be from 0 to 1000"},
                 {"--split 31 --optimizer adam --momentum 0.5", "adam has no momentum"}});
}
