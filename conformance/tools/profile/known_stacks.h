// SPDX-License-Identifier: Apache-2.0
// Where stacks that were seen before are in the store, so that a sample costs no search for names.
#ifndef PMUCONF_TOOLS_PROFILE_KNOWN_STACKS_H_
#define PMUCONF_TOOLS_PROFILE_KNOWN_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "tools/profile/stack_store.h"

namespace pmuconf::profile {

// 128 bits of a command's name and its addresses: two stacks are not taken for one.
struct StackDigest {
  std::uint64_t key = 0;
  std::uint64_t check = 0;
};
// `bytes`: the rest after whole words is left out.
StackDigest Digest(std::span<const std::byte> bytes, StackDigest begin = {});

class KnownStacks {
 public:
  // Of all processes; when there are more, all are forgotten.
  static constexpr std::size_t kMost = 32 * 1024;

  std::optional<StackStore::NodeId> Find(std::uint32_t pid, StackDigest digest);
  void Add(std::uint32_t pid, StackDigest digest, StackStore::NodeId node);
  void Forget(std::uint32_t pid);  // its addresses mean something else from now on
  std::size_t size() const { return size_; }

 private:
  struct Known {
    std::uint64_t check = 0;
    StackStore::NodeId node = StackStore::kRoot;
  };
  using OfProcess = std::unordered_map<std::uint64_t, Known>;
  OfProcess& Of(std::uint32_t pid);

  std::unordered_map<std::uint32_t, OfProcess> processes_;
  std::uint32_t last_pid_ = 0;
  OfProcess* last_ = nullptr;  // samples of one process come in a row
  std::size_t size_ = 0;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_KNOWN_STACKS_H_
