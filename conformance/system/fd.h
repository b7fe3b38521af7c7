// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself on destruction.
#ifndef PMUCONF_SYSTEM_FD_H_
#define PMUCONF_SYSTEM_FD_H_

#include <unistd.h>

#include <utility>

namespace pmuconf {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { Reset(); }

  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_FD_H_
