// SPDX-License-Identifier: Apache-2.0
// A detached mount of cgroup v2. The kernel unmounts it with the last descriptor.
#include "system/root_cgroup.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace pmuconf {
namespace {

std::string ReadAt(const Fd& folder, const char* name) {
  const Fd file(openat(folder.get(), name, O_RDONLY | O_CLOEXEC));
  char text[256];
  const ssize_t size = read(file.get(), text, sizeof(text));
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

bool WriteAt(const Fd& folder, const char* name, const std::string& text) {
  const Fd file(openat(folder.get(), name, O_WRONLY | O_CLOEXEC));
  return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

Fd RootCgroup() {
  const Fd context(static_cast<int>(syscall(SYS_fsopen, "cgroup2", FSOPEN_CLOEXEC)));
  if (syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return Fd();
  }
  const Fd mounted(static_cast<int>(syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  Fd folder(openat(mounted.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string known = ReadAt(folder, "cgroup.controllers");
  if (known.find_first_not_of(" \n") == std::string::npos) return Fd();
  // If no cgroup has a controller, the state of the perf_event controller may not exist yet.
  // Enabling any controller creates it.
  const std::string given = ReadAt(folder, "cgroup.subtree_control");
  if (given.find_first_not_of(" \n") != std::string::npos) return folder;
  const std::string first = known.substr(0, known.find_first_of(" \n"));
  for (const char* const sign : {"+", "-"}) {
    if (!WriteAt(folder, "cgroup.subtree_control", sign + first)) return Fd();
  }
  return folder;
}

}  // namespace pmuconf
