// SPDX-License-Identifier: Apache-2.0
// BPF programs on overflow: loading a skeleton, putting its programs on events.
//
//   #include "count_overflows.skel.h"          // from conformance/bpf/count_overflows.bpf.c
//   Skeleton<count_overflows_bpf> bpf;         // opened and loaded, or BROKEN
//   BpfLink link = AttachBpf(bpf->progs.on_overflow, event);
//   EXPECT_EQ(bpf->bss->overflows, 10u);
#ifndef PMUCONF_BPF_H_
#define PMUCONF_BPF_H_

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <functional>
#include <string>

#include "pmuconf/event.h"

namespace pmuconf {

[[noreturn]] void BpfBroken(const char* what, int error);
void QuietLibbpf();  // libbpf's messages go to the case's failure message only

// A skeleton, loaded; destroyed when it goes.
template <typename S>
class Skeleton {
 public:
  // `prepare` may set read-only data before the load. `types`: a file with the types of a kernel
  // that does not describe them itself.
  explicit Skeleton(const std::function<void(S&)>& prepare = {}, const std::string& types = {}) {
    QuietLibbpf();
    LIBBPF_OPTS(bpf_object_open_opts, options);
    options.btf_custom_path = types.empty() ? nullptr : types.c_str();
    skeleton_ = S::open(&options);
    if (skeleton_ == nullptr) BpfBroken("open", errno);
    if (prepare) prepare(*skeleton_);
    if (const int error = S::load(skeleton_); error != 0) {
      S::destroy(skeleton_);
      BpfBroken("load", -error);
    }
  }
  Skeleton(const Skeleton&) = delete;
  Skeleton& operator=(const Skeleton&) = delete;
  ~Skeleton() { S::destroy(skeleton_); }

  S* operator->() { return skeleton_; }
  S& operator*() { return *skeleton_; }

 private:
  S* skeleton_ = nullptr;
};

// A program on an event (BPF_LINK_CREATE); detached when it goes. Does not own the event.
class BpfLink {
 public:
  explicit BpfLink(int fd) : fd_(fd) {}
  int fd() const { return fd_.get(); }
  void Detach() { fd_.Reset(); }

 private:
  Fd fd_;
};

// `cookie` is what bpf_get_attach_cookie() gives in the program.
BpfLink AttachBpf(const bpf_program* program, const Event& event, std::uint64_t cookie = 0);
SysResult TryAttachBpf(const bpf_program* program, const Event& event, std::uint64_t cookie = 0);
int ProgramFd(const bpf_program* program);  // for Event::SetBpf and TryIoctl
std::uint32_t ProgramId(const bpf_program* program);

}  // namespace pmuconf

#endif  // PMUCONF_BPF_H_
