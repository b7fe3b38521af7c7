// SPDX-License-Identifier: Apache-2.0
// BPF programs that run on overflow: loads a skeleton and attaches its programs to events.
//
//   #include "count_overflows.skel.h"          // from conformance/bpf/count_overflows.bpf.c
//   Skeleton<count_overflows_bpf> bpf;         // opened and loaded, or BROKEN
//   BpfLink link = AttachBpf(bpf->progs.on_overflow, event);
//   EXPECT_EQ(bpf->bss->overflows, 10u);
#ifndef PMUCONF_PERF_BPF_H_
#define PMUCONF_PERF_BPF_H_

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <functional>
#include <string>

#include "perf/answers.h"
#include "perf/event.h"

namespace pmuconf {

[[noreturn]] void BpfBroken(const char* what, int error);
// Maps the pages of the program's variables. Linux 7.3 maps each at its first access otherwise,
// which would count as a page fault of the case.
void PopulateVariables(const bpf_object* object);
void SilenceLibbpf();  // libbpf prints nothing; the failure message of the case includes its log

// A loaded skeleton. Destroys it on destruction.
template <typename S>
class Skeleton {
 public:
  // `prepare` may set read-only data before the load. `types` is a BTF file of the kernel's types,
  // for a kernel without /sys/kernel/btf/vmlinux; empty: the kernel's own BTF.
  explicit Skeleton(const std::function<void(S&)>& prepare = {}, const std::string& types = {}) {
    SilenceLibbpf();
    LIBBPF_OPTS(bpf_object_open_opts, options);
    options.btf_custom_path = types.empty() ? nullptr : types.c_str();
    skeleton_ = S::open(&options);
    if (skeleton_ == nullptr) BpfBroken("open", errno);
    if (prepare) prepare(*skeleton_);
    if (const int error = S::load(skeleton_); error != 0) {
      S::destroy(skeleton_);
      BpfBroken("load", -error);
    }
    PopulateVariables(skeleton_->obj);
  }
  Skeleton(const Skeleton&) = delete;
  Skeleton& operator=(const Skeleton&) = delete;
  ~Skeleton() { S::destroy(skeleton_); }

  S* operator->() { return &**this; }
  S& operator*() {
    if (perf_answers().bpf_memory != nullptr) perf_answers().bpf_memory(skeleton_->obj);
    return *skeleton_;
  }

 private:
  S* skeleton_ = nullptr;
};

// A program attached to an event with BPF_LINK_CREATE. Detaches it on destruction. Does not own the
// event.
class BpfLink {
 public:
  explicit BpfLink(int fd) : fd_(fd) {}
  int fd() const { return fd_.get(); }
  void Detach() { fd_.Reset(); }

 private:
  Fd fd_;
};

// `cookie` is the value that bpf_get_attach_cookie() returns in the program.
BpfLink AttachBpf(const bpf_program* program, const Event& event, std::uint64_t cookie = 0);
SysResult TryAttachBpf(const bpf_program* program, const Event& event, std::uint64_t cookie = 0);
int ProgramFd(const bpf_program* program);  // for Event::SetBpf and TryIoctl
std::uint32_t ProgramId(const bpf_program* program);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_BPF_H_
