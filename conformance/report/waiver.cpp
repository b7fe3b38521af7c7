// SPDX-License-Identifier: Apache-2.0
// Reads waivers.
#include "report/waiver.h"

#include <fnmatch.h>

#include <algorithm>
#include <ctime>
#include <regex>
#include <utility>

#include "arch/machines.h"
#include "system/sysfs.h"
#include "target/expression.h"
#include "target/target.h"
#include "target/toml_table.h"

namespace pmuconf {

namespace {

bool FitsOne(const std::vector<std::string>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), std::string(name).c_str(), 0) == 0;
  });
}

// Reads the results that a waiver accepts. A result without an answer cannot be waived.
std::vector<Result> Results(TomlTable& scope) {
  std::vector<Result> results;
  for (const std::string& name : scope.StringsOr("result", {"FAIL"})) {
    const auto result = ResultFromString(name);
    if (result != Result::kFail && result != Result::kCrash && result != Result::kTimeout) {
      scope.Fail("result", "must be of FAIL, CRASH and TIMEOUT");
    }
    results.push_back(*result);
  }
  if (results.empty()) scope.Fail("result", "must be of FAIL, CRASH and TIMEOUT");
  return results;
}

// Returns the address of the waiver's owner.
std::string ContactOf(const TomlTable& table, const std::string& name,
                      std::span<const Owner> owners) {
  std::string known;
  for (const Owner& owner : owners) {
    if (owner.name == name) return owner.contact;
    known += (known.empty() ? "" : ", ") + owner.name;
  }
  table.Fail("owner", "must be one of " + known + " (owners.toml), not '" + name + "'");
}

std::string ReadOrFail(const std::string& path) {
  auto text = ReadFile(path);
  if (!text) throw ConfigError(path + ": cannot be read");
  return std::move(*text);
}

}  // namespace

std::string Waiver::Text() const {
  return (bug ? "known: " + bug->Fixed() + "\n" : "") + "waiver " + id + ": " + reason + " (" +
         link + ")\nowner: " + owner + ", " + contact;
}

bool Waiver::Accepts(Result result) const {
  return std::find(results.begin(), results.end(), result) != results.end();
}

bool Waiver::Covers(std::string_view case_id, std::string_view target_name,
                    std::string_view release, std::string_view machine) const {
  return (arch.empty() || arch == machine) && KernelMatches(kernels, release) &&
         FitsOne(targets, target_name) && FitsOne(cases, case_id);
}

std::vector<Owner> ParseOwners(std::string_view text, const std::string& path) {
  static const std::regex kContact("[^@\\s]+@[^@\\s]+\\.[a-z]+|https://\\S+|\\S+\\.md#\\S+");
  const toml::table file = ParseToml(text, path);
  TomlTable root(file, path, "");
  std::vector<Owner> owners;
  for (TomlTable& table : root.Tables("owner")) {
    Owner owner;
    owner.name = table.String("name");
    owner.contact = table.String("contact");
    owner.who = table.String("who");
    if (!std::regex_match(owner.contact, kContact)) {
      table.Fail("contact", "must be an e-mail address, an https:// address or FILE.md#SECTION");
    }
    if (std::any_of(owners.begin(), owners.end(),
                    [&](const Owner& one) { return one.name == owner.name; })) {
      table.Fail("name", "occurs twice: '" + owner.name + "'");
    }
    table.Finish();
    owners.push_back(std::move(owner));
  }
  root.Finish();
  return owners;
}

std::vector<Waiver> ParseWaivers(std::string_view text, const std::string& path,
                                 std::span<const Owner> owners) {
  static const std::regex kDate("20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])");
  const toml::table file = ParseToml(text, path);
  TomlTable root(file, path, "");
  std::vector<Waiver> waivers;
  for (TomlTable& table : root.Tables("waiver")) {
    Waiver waiver;
    waiver.id = table.String("id");
    waiver.owner = table.String("owner");
    waiver.contact = ContactOf(table, waiver.owner, owners);
    waiver.reason = table.String("reason");
    waiver.link = table.String("link");
    waiver.expires = table.String("expires");
    if (!std::regex_match(waiver.expires, kDate)) {
      table.Fail("expires", "must be a date like \"2027-01-31\"");
    }
    auto scope = table.Table("scope");
    if (!scope) table.Fail("scope", "is missing");
    waiver.cases = scope->OneOrMore("case");
    waiver.targets = scope->OneOrMore("target");
    waiver.kernels = scope->StringOr("kernels", ">=6.1");
    if (auto kernel = table.Table("kernel")) {
      if (waiver.kernels != ">=6.1") scope->Fail("kernels", "does not go with the table kernel");
      waiver.bug = ReadKernelBug(&*kernel);
      kernel->Finish();
    }
    try {
      KernelMatches(waiver.kernels, "6.1");
    } catch (const ConfigError&) {
      scope->Fail("kernels", "must be like \">=6.1\" or \">=6.1,<6.12\"");
    }
    waiver.arch = scope->StringOr("arch", "");
    if (!waiver.arch.empty() && !processor::IsMachine(waiver.arch)) {
      scope->Fail("arch", "must be a machine: " + processor::ListOfMachines());
    }
    waiver.results = Results(*scope);
    scope->Finish();
    table.Finish();
    waivers.push_back(std::move(waiver));
  }
  root.Finish();
  return waivers;
}

std::vector<Waiver> LoadWaivers(const std::string& folder, std::span<const Owner> more) {
  const std::string owners_file = std::string(kOwners) + ".toml";
  const std::vector<std::string> files = ListFolder(folder);
  std::vector<Owner> owners;
  if (std::find(files.begin(), files.end(), owners_file) != files.end()) {
    const std::string path = folder + "/" + owners_file;
    owners = ParseOwners(ReadOrFail(path), path);
  }
  for (const Owner& one : more) {
    if (std::none_of(owners.begin(), owners.end(),
                     [&](const Owner& own) { return own.name == one.name; })) {
      owners.push_back(one);
    }
  }
  std::vector<Waiver> all;
  for (const std::string& file : files) {
    if (!file.ends_with(".toml") || file == owners_file) continue;
    const std::string path = folder + "/" + file;
    for (Waiver& waiver : ParseWaivers(ReadOrFail(path), path, owners))
      all.push_back(std::move(waiver));
  }
  return all;
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &utc);
  return text;
}

}  // namespace pmuconf
