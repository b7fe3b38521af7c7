// SPDX-License-Identifier: Apache-2.0
// Loads the BPF program and reads its ring buffers.
#include "tools/profile/bpf_side.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "perf/bpf.h"
#include "profile.skel.h"
#include "system/context.h"
#include "tools/profile/advice.h"
#include "tools/profile/profile_sample.h"

namespace pmuconf::profile {
namespace {

// Total size of all ring buffers. Each page is mapped twice, so it counts twice as resident.
constexpr std::uint32_t kAllRings = 8U << 20;
constexpr std::uint32_t kLeastRing = 256U << 10;
constexpr std::uint32_t kMostRing = 2U << 20;

std::uint32_t RingBytes(int cpus) {
  const std::uint32_t share = kAllRings / static_cast<std::uint32_t>(std::max(cpus, 1));
  return std::clamp(std::bit_floor(share), kLeastRing, kMostRing);
}

}  // namespace

BpfSide::BpfSide(const Options& options, int cpus, Sink sink)
    : ring_bytes_(RingBytes(cpus)), sink_(std::move(sink)) {
  SilenceLibbpf();
  skeleton_ = profile_bpf::open();
  if (skeleton_ == nullptr) throw UserError(WhyNoBpf(errno, context().bpf_log));
  skeleton_->rodata->want_kernel = !options.user_only;
  skeleton_->rodata->want_user = !options.kernel_only;
  skeleton_->rodata->wakeup_bytes = ring_bytes_ / 4;
  if (const int error = profile_bpf::load(skeleton_); error != 0) {
    profile_bpf::destroy(skeleton_);
    throw UserError(WhyNoBpf(-error, context().bpf_log));
  }
}

BpfSide::~BpfSide() {
  ring_buffer__free(reader_);
  profile_bpf::destroy(skeleton_);
}

void BpfSide::AddRing(int cpu) {
  if (rings_.contains(cpu)) return;
  if (cpu >= PROFILE_MAX_CPUS) {
    throw UserError("CPU " + std::to_string(cpu) + " is beyond the " +
                    std::to_string(PROFILE_MAX_CPUS) +
                    " CPUs that profile supports: exclude it with -C");
  }
  Fd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "profile_ring", 0, 0, ring_bytes_, nullptr));
  if (ring.get() < 0) throw UserError(WhyNoBpf(errno, "no ring buffer was created"));
  const int fd = ring.get();
  const auto key = static_cast<std::uint32_t>(cpu);
  if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.rings), &key, &fd, BPF_ANY) != 0) {
    throw UserError(WhyNoBpf(errno, "a ring buffer was not added to its map"));
  }
  bool added = true;
  if (reader_ == nullptr) {
    reader_ = ring_buffer__new(fd, OnSample, this, nullptr);
    added = reader_ != nullptr;
  } else {
    added = ring_buffer__add(reader_, fd, OnSample, this) == 0;
  }
  if (!added) throw UserError(WhyNoBpf(errno, "a ring buffer was not mapped"));
  rings_[cpu] = std::move(ring);
}

const bpf_program* BpfSide::program() const { return skeleton_->progs.profile; }

int BpfSide::wait_fd() const { return ring_buffer__epoll_fd(reader_); }

void BpfSide::Drain() {
  if (reader_ != nullptr) ring_buffer__consume(reader_);
}

std::uint64_t BpfSide::Lost() const {
  return __atomic_load_n(&skeleton_->bss->lost, __ATOMIC_RELAXED);
}

int BpfSide::OnSample(void* self, void* data, std::size_t size) {
  static_cast<BpfSide*>(self)->sink_({static_cast<const std::byte*>(data), size});
  return 0;
}

}  // namespace pmuconf::profile
