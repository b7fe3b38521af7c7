// SPDX-License-Identifier: Apache-2.0
// One write to a file of the kernel, for its errno.
#ifndef PMUCONF_CASES_WRITE_FILE_H_
#define PMUCONF_CASES_WRITE_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "system/fd.h"

namespace pmuconf {

// Writes `text` to a file. Returns the errno, or 0. A stream would repeat a failed write when it is
// closed.
inline int WriteError(const std::string& path, const std::string& text) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return errno;
  return write(fd.get(), text.data(), text.size()) < 0 ? errno : 0;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_WRITE_FILE_H_
