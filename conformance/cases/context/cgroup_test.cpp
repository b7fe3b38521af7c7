// SPDX-License-Identifier: Apache-2.0
// Events of a cgroup: its members, those below it, and nobody else.
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "cases/mount.h"
#include "pmuconf/case.h"
#include "pmuconf/cpu.h"
#include "pmuconf/rules/CTX.h"
#include "pmuconf/sysfs.h"

namespace pmuconf {
namespace {

// A cgroup that goes, its tasks having left, when this goes.
class Cgroup {
 public:
  explicit Cgroup(std::string path) : path_(std::move(path)) {
    if (mkdir(path_.c_str(), 0755) != 0) throw BrokenErrno("mkdir " + path_, errno);
    folder_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  Cgroup(const Cgroup&) = delete;
  ~Cgroup() {
    folder_.Reset();
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  int fd() const { return folder_.get(); }

 private:
  std::string path_;
  Fd folder_;
};

// A hierarchy of cgroups. Its root gives those below it the controllers that are always there, the
// one of perf events among them, once it gives them any.
class Hierarchy {
 public:
  Hierarchy() {
    const std::string all = ReadFile(mount_.path("cgroup.controllers")).value_or("");
    controller_ = all.substr(0, all.find(' '));
    if (controller_.empty()) throw Broken("no controller of cgroups is left to give away");
    Give("+");
  }
  Hierarchy(const Hierarchy&) = delete;
  ~Hierarchy() { Give("-"); }
  std::string path(const std::string& name) const { return mount_.path(name); }

 private:
  void Give(const char* sign) const {
    std::ofstream(mount_.path("cgroup.subtree_control")) << sign << controller_ << std::flush;
  }

  Mount mount_{"cgroup2"};
  std::string controller_;
};

// This process becomes a member of the cgroup of that folder.
void Join(const std::string& folder) {
  std::ofstream file(folder + "/cgroup.procs");
  file << getpid() << std::flush;
  if (!file.good()) throw Broken("cannot join " + folder);
}

Event OpenOf(const Cgroup& group, const EventSpec& spec, int cpu) {
  return Open(spec, {.pid = group.fd(),
                     .cpu = cpu,
                     .flags = PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP,
                     .disabled = false});
}

CONFORMANCE_CASE(Cgroup, MembersAreCountedWhileTheyAre, .rules = {rule::CTX_006},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  const EventSpec spec = target().AnyEvent();
  const Hierarchy cgroups;
  const Cgroup outer(cgroups.path("pmuconf"));
  const Cgroup inner(outer.path() + "/inner");
  const Event of_outer = OpenOf(outer, spec, target().Cpu(0));
  const Event of_inner = OpenOf(inner, spec, target().Cpu(0));
  Child child([&] {
    target().Stimulate(spec, 1);
    Join(outer.path());
    target().Stimulate(spec, 20);
    Join(inner.path());
    target().Stimulate(spec, 300);
    Join(outer.path());
    target().Stimulate(spec, 4'000);
    Join(cgroups.path(""));
    target().Stimulate(spec, 50'000);
    return 0;
  });
  target().Stimulate(spec, 600'000);
  child.Go();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(of_outer.Read(), Counted(spec, 4'320)) << rule::CTX_006.text;
  EXPECT_THAT(of_inner.Read(), Counted(spec, 300)) << rule::CTX_006.text;
}

CONFORMANCE_CASE(Cgroup, EventsOfACpuSeeTheirMembersThereAlone, .rules = {rule::CTX_006},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Hierarchy cgroups;
  const Cgroup group(cgroups.path("pmuconf"));
  const Event here = OpenOf(group, spec, target().Cpu(0));
  const Event there = OpenOf(group, spec, target().Cpu(1));
  Child member([&] {
    Join(group.path());
    for (std::uint64_t i = 1; i <= 10; ++i) {
      PinTo(target().Cpu(i % 2));
      target().Stimulate(spec, i);
    }
    Join(cgroups.path(""));
    return 0;
  });
  member.Go();
  target().Stimulate(spec, 7'000, {.cpu = target().Cpu(1)});
  ASSERT_EQ(member.Wait(), 0);
  target().Stimulate(spec, 7'000);
  EXPECT_THAT(here.Read(), Counted(spec, 2 + 4 + 6 + 8 + 10)) << rule::CTX_006.text;
  EXPECT_THAT(there.Read(), Counted(spec, 1 + 3 + 5 + 7 + 9)) << rule::CTX_006.text;
}

}  // namespace
}  // namespace pmuconf
