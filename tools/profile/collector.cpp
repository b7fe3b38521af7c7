// SPDX-License-Identifier: Apache-2.0
// Sorts samples and records, resolves addresses, and counts stacks.
#include "tools/profile/collector.h"

#include <algorithm>
#include <cstring>

namespace pmuconf::profile {

void Collector::Add(std::span<const std::byte> bytes) {
  const auto head = ParseHead(bytes);
  if (!head) {
    ++broken_;
    return;
  }
  waiting_.push_back({head->time_ns, static_cast<std::uint32_t>(bytes_.size()),
                      static_cast<std::uint32_t>(bytes.size())});
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void Collector::Add(const SideRecord& record) {
  switch (record.kind) {
    case SideRecord::Kind::kThrottle:
      ++throttled_;
      return;
    case SideRecord::Kind::kLost:
      records_lost_ += record.lost;
      return;
    default:
      symbolizer_.Prefetch(record);
      waiting_.push_back({record.time_ns, static_cast<std::uint32_t>(records_.size()), 0});
      records_.push_back(record);
  }
}

void Collector::ProcessUntil(std::uint64_t time_ns,
                             const std::function<void(const SideRecord&)>& applied) {
  const auto earlier = [](const Item& a, const Item& b) { return a.time_ns < b.time_ns; };
  // The samples of one CPU usually arrive in order.
  if (!std::is_sorted(waiting_.begin(), waiting_.end(), earlier)) {
    std::stable_sort(waiting_.begin(), waiting_.end(), earlier);
  }
  const auto later = std::upper_bound(
      waiting_.begin(), waiting_.end(), time_ns,
      [](std::uint64_t limit_ns, const Item& item) { return limit_ns < item.time_ns; });
  for (auto item = waiting_.begin(); item != later; ++item) {
    if (item->bytes == 0) {
      Apply(records_[item->at]);
      applied(records_[item->at]);
    } else {
      Count(std::span(bytes_).subspan(item->at, item->bytes));
    }
  }
  waiting_.erase(waiting_.begin(), later);
  DiscardProcessed();
}

// Removes the bytes and records before the first waiting item.
void Collector::DiscardProcessed() {
  auto sample = static_cast<std::uint32_t>(bytes_.size());
  auto record = static_cast<std::uint32_t>(records_.size());
  for (const Item& item : waiting_) {
    std::uint32_t& least = item.bytes == 0 ? record : sample;
    least = std::min(least, item.at);
  }
  bytes_.erase(bytes_.begin(), bytes_.begin() + sample);
  records_.erase(records_.begin(), records_.begin() + record);
  for (Item& item : waiting_) item.at -= item.bytes == 0 ? record : sample;
}

void Collector::Apply(const SideRecord& record) {
  symbolizer_.Apply(record);
  const bool thread_alone =
      (record.kind == SideRecord::Kind::kFork && record.pid == record.parent_pid) ||
      (record.kind == SideRecord::Kind::kExit && record.pid != record.tid);
  if (!thread_alone) known_.RemoveProcess(record.pid);
}

void Collector::Count(std::span<const std::byte> bytes) {
  profile_sample head;
  std::memcpy(&head, bytes.data(), sizeof(head));
  // Includes the length of the kernel stack in the digest, because it separates kernel from user
  // addresses.
  const std::uint64_t end = std::uint64_t{head.kernel_bytes} + 1;
  const auto digest =
      Digest(bytes.subspan(sizeof(head)),
             Digest(std::as_bytes(std::span(head.comm)), {.key = end, .check = end}));
  const auto known = text_ == nullptr ? known_.Find(head.pid, digest) : std::nullopt;
  if (known) {
    stacks_.Add(*known, head.period);
    return;
  }
  const auto sample = ParseSample(bytes);
  if (!sample) return;  // Add() counts invalid samples
  bool cacheable = true;
  const auto node = Resolve(*sample, cacheable);
  if (cacheable) known_.Add(head.pid, digest, node);
  stacks_.Add(node, head.period);
}

StackStore::NodeId Collector::Resolve(const RawSample& sample, bool& cacheable) {
  const std::string comm = sample.Command();
  const std::uint32_t pid = sample.head.pid;
  stack_.assign(1, symbolizer_.Command(comm));
  SampleText text = {.comm = comm, .pid = pid, .cpu = sample.head.cpu, .kernel = {}, .user = {}};
  const auto add = [&](const Resolved& resolved) {
    stack_.insert(stack_.end(), resolved.frames.rbegin(), resolved.frames.rend());
    cacheable = cacheable && resolved.cacheable;
  };
  // Resolves a caller at the call: its return address may belong to another line or function.
  for (std::size_t i = sample.user.size(); i-- > 0;) {
    const Resolved& resolved = symbolizer_.User(pid, sample.user[i] - (i == 0 ? 0 : 1));
    add(resolved);
    if (text_ != nullptr) text.user.push_back({sample.user[i], &resolved, i != 0});
  }
  for (std::size_t i = sample.kernel.size(); i-- > 0;) {
    const Resolved& resolved = symbolizer_.Kernel(sample.kernel[i] - (i == 0 ? 0 : 1));
    add(resolved);
    if (text_ != nullptr) text.kernel.push_back({sample.kernel[i], &resolved, i != 0});
  }
  const auto node = stacks_.NodeOf(stack_);
  if (text_ != nullptr) {
    std::reverse(text.user.begin(), text.user.end());
    std::reverse(text.kernel.begin(), text.kernel.end());
    WriteSample(text, stacks_, *text_);
  }
  return node;
}

}  // namespace pmuconf::profile
