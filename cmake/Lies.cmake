# SPDX-License-Identifier: Apache-2.0
# tell_lies(TARGET) passes the system calls of a program through conformance/lies, which can alter their answers. The
# linker renames the references: a call of ioctl becomes __wrap_ioctl, and __real_ioctl is the C library's function.
function(tell_lies target)
  set(options "")
  foreach(call syscall ioctl read write writev mmap munmap mremap mprotect poll epoll_wait fcntl sigtimedwait
      sigaction prctl)
    list(APPEND options "-Wl,--wrap=${call}")
  endforeach()
  target_link_options(${target} PRIVATE ${options})
  target_link_libraries(${target} PRIVATE pmuconf_lies)
endfunction()
