// Files that are no archives, or damaged or malicious ones: refused with a sentence, and nothing in them is executed.
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/sha256.hpp>
#include <paretopipe/script/script_backend.hpp>

#include <fstream>
#include <string>

#include <caffe2/serialize/inline_container.h>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "archives.hpp"

namespace paretopipe::script {
namespace {

void write_file(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string refusal(const std::filesystem::path& file) {
  return support::message_of<UsageError>([&] { make_script_backend()->describe(request_for(file)); });
}

TEST_CASE("a file that is no zip is refused with what it is") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "model.pt";
  const auto refusal_of = [&](const std::string& bytes) {
    write_file(file, bytes);
    return refusal(file);
  };
  CHECK(support::contains(refusal_of(""), "it is empty"));
  CHECK(support::contains(refusal_of("P"), "it is no zip file"));
  CHECK(support::contains(refusal_of("import torch\n"), "it is no zip file"));
  CHECK(support::contains(refusal_of("\x80\x02}q\x01."), "it is a pickle"));
  CHECK(support::contains(refusal_of("PK\x03\x04"), "cut off, damaged"));
  CHECK(support::contains(refusal_of(std::string("PK\x03\x04") + std::string(100000, '\0')), "cut off, damaged"));
  CHECK(support::contains(refusal_of("import torch\n"), "torch.jit.trace"));
}

TEST_CASE("a zip that torch.save wrote, or anybody else, is refused without being unpickled") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "model.pt";
  const auto write_zip = [&](const std::string& record) {
    caffe2::serialize::PyTorchStreamWriter writer(file.string());
    const std::string pickle = "cos\nsystem\n(S'touch ran'\ntR.";
    writer.writeRecord(record, pickle.data(), pickle.size());
    writer.writeEndOfFile();
  };
  write_zip("data.pkl");
  CHECK(support::contains(refusal(file), "a pickle of torch.save (a state_dict"));
  write_zip("notes.txt");
  CHECK(support::contains(refusal(file), "some other zip file"));
}

TEST_CASE("an archive that was cut off is refused, wherever it was") {
  const support::TemporaryFolder folder;
  const auto whole =
      support::read_file(write_archive(folder.path(), "def forward(self, x):\n  return torch.relu(x)\n"));
  const auto file = folder.path() / "cut_off.pt";
  for (std::size_t length = 0; length < whole.size(); length += whole.size() / 50) {
    INFO(length << " of " << whole.size() << " bytes");
    write_file(file, whole.substr(0, length));
    CHECK(support::contains(refusal(file), "is no TorchScript archive"));
  }
}

TEST_CASE("code that would run while the archive is loaded, or touch other files, is refused before it is loaded") {
  const support::TemporaryFolder folder;
  const auto refusal_of = [&](const std::string& code) { return refusal(write_archive(folder.path(), code)); };
  CHECK(support::contains(refusal_of("def forward(self, x):\n  return x\n"
                                     "def __setstate__(self, state: int):\n  self.training = True\n"
                                     "def __getstate__(self):\n  return 1\n"),
                          "__setstate__"));
  CHECK(support::contains(refusal_of("def forward(self, x):\n  torch.save(x, \"stolen\")\n  return x\n"), "save"));
  CHECK(support::contains(refusal_of("def forward(self, x):\n  return x + torch.from_file(\"/etc/passwd\", True, 4)\n"),
                          "from_file"));
  CHECK_FALSE(std::filesystem::exists("stolen"));
}

}  // namespace
}  // namespace paretopipe::script
