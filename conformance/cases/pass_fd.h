// SPDX-License-Identifier: Apache-2.0
// Passes a file descriptor between the processes of a case.
#ifndef PMUCONF_CASES_PASS_FD_H_
#define PMUCONF_CASES_PASS_FD_H_

#include <sys/socket.h>

#include <cstring>

#include "harness/case.h"
#include "system/fd.h"

namespace pmuconf {

// Create it before the fork. One process sends, the other one blocks until it receives.
class FdPipe {
 public:
  FdPipe() {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) throw Broken("socketpair");
    in_.Reset(ends[0]);
    out_.Reset(ends[1]);
  }

  void Send(int fd) const {
    Message message;
    cmsghdr* head = CMSG_FIRSTHDR(&message.header);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(fd));
    std::memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    if (sendmsg(out_.get(), &message.header, 0) != 1) throw Broken("sendmsg of a descriptor");
  }

  Fd Receive() const {
    Message message;
    if (recvmsg(in_.get(), &message.header, MSG_CMSG_CLOEXEC) != 1) {
      throw Broken("recvmsg of a descriptor");
    }
    const cmsghdr* head = CMSG_FIRSTHDR(&message.header);
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS) throw Broken("no descriptor came");
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head), sizeof(fd));
    return Fd(fd);
  }

 private:
  // One byte of data, with space for one descriptor in the control message.
  struct Message {
    Message() {
      header.msg_iov = &vector;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof(control);
    }
    char byte = 0;
    iovec vector = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header = {};
  };

  Fd in_, out_;
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_PASS_FD_H_
