// SPDX-License-Identifier: Apache-2.0
// A cache of known stacks and their nodes in the store. A repeated sample needs no symbol lookup.
#ifndef PMUCONF_TOOLS_PROFILE_KNOWN_STACKS_H_
#define PMUCONF_TOOLS_PROFILE_KNOWN_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "tools/profile/stack_store.h"

namespace pmuconf::profile {

// A digest of a command's name and the stack's addresses. With 128 bits, collisions do not occur in
// practice.
struct StackDigest {
  std::uint64_t key = 0;
  std::uint64_t check = 0;
};
// Ignores an incomplete last word of `bytes`.
StackDigest Digest(std::span<const std::byte> bytes, StackDigest begin = {});

class KnownStacks {
 public:
  // Maximum number of stacks of all processes. If there are more, the cache is cleared.
  static constexpr std::size_t kMaxStacks = 32 * 1024;

  std::optional<StackStore::NodeId> Find(std::uint32_t pid, StackDigest digest);
  void Add(std::uint32_t pid, StackDigest digest, StackStore::NodeId node);
  void RemoveProcess(std::uint32_t pid);  // after exec or exit, addresses have a new meaning
  std::size_t size() const { return size_; }

 private:
  struct Known {
    std::uint64_t check = 0;
    StackStore::NodeId node = StackStore::kRoot;
  };
  using StacksOfProcess = std::unordered_map<std::uint64_t, Known>;
  StacksOfProcess& StacksOf(std::uint32_t pid);

  std::unordered_map<std::uint32_t, StacksOfProcess> processes_;
  std::uint32_t last_pid_ = 0;
  StacksOfProcess* last_ = nullptr;  // consecutive samples are often of one process
  std::size_t size_ = 0;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_KNOWN_STACKS_H_
