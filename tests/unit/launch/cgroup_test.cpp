#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/cgroup.hpp>

#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using launch::CgroupPlace;
using launch::CgroupVersion;
using launch::find_cgroup;
using support::contains;
using support::message_of;

namespace {

// As kernels write them, shortened to what matters.
const std::string kOwnV1 =
    "12:memory:/user.slice/user-1000.slice\n"
    "4:cpu,cpuacct:/user.slice\n"
    "3:cpuset:/\n"
    "1:name=systemd:/user.slice/user-1000.slice/session-2.scope\n";
const std::string kMountsV1 =
    "25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
    "33 32 0:29 / /sys/fs/cgroup/systemd rw shared:10 - cgroup cgroup rw,xattr,name=systemd\n"
    "36 32 0:32 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:15 - cgroup cgroup rw,cpu,cpuacct\n"
    "37 32 0:33 / /sys/fs/cgroup/cpuset rw shared:16 - cgroup cgroup rw,cpuset\n"
    "38 32 0:34 / /sys/fs/cgroup/memory rw shared:17 master:1 - cgroup cgroup rw,memory\n";

const std::string kOwnV2 = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1:2.scope\n";
const std::string kMountsV2 = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

const std::string kOwnHybrid = "4:cpu,cpuacct:/\n1:name=systemd:/init.scope\n0::/init.scope\n";
const std::string kMountsHybrid =
    "31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    "36 32 0:32 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

}  // namespace

TEST_CASE("under v1 a controller's hierarchy may have several, under v2 one cgroup has all", "[cgroup]") {
  CHECK(find_cgroup("memory", kOwnV1, kMountsV1) ==
        CgroupPlace{CgroupVersion::v1, "/sys/fs/cgroup/memory/user.slice/user-1000.slice"});
  CHECK(find_cgroup("cpu", kOwnV1, kMountsV1) ==
        CgroupPlace{CgroupVersion::v1, "/sys/fs/cgroup/cpu,cpuacct/user.slice"});
  CHECK_THROWS_AS(find_cgroup("cpu", "3:cpuset:/\n", kMountsV1), EnvironmentError);  // cpuset is not cpu
  const CgroupPlace place{CgroupVersion::v2,
                          "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1:2.scope"};
  CHECK(find_cgroup("memory", kOwnV2, kMountsV2) == place);
  CHECK(find_cgroup("cpu", kOwnV2, kMountsV2) == place);
  // Folders with blanks are read as the kernel writes them, and damaged lines are passed over.
  CHECK(find_cgroup("cpu", "0::/a\n", "30 25 0:26 / /my\\040groups rw - cgroup2 none rw\n").folder == "/my groups/a");
  CHECK(find_cgroup("cpu", "\n4\n:\n0::/\n", "a - b\n - \n36 32 - cgroup2 x rw\n" + kMountsV2).folder ==
        "/sys/fs/cgroup/");
}

TEST_CASE("where both versions are mounted, the controller is where v1 has it, and in v2 otherwise", "[cgroup]") {
  CHECK(find_cgroup("cpu", kOwnHybrid, kMountsHybrid).version == CgroupVersion::v1);
  CHECK(find_cgroup("memory", kOwnHybrid, kMountsHybrid) ==
        CgroupPlace{CgroupVersion::v2, "/sys/fs/cgroup/unified/init.scope"});
}

TEST_CASE("a container sees its own part of the hierarchy, at the top of the mount", "[cgroup]") {
  const std::string mounts =
      "38 32 0:34 /docker/ab12 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
      "39 32 0:34 /elsewhere /mnt rw - cgroup cgroup rw,memory\n";
  CHECK(find_cgroup("memory", "4:memory:/docker/ab12\n", mounts).folder == "/sys/fs/cgroup/memory");
  CHECK(find_cgroup("memory", "4:memory:/docker/ab12/inner\n", mounts).folder == "/sys/fs/cgroup/memory/inner");
  CHECK_THROWS_AS(find_cgroup("memory", "4:memory:/docker/ab123\n", mounts), EnvironmentError);
}

TEST_CASE("what is missing is said", "[cgroup]") {
  CHECK(contains(message_of<EnvironmentError>([] { find_cgroup("cpu", "", kMountsV2); }),
                 "no cgroups with the controller cpu"));
  CHECK(contains(message_of<EnvironmentError>([] { find_cgroup("memory", kOwnV1, ""); }),
                 "/user.slice/user-1000.slice (v1, controller memory) of this process is mounted nowhere"));
}
