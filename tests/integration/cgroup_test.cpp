// Cgroups of this process, for real: in the virtual machine of tests/uml, whose every cgroup is ours to move in.
#include <paretopipe/launch/cgroup.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <fstream>
#include <optional>

#include <unistd.h>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "virtual_machine.hpp"

using namespace paretopipe;
using launch::Cgroup;
using launch::CgroupParents;
using launch::CgroupVersion;
using support::contains;
using support::need_virtual_machine;
using support::text_of;
namespace fs = std::filesystem;

namespace {

launch::CgroupPlace own_place() {
  return launch::find_cgroup("cpu", text_of("/proc/self/cgroup"), text_of("/proc/self/mountinfo"));
}

/// This process, alone in a cgroup of its own as systemd-run would make it; back where it was at the end of life.
class OwnScope {
 public:
  OwnScope() : outside_(own_place().folder), inside_(outside_ / "scope") {
    std::ofstream(outside_ / "cgroup.subtree_control") << "+cpu +memory";
    fs::create_directory(inside_);
    std::ofstream(inside_ / "cgroup.procs") << ::getpid();
  }
  ~OwnScope() {
    std::ofstream(outside_ / "cgroup.procs") << ::getpid();
    ::rmdir(inside_.c_str());
    std::ofstream(outside_ / "cgroup.subtree_control") << "-cpu -memory";
  }
  const fs::path& folder() const { return inside_; }

 private:
  fs::path outside_;
  fs::path inside_;
};

std::string output_in(const Cgroup& cgroup, const std::string& script) {
  launch::ChildCommand command{{"/bin/sh", "-c", script}};
  command.cgroups = cgroup.descriptors();
  launch::ChildProcess child(command, launch::FileDescriptor(::dup(STDERR_FILENO)));
  child.end(30'000);
  return child.output();
}

}  // namespace

TEST_CASE("a child is in the cgroup from its first instruction on, and the cgroup goes with its owner",
          "[needs:virtual_machine]") {
  need_virtual_machine();
  const CgroupParents parents(true, true);
  fs::path folder;
  {
    const Cgroup cgroup(parents, "test", {0.25, std::int64_t{64} << 20});
    CHECK(cgroup.applied() == launch::CgroupLimits{0.25, std::int64_t{64} << 20});
    CHECK(cgroup.memory_kills() == 0);
    folder = parents.cpu()->folder / ("paretopipe-" + std::to_string(::getpid()) + "-test");
    CHECK(fs::exists(folder));
    CHECK(contains(output_in(cgroup, "cat /proc/self/cgroup"), folder.filename().string()));
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("under v2 a process alone in its cgroup makes room for others beside it, and comes back",
          "[needs:virtual_machine][cgroups-v2]") {
  need_virtual_machine();
  if (own_place().version != CgroupVersion::v2) support::skip("cgroups v1 have no such rule");
  const OwnScope scope;
  {
    const CgroupParents parents(true, true);
    CHECK(own_place().folder.parent_path() == scope.folder());
    const Cgroup cgroup(parents, "test", {0.5, std::nullopt});
    CHECK(contains(output_in(cgroup, "cat /proc/self/cgroup"), "/scope/paretopipe-"));
  }
  CHECK(own_place().folder == scope.folder());
  CHECK_FALSE(contains(text_of(scope.folder() / "cgroup.subtree_control"), "cpu"));
  for (const auto& entry : fs::directory_iterator(scope.folder())) CHECK_FALSE(entry.is_directory());
}

TEST_CASE("a share below a tenth is kept, with a longer period", "[needs:virtual_machine]") {
  need_virtual_machine();
  const CgroupParents parents(true, false);
  CHECK(Cgroup(parents, "test", {0.01, std::nullopt}).applied().cpus == Approx(0.01));
  CHECK(Cgroup(parents, "test", {3.5, std::nullopt}).applied().cpus == Approx(3.5));
}

TEST_CASE("a busy process with a quota is made to stand still", "[needs:virtual_machine]") {
  need_virtual_machine();
  const CgroupParents parents(true, false);
  const Cgroup cgroup(parents, "test", {0.1, std::nullopt});
  const auto stat = parents.cpu()->folder / ("paretopipe-" + std::to_string(::getpid()) + "-test") / "cpu.stat";
  // As long as it takes: it counts until the kernel says that it has held it up.
  output_in(cgroup, "while grep -q 'nr_throttled 0' " + stat.string() +
                        "; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done");
  CHECK_FALSE(contains(text_of(stat), "nr_throttled 0\n"));
}
