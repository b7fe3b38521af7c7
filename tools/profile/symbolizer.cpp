// SPDX-License-Identifier: Apache-2.0
// Resolves addresses to frames, with caches.
#include "tools/profile/symbolizer.h"

#include <charconv>
#include <fstream>

#include "system/sysfs.h"

namespace pmuconf::profile {
namespace {

// An unknown address may be in a new module, so kallsyms is read again. This limit bounds the cost
// of invalid addresses.
constexpr unsigned kKernelRereads = 16;

}  // namespace

Symbolizer::Symbolizer(StackStore& store, bool inlines) : store_(store), modules_(store, inlines) {
  ReadKernel();
}

void Symbolizer::ReadKernel() {
  std::ifstream kallsyms("/proc/kallsyms");
  std::ifstream modules("/proc/modules");
  kernel_.Read(kallsyms, modules);
}

void Symbolizer::ReadMappings(std::uint32_t pid) {
  if (processes_.IsKnown(pid)) return;
  processes_.Begin(pid);
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::string line;
  while (std::getline(maps, line)) {
    const auto mapping = ParseMapsLine(line);
    if (!mapping) continue;
    processes_.Map(
        pid, {mapping->begin, mapping->end, mapping->file_offset, modules_.Find(pid, *mapping)});
  }
}

void Symbolizer::ReadAllMappings() {
  for (const std::string& name : ListFolder("/proc")) {
    std::uint32_t pid = 0;
    const char* const end = name.data() + name.size();
    const auto [at, error] = std::from_chars(name.data(), end, pid);
    if (error == std::errc() && at == end) ReadMappings(pid);
  }
}

void Symbolizer::Prefetch(const SideRecord& record) {
  if (record.kind == SideRecord::Kind::kMap) modules_.Find(record.pid, record.mapping);
}

void Symbolizer::Apply(const SideRecord& record) {
  switch (record.kind) {
    case SideRecord::Kind::kMap: {
      const Mapping& mapping = record.mapping;
      // /proc has the mappings from before the start of this program, unless the process has
      // exited.
      ReadMappings(record.pid);
      processes_.Map(record.pid, {mapping.begin, mapping.end, mapping.file_offset,
                                  modules_.Find(record.pid, mapping)});
      break;
    }
    case SideRecord::Kind::kExec:
      RemoveProcess(record.pid);
      processes_.Begin(record.pid);
      break;
    case SideRecord::Kind::kFork:
      if (record.pid != record.parent_pid) processes_.Fork(record.parent_pid, record.pid);
      break;
    case SideRecord::Kind::kExit:
      if (record.pid == record.tid) {
        RemoveProcess(record.pid);
        processes_.End(record.pid);
      }
      break;
    case SideRecord::Kind::kThrottle:
    case SideRecord::Kind::kLost:
      break;
  }
}

const Resolved& Symbolizer::Kernel(std::uint64_t address) {
  const auto [entry, fresh] = kernel_resolved_.try_emplace(address);
  Resolved& resolved = entry->second;
  if (!fresh) return resolved;
  auto frame = kernel_.Find(address);
  if (!frame && kernel_rereads_ < kKernelRereads) {
    ++kernel_rereads_;
    ReadKernel();
    frame = kernel_.Find(address);
  }
  if (!frame) {
    frame = Frame{.kind = FrameKind::kKernel,
                  .name = Frame::kUnknown,
                  .module = "[kernel]",
                  .offset = address};
  }
  resolved.offset = frame->offset;
  resolved.frames.push_back(store_.Intern(*frame));
  return resolved;
}

const Resolved& Symbolizer::User(std::uint32_t pid, std::uint64_t address) {
  ReadMappings(pid);
  const AddressSpace* const space = processes_.Find(pid);
  const Mapped* const mapped = space == nullptr ? nullptr : space->Find(address);
  if (mapped != nullptr) {
    if (!modules_.HasFile(mapped->module)) {
      if (const Resolved* const made = FindGenerated(pid, address)) return *made;
    }
    return modules_.Resolve(mapped->module, address - mapped->begin + mapped->file_offset);
  }
  // Unmapped addresses share one frame, because there may be very many different ones.
  if (unmapped_.frames.empty()) {
    unmapped_.frames.push_back(
        store_.Intern({.kind = FrameKind::kUser, .name = "[unmapped]", .module = "", .offset = 0}));
  }
  return unmapped_;
}

const Resolved* Symbolizer::FindGenerated(std::uint32_t pid, std::uint64_t address) {
  const auto known = generated_.find(pid);
  if (known != generated_.end()) {
    const auto resolved = known->second.find(address);
    if (resolved != known->second.end()) return &resolved->second;
  }
  const auto symbol = perf_maps_.Find(pid, address);
  if (!symbol) return nullptr;
  Resolved& resolved = generated_[pid][address];
  resolved.offset = symbol->offset;
  resolved.frames.push_back(store_.Intern({.kind = FrameKind::kUser,
                                           .name = Demangle(symbol->name),
                                           .module = "[made]",
                                           .offset = symbol->offset}));
  return &resolved;
}

void Symbolizer::RemoveProcess(std::uint32_t pid) {
  generated_.erase(pid);
  perf_maps_.RemoveProcess(pid);
}

FrameId Symbolizer::Command(const std::string& comm) {
  const auto [entry, fresh] = commands_.try_emplace(comm);
  if (fresh) {
    entry->second =
        store_.Intern({.kind = FrameKind::kCommand, .name = comm, .module = "", .offset = 0});
  }
  return entry->second;
}

}  // namespace pmuconf::profile
