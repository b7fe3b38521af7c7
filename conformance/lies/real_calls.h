// SPDX-License-Identifier: Apache-2.0
// The system calls of the C library behind those of this folder. The linker gives them these names:
// cmake/Lies.cmake.
#ifndef PMUCONF_LIES_REAL_CALLS_H_
#define PMUCONF_LIES_REAL_CALLS_H_

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/uio.h>

extern "C" {
long __real_syscall(long number, ...);
int __real_ioctl(int fd, unsigned long request, ...);
ssize_t __real_read(int fd, void* buffer, size_t size);
ssize_t __real_write(int fd, const void* buffer, size_t size);
ssize_t __real_writev(int fd, const iovec* parts, int n);
void* __real_mmap(void* address, size_t size, int prot, int flags, int fd, off_t offset);
int __real_munmap(void* address, size_t size);
void* __real_mremap(void* address, size_t old_size, size_t new_size, int flags, ...);
int __real_mprotect(void* address, size_t size, int prot);
int __real_poll(pollfd* fds, nfds_t n, int timeout_ms);
int __real_epoll_wait(int fd, epoll_event* events, int n, int timeout_ms);
int __real_fcntl(int fd, int command, ...);
int __real_sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout);
int __real_sigaction(int signal, const struct sigaction* action, struct sigaction* before);
int __real_prctl(int command, ...);
}

#endif  // PMUCONF_LIES_REAL_CALLS_H_
