// SPDX-License-Identifier: Apache-2.0
// Finds, opens and reads modules.
#include "tools/profile/module_table.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "perf/ring.h"

namespace pmuconf::profile {
namespace {

constexpr const char* kVdso = "[vdso]";
constexpr std::string_view kDeleted = " (deleted)";

bool IsInode(int fd, std::uint64_t inode) {
  struct stat status = {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == inode;
}

Fd OpenModule(std::uint32_t pid, const Mapping& mapping) {
  const FileKey& key = mapping.file;
  if (key.path.empty() || key.path[0] != '/' || key.inode == 0) return Fd();
  char name[96];
  std::snprintf(name, sizeof(name), "/proc/%u/map_files/%llx-%llx", pid,
                static_cast<unsigned long long>(mapping.begin),
                static_cast<unsigned long long>(mapping.end));
  const std::string root = "/proc/" + std::to_string(pid) + "/root";
  // An open must neither wake a device nor block on a pipe. Neither has symbols.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  for (const std::string& path : {std::string(name), root + key.path, key.path}) {
    Fd file(open(path.c_str(), kFlags));
    if (file.get() >= 0 && IsInode(file.get(), key.inode)) return file;
  }
  return Fd();
}

// The vDSO is the same in all processes.
std::span<const char> VdsoImage() {
  const auto* const image = std::bit_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) return {};
  return {image, 2 * PageSize()};
}

}  // namespace

std::string Demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string demangled = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return demangled;
}

std::uint32_t ModuleTable::Find(std::uint32_t pid, const Mapping& mapping) {
  const FileKey& key = mapping.file;
  const auto next = static_cast<std::uint32_t>(modules_.size());
  const auto [entry, fresh] =
      ids_.emplace(std::tuple(key.major, key.minor, key.inode, key.path), next);
  if (fresh) {
    modules_.push_back(std::make_unique<Module>());
    modules_.back()->key = key;
  }
  Module& module = *modules_[entry->second];
  // If the open failed, the file may be accessible through another process.
  if (!module.read && module.file.get() < 0) module.file = OpenModule(pid, mapping);
  return entry->second;
}

void ModuleTable::Read(Module& module) {
  module.read = true;
  if (module.key.path == kVdso) {
    module.symbols = ElfSymbols::Open(VdsoImage());
  } else if (module.file.get() >= 0) {
    const int fd = module.file.get();
    if (inlines_) module.inlines = Inlines::Open(Fd(fcntl(fd, F_DUPFD_CLOEXEC, 0)));
    module.symbols = ElfSymbols::Open(std::move(module.file));
  }
}

bool ModuleTable::HasFile(std::uint32_t id) {
  Module& module = *modules_[id];
  if (!module.read) Read(module);
  return module.symbols.has_value();
}

const Resolved& ModuleTable::Resolve(std::uint32_t id, std::uint64_t file_offset) {
  Module& module = *modules_[id];
  const auto [entry, fresh] = module.known.try_emplace(file_offset);
  Resolved& resolved = entry->second;
  if (!fresh) return resolved;
  if (!module.read) Read(module);
  std::string path = module.key.path;
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  if (path.empty()) path = "[anonymous]";
  Frame frame = {.kind = FrameKind::kUser, .name = Frame::kUnknown, .module = path, .offset = 0};
  // Code without a file has no stable offset, so it gets one common frame.
  if (path[0] == '/') frame.offset = file_offset;
  resolved.cacheable = module.symbols.has_value();
  const auto address = module.symbols ? module.symbols->Address(file_offset) : std::nullopt;
  const auto symbol = address ? module.symbols->Find(*address) : std::nullopt;
  if (symbol) {
    if (module.inlines != nullptr) {
      for (const std::string& name : module.inlines->At(*address)) {
        resolved.frames.push_back(store_.Intern(
            {.kind = FrameKind::kInlined, .name = Demangle(name), .module = path, .offset = 0}));
      }
    }
    frame.name = Demangle(symbol->name);
    frame.offset = symbol->offset;
  }
  resolved.offset = frame.offset;
  resolved.frames.push_back(store_.Intern(frame));
  return resolved;
}

std::vector<ModuleInfo> ModuleTable::Used() const {
  std::vector<ModuleInfo> used;
  for (const auto& module : modules_) {
    if (!module->known.empty()) {
      used.push_back({module->key.path, module->symbols ? module->symbols->build_id() : ""});
    }
  }
  return used;
}

}  // namespace pmuconf::profile
