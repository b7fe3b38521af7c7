// SPDX-License-Identifier: Apache-2.0
// Digests of stacks, and the nodes of known stacks.
#include "tools/profile/known_stacks.h"

#include <bit>
#include <cstring>

namespace pmuconf::profile {

StackDigest Digest(std::span<const std::byte> bytes, StackDigest digest) {
  // Odd constants without a pattern, so that each bit of a word affects about half of the higher
  // bits.
  constexpr std::uint64_t kKey = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t kCheck = 0xc2b2ae3d27d4eb4f;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size();
       at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    digest.key = std::rotl((digest.key ^ word) * kKey, 29);
    digest.check = std::rotl((digest.check + word) * kCheck, 31);
  }
  return digest;
}

KnownStacks::StacksOfProcess& KnownStacks::StacksOf(std::uint32_t pid) {
  if (last_ == nullptr || last_pid_ != pid) {
    last_ = &processes_[pid];
    last_pid_ = pid;
  }
  return *last_;
}

std::optional<StackStore::NodeId> KnownStacks::Find(std::uint32_t pid, StackDigest digest) {
  const StacksOfProcess& process = StacksOf(pid);
  const auto known = process.find(digest.key);
  if (known == process.end() || known->second.check != digest.check) return std::nullopt;
  return known->second.node;
}

void KnownStacks::Add(std::uint32_t pid, StackDigest digest, StackStore::NodeId node) {
  if (size_ >= kMaxStacks) {
    processes_.clear();
    last_ = nullptr;
    size_ = 0;
  }
  if (StacksOf(pid).insert_or_assign(digest.key, Known{digest.check, node}).second) ++size_;
}

void KnownStacks::RemoveProcess(std::uint32_t pid) {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return;
  size_ -= process->second.size();
  last_ = nullptr;
  processes_.erase(process);
}

}  // namespace pmuconf::profile
