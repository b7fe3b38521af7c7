// SPDX-License-Identifier: Apache-2.0
// Looks for files first, then for built-in ones.
#include "report/choose.h"

#include <fnmatch.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "report/builtin.h"
#include "stimulus/page.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

bool IsFile(const std::string& target) {
  return target.find('/') != std::string::npos || target.ends_with(".toml");
}

// The directories of profiles and waivers are siblings of the directory of targets.
std::string SiblingFolder(const std::string& target, const char* folder) {
  if (!IsFile(target)) return "";
  const std::filesystem::path path(target);
  return (path.parent_path() / ".." / folder).lexically_normal().string();
}

std::set<std::string> KnownIn(const std::string& folder, std::string_view builtin) {
  std::set<std::string> known;
  std::error_code error;
  if (!folder.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") known.insert(entry.path().stem());
    }
  }
  for (const BuiltinFile& file : BuiltinFiles()) {
    if (file.folder == builtin) known.emplace(file.name);
  }
  return known;
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::string BuiltinPath(const BuiltinFile& file) {
  return "built-in " + std::string(file.folder) + "/" + std::string(file.name) + ".toml";
}

// A built-in target has a built-in base, independent of files on this machine.
std::optional<TargetText> FindBuiltinBase(const std::string& name, const std::string& /*path*/) {
  const BuiltinFile* const file = FindBuiltin("targets", name);
  if (file == nullptr) return std::nullopt;
  return TargetText{BuiltinPath(*file), std::string(file->text)};
}

// Finds the base of a target file: in the same directory, or else built in.
std::optional<TargetText> FindFileBase(const std::string& name, const std::string& path) {
  auto sibling = FindInSameFolder(name, path);
  return sibling ? std::move(sibling) : FindBuiltinBase(name, path);
}

TargetSource SourceOf(const BuiltinFile& file) {
  return {{BuiltinPath(file), std::string(file.text)}, FindBuiltinBase};
}

Target Parse(const TargetSource& source) {
  return Target::Parse(source.file.text, source.file.path, source.find_base);
}

}  // namespace

Target LoadTarget(const std::string& target) { return Parse(FindTarget(target)); }

TargetSource FindTarget(const std::string& target) {
  if (!IsFile(target)) {
    const BuiltinFile* const file = FindBuiltin("targets", target);
    if (file != nullptr) return SourceOf(*file);
    throw ConfigError("unknown target '" + target + "' (known: " + Joined(KnownIn("", "targets")) +
                      ", or the path of a file)");
  }
  if (std::filesystem::exists(target)) {
    auto text = ReadFile(target);
    if (!text) throw ConfigError(target + ": cannot be read");
    return {{target, std::move(*text)}, FindFileBase};
  }
  const auto folder = std::filesystem::path(target).parent_path();
  std::ostringstream known;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    if (entry.path().extension() == ".toml") known << " " << entry.path().string();
  }
  throw ConfigError("unknown target file '" + target +
                    "' (known:" + (known.str().empty() ? " none there" : known.str()) + ")");
}

std::string TargetForPmu(const std::string& pmu) {
  std::set<std::string> fit;
  for (const BuiltinFile& file : BuiltinFiles()) {
    if (file.folder != "targets") continue;
    const Target target = Parse(SourceOf(file));
    if (fnmatch(target.match().c_str(), pmu.c_str(), 0) != 0) continue;
    // A port page belongs to a model. On hardware its address may be that of another device.
    if (ParsePagePath(target.port_path())) continue;
    if (file.name == pmu) return pmu;
    // A name like "cpu" belongs to different processors. So a target with a port matches only if
    // that port exists, and another one only by a pattern.
    const std::string& port = target.port_path();
    if (port.empty() ? target.match() != pmu : std::filesystem::exists(port)) {
      fit.emplace(file.name);
    }
  }
  if (fit.empty()) return "";
  if (fit.size() == 1) return *fit.begin();
  throw ConfigError("several targets are for PMU '" + pmu + "': choose one with --target (" +
                    Joined(fit) + ")");
}

Profile ChooseProfile(const std::string& target, const std::string& name) {
  const std::string folder = SiblingFolder(target, "profiles");
  if (name.empty() || (!folder.empty() && std::filesystem::exists(folder + "/" + name + ".toml"))) {
    return LoadProfile(folder, name, AllRules());
  }
  if (const BuiltinFile* const file = FindBuiltin("profiles", name)) {
    return ParseProfile(file->text, BuiltinPath(*file), AllRules());
  }
  throw ConfigError("unknown profile '" + name +
                    "' (known: " + Joined(KnownIn(folder, "profiles")) + ")");
}

std::vector<Waiver> ChooseWaivers(const std::string& target) {
  std::vector<Owner> owners;
  if (const BuiltinFile* const file = FindBuiltin("waivers", std::string(kOwners))) {
    owners = ParseOwners(file->text, BuiltinPath(*file));
  }
  const std::string folder = SiblingFolder(target, "waivers");
  if (!folder.empty() && std::filesystem::is_directory(folder)) return LoadWaivers(folder, owners);
  std::vector<Waiver> waivers;
  for (const BuiltinFile& file : BuiltinFiles()) {
    if (file.folder != "waivers" || file.name == kOwners) continue;
    for (Waiver& waiver : ParseWaivers(file.text, BuiltinPath(file), owners)) {
      waivers.push_back(std::move(waiver));
    }
  }
  return waivers;
}

}  // namespace pmuconf
