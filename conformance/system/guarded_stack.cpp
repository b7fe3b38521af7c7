// SPDX-License-Identifier: Apache-2.0
// A mapping whose end is inaccessible, and a thread that uses it as its stack.
#include "system/guarded_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <exception>

#include "system/broken.h"

namespace pmuconf {
namespace {

constexpr std::size_t kEdge = 65'536;  // at least one page, for every page size of Linux

class Mapping {
 public:
  explicit Mapping(std::size_t stack) : bytes_(stack + kEdge) {
    base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw BrokenErrno("a stack for the thread", errno);
    if (mprotect(static_cast<char*>(base_) + stack, kEdge, PROT_NONE) != 0) {
      throw BrokenErrno("the end of a stack", errno);
    }
  }
  Mapping(const Mapping&) = delete;
  ~Mapping() { munmap(base_, bytes_); }
  void* base() const { return base_; }

 private:
  std::size_t bytes_;
  void* base_ = nullptr;
};

struct Call {
  const std::function<void(std::uint64_t)>& body;
  std::uint64_t top;
  std::exception_ptr thrown;
};

void* Run(void* what) {
  Call& call = *static_cast<Call*>(what);
  try {
    call.body(call.top);
  } catch (...) {
    call.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void RunOnGuardedStack(std::size_t bytes, const std::function<void(std::uint64_t top)>& body) {
  const Mapping stack(bytes);
  Call call{body, reinterpret_cast<std::uint64_t>(stack.base()) + bytes, nullptr};
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  if (pthread_attr_setstack(&attr, stack.base(), bytes) != 0)
    throw Broken("a stack for the thread");
  pthread_t thread;
  const int error = pthread_create(&thread, &attr, &Run, &call);
  pthread_attr_destroy(&attr);
  if (error != 0) throw BrokenErrno("pthread_create", error);
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace pmuconf
