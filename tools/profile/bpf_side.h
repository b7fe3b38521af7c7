// SPDX-License-Identifier: Apache-2.0
// The BPF program of `profile` and its ring buffers, one per CPU.
#ifndef PMUCONF_TOOLS_PROFILE_BPF_SIDE_H_
#define PMUCONF_TOOLS_PROFILE_BPF_SIDE_H_

#include <bpf/libbpf.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "system/fd.h"
#include "tools/profile/options.h"

struct profile_bpf;

namespace pmuconf::profile {

class BpfSide {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  // Loads the program. `cpus` is the number of possible CPUs. Throws UserError.
  BpfSide(const Options& options, int cpus, Sink sink);
  BpfSide(const BpfSide&) = delete;
  ~BpfSide();

  void AddRing(int cpu);  // no effect if the CPU has one; throws UserError
  const bpf_program* program() const;
  int wait_fd() const;  // an epoll descriptor; readable when a ring buffer fills up
  void Drain();         // passes all available samples to the sink
  std::uint64_t Lost() const;

 private:
  static int OnSample(void* self, void* data, std::size_t size);

  profile_bpf* skeleton_ = nullptr;
  std::uint32_t ring_bytes_;
  Sink sink_;
  ring_buffer* reader_ = nullptr;
  std::map<int, Fd> rings_;  // by CPU
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_BPF_SIDE_H_
