// SPDX-License-Identifier: Apache-2.0
// A cgroup for one case.
#ifndef PMUCONF_SYSTEM_CGROUP_H_
#define PMUCONF_SYSTEM_CGROUP_H_

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "system/broken.h"
#include "system/fd.h"
#include "system/root_cgroup.h"

namespace pmuconf {

inline Fd OpenFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw BrokenErrno("opening " + path, errno);
  return Fd(fd);
}

// The cgroup v2 hierarchy, mounted in a mount namespace of this process. The mount disappears when
// the process ends.
class CgroupRoot {
 public:
  CgroupRoot() {
    if (mkdtemp(path_.data()) == nullptr || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("cgroup", path_.c_str(), "cgroup2", 0, nullptr) != 0) {
      throw BrokenErrno("mounting the cgroups", errno);
    }
    RootCgroup();  // activates perf's controller in this hierarchy
  }
  CgroupRoot(const CgroupRoot&) = delete;
  ~CgroupRoot() {
    umount2(path_.c_str(), MNT_DETACH);
    rmdir(path_.c_str());
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/pmuconf-XXXXXX";
};

// Moves this process into the cgroup of that folder, and returns whether it could. Restores its CPU
// affinity, which Linux before 6.2 resets when a cgroup has its own CPUs.
inline bool MoveToCgroup(const std::string& folder) {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return false;
  std::ofstream procs(folder + "/cgroup.procs");
  procs << getpid() << std::flush;
  return procs.good() && sched_setaffinity(0, sizeof(cpus), &cpus) == 0;
}

// A cgroup below the root. The destructor moves this process out of the cgroup and removes it.
class Cgroup {
 public:
  Cgroup(const CgroupRoot& root, const std::string& name)
      : root_(root.path()), path_(root_ + "/" + name) {
    struct stat status = {};
    if (mkdir(path_.c_str(), 0755) != 0 || stat(path_.c_str(), &status) != 0) {
      throw BrokenErrno("making the cgroup " + path_, errno);
    }
    id_ = status.st_ino;
  }
  Cgroup(const Cgroup&) = delete;
  ~Cgroup() {
    MoveToCgroup(root_);
    rmdir(path_.c_str());
  }

  std::uint64_t id() const { return id_; }
  const std::string& path() const { return path_; }
  Fd Folder() const { return OpenFolder(path_); }
  void Enter() const {
    if (!MoveToCgroup(path_)) throw Broken("cannot enter the cgroup " + path_);
  }
  void Leave() const {
    if (!MoveToCgroup(root_)) throw Broken("cannot leave the cgroup " + path_);
  }

 private:
  std::string root_;
  std::string path_;
  std::uint64_t id_ = 0;
};

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_CGROUP_H_
