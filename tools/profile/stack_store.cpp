// SPDX-License-Identifier: Apache-2.0
// The tree of stacks.
#include "tools/profile/stack_store.h"

#include <algorithm>

namespace pmuconf::profile {

FrameId StackStore::Intern(const Frame& frame) {
  // A command and a function can have the same name, and so can functions of two modules.
  std::string key = frame.Label();
  key += '\0' + frame.module + '\0' + (frame.kind == FrameKind::kCommand ? "c" : "");
  const auto next = static_cast<FrameId>(frames_.size());
  const auto [entry, fresh] = ids_.emplace(std::move(key), next);
  if (fresh) {
    frames_.push_back(frame);
    labels_.push_back(frame.Label());
  }
  return entry->second;
}

StackStore::NodeId StackStore::NodeOf(std::span<const FrameId> stack) {
  NodeId at = kRoot;
  for (const FrameId frame : stack) {
    const std::uint64_t key = static_cast<std::uint64_t>(at) << 32 | frame;
    const auto [child, fresh] = children_.try_emplace(key, static_cast<NodeId>(nodes_.size()));
    if (fresh) nodes_.push_back({.parent = at, .frame = frame, .self = {}});
    at = child->second;
  }
  return at;
}

void StackStore::Add(NodeId node, std::uint64_t events) {
  const Count one = {.samples = 1, .events = events};
  nodes_[node].self += one;
  total_ += one;
}

std::vector<FrameId> StackStore::Stack(NodeId node) const {
  std::vector<FrameId> stack;
  for (; node != kRoot; node = nodes_[node].parent) stack.push_back(nodes_[node].frame);
  std::reverse(stack.begin(), stack.end());
  return stack;
}

}  // namespace pmuconf::profile
