// SPDX-License-Identifier: Apache-2.0
// A temporary mount of a file system.
#ifndef PMUCONF_CASES_MOUNT_H_
#define PMUCONF_CASES_MOUNT_H_

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "system/broken.h"

namespace pmuconf {

// Mounts a file system of that type on a temporary folder while the object lives.
class Mount {
 public:
  explicit Mount(const char* type) {
    if (mkdtemp(folder_) == nullptr) throw BrokenErrno("a folder", errno);
    if (mount(type, folder_, type, 0, nullptr) != 0) {
      const int error = errno;
      rmdir(folder_);
      throw BrokenErrno(std::string("mounting ") + type, error);
    }
  }
  Mount(const Mount&) = delete;
  ~Mount() {
    umount2(folder_, MNT_DETACH);
    rmdir(folder_);
  }
  std::string path(const std::string& name) const { return std::string(folder_) + "/" + name; }

 private:
  char folder_[32] = "/tmp/pmuconf.XXXXXX";
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_MOUNT_H_
