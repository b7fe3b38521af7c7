// SPDX-License-Identifier: Apache-2.0
// Counted stacks, as a tree in which stacks share the nodes of common frames.
#ifndef PMUCONF_TOOLS_PROFILE_STACK_STORE_H_
#define PMUCONF_TOOLS_PROFILE_STACK_STORE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/profile/frame.h"

namespace pmuconf::profile {

using FrameId = std::uint32_t;

struct Count {
  std::uint64_t samples = 0;
  std::uint64_t events = 0;  // sum of the samples' periods

  Count& operator+=(const Count& other) {
    samples += other.samples;
    events += other.events;
    return *this;
  }
};

class StackStore {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId kRoot = 0;

  struct Node {
    NodeId parent = kRoot;
    FrameId frame = 0;
    Count self;  // stacks that end here
  };

  StackStore() : nodes_(1) {}

  // Frames with the same label and module get the same id; the offset of the first one stays.
  FrameId Intern(const Frame& frame);
  const Frame& frame(FrameId id) const { return frames_[id]; }
  const std::string& label(FrameId id) const { return labels_[id]; }
  std::size_t frames() const { return frames_.size(); }

  // Place() returns the node of a stack, outermost frame first. Add() counts a sample of it.
  NodeId NodeOf(std::span<const FrameId> stack);
  void Add(NodeId node, std::uint64_t events);
  void Add(std::span<const FrameId> stack, std::uint64_t events) { Add(NodeOf(stack), events); }

  const std::vector<Node>& nodes() const { return nodes_; }  // parents come before their children
  std::vector<FrameId> Stack(NodeId node) const;             // outermost frame first
  Count Total() const { return total_; }

 private:
  std::vector<Frame> frames_;
  std::vector<std::string> labels_;
  std::unordered_map<std::string, FrameId> ids_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, NodeId> children_;  // by parent and frame
  Count total_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_STACK_STORE_H_
