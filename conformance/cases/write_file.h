// SPDX-License-Identifier: Apache-2.0
// Writing to a file of the kernel's, once, for the errno.
#ifndef PMUCONF_CASES_WRITE_FILE_H_
#define PMUCONF_CASES_WRITE_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "pmuconf/fd.h"

namespace pmuconf {

// The errno of writing `text` to a file, 0 if it was taken. A stream would try again on closing.
inline int WriteError(const std::string& path, const std::string& text) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return errno;
  return write(fd.get(), text.data(), text.size()) < 0 ? errno : 0;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_WRITE_FILE_H_
