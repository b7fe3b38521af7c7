// SPDX-License-Identifier: Apache-2.0
// Alters records, pages, counters, and texts of files.
#include "lies/answers.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>

#include "lies/bpf_memory.h"
#include "lies/events.h"
#include "lies/record_slots.h"
#include "perf/answers.h"
#include "system/answers.h"

namespace pmuconf {
namespace {

void Records(const perf_event_attr& attr, std::vector<Record>* records) {
  if (Liar* const liar = LiarAbout(LieCall::kRecord)) LieAboutRecords(liar, attr, records);
}

// A copy of each page, which receives the kernel's current values at each access.
const volatile perf_event_mmap_page* UserPage(const perf_event_attr& attr,
                                              const volatile perf_event_mmap_page* page) {
  static std::map<const volatile void*, perf_event_mmap_page> copies;
  Liar* const liar = LiarAbout(LieCall::kPage);
  if (liar == nullptr) return page;
  perf_event_mmap_page& copy = copies[page];
  auto* const bytes = reinterpret_cast<volatile std::uint64_t*>(&copy);
  const auto* const from = reinterpret_cast<const volatile std::uint64_t*>(page);
  for (std::size_t i = 0; i < sizeof(copy) / 8; ++i) bytes[i] = from[i];
  perf_event_attr own = attr;
  Slots slots;
  AddPage(reinterpret_cast<std::byte*>(&copy), &slots);
  AddAttr(reinterpret_cast<std::byte*>(&own), sizeof(own), &slots);
  if (liar->Applies(slots)) liar->ChangeAnswer(&slots);
  return &copy;
}

void Counter(std::uint32_t counter, std::uint64_t* value) {
  Liar* const liar = LiarAbout(LieCall::kCounter);
  if (liar == nullptr) return;
  Slots slots;
  slots.AddFact("counter", counter);
  slots.Add("value", value);
  if (liar->Applies(slots)) liar->ChangeAnswer(&slots);
}

void SetResult(const LieEffect& effect, SysResult* result) {
  if (!effect.error) return;
  if (*effect.error != 0) result->value = -1;
  if (*effect.error == 0 && result->error != 0) result->value = 0;
  result->error = *effect.error;
}

void CompatOpenAnswer(std::uint32_t attr, SysResult* result) {
  Liar* const liar = LiarAbout(LieCall::kOpen);
  auto* const bytes = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(attr));
  if (liar == nullptr || liar->effect().before()) return;
  Slots slots;
  AddAttr(bytes, PERF_ATTR_SIZE_VER0, &slots);
  slots.AddFact("compat", 1);
  slots.Add("result", &result->value);
  slots.Add("error", &result->error);
  if (liar->Applies(slots)) SetResult(liar->effect(), result);
}

void CompatIoctlAnswer(int fd, std::uint32_t request, SysResult* result) {
  Liar* const liar = LiarAbout(LieCall::kIoctl);
  if (liar == nullptr || liar->effect().before() || !IsEvent(fd)) return;
  Slots slots;
  slots.AddFact("request", request);
  slots.AddFact("compat", 1);
  AddAttrOf(fd, &slots);
  slots.Add("result", &result->value);
  slots.Add("error", &result->error);
  if (liar->Applies(slots)) SetResult(liar->effect(), result);
}

void File(const std::string& path, std::optional<std::string>* text) {
  if (Liar* const liar = LiarAbout(LieCall::kFile)) LieAboutFile(liar, path, text);
}

void Folder(const std::string& path, std::vector<std::string>* names) {
  if (Liar* const liar = LiarAbout(LieCall::kFolder)) LieAboutFolder(liar, path, names);
}

void BpfMemory(bpf_object* object) {
  if (Liar* const liar = LiarAbout(LieCall::kBpfMemory)) LieAboutBpfMemory(liar, object);
}

}  // namespace

void LieAboutRecords(Liar* liar, const perf_event_attr& attr, std::vector<Record>* records) {
  const LieEffect& effect = liar->effect();
  perf_event_attr own = attr;
  std::vector<Record> told;
  std::optional<Record> late;
  for (Record& record : *records) {
    Slots slots;
    AddRecord(&record, own, &slots);
    AddAttr(reinterpret_cast<std::byte*>(&own), sizeof(own), &slots);
    const bool applies = liar->Applies(slots);
    if (applies) {
      liar->ChangeAnswer(&slots);
      record.body.resize(record.body.size() - std::min(effect.cut, record.body.size()));
      record.body.resize(record.body.size() + effect.grow);
    }
    if (applies && effect.drop) continue;
    if (applies && effect.twice) told.push_back(record);
    if (applies && effect.late && !late) {
      late = std::move(record);
      continue;
    }
    told.push_back(std::move(record));
    if (late) told.push_back(*std::exchange(late, std::nullopt));
  }
  if (late) told.push_back(*std::move(late));
  *records = std::move(told);
}

void LieAboutFile(Liar* liar, const std::string& path, std::optional<std::string>* text) {
  const LieEffect& effect = liar->effect();
  if (!MatchesPath(liar->lie().path, path) || !liar->Applies(Slots())) return;
  if (effect.absent) text->reset();
  if (effect.text) *text = *effect.text;
  if (effect.replace && *text) {
    const auto& [pattern, with] = *effect.replace;
    *text = std::regex_replace(**text, std::regex(pattern), with);
  }
}

void LieAboutFolder(Liar* liar, const std::string& path, std::vector<std::string>* names) {
  const LieEffect& effect = liar->effect();
  if (!MatchesPath(liar->lie().path, path) || !liar->Applies(Slots())) return;
  std::erase_if(*names, [&](const std::string& name) {
    return std::any_of(effect.hide.begin(), effect.hide.end(),
                       [&](const std::string& hidden) { return MatchesPath(hidden, name); });
  });
  names->insert(names->end(), effect.show.begin(), effect.show.end());
}

void HookAnswers() {
  file_answers() = {File, Folder};
  perf_answers() = {Records, UserPage, Counter, CompatOpenAnswer, CompatIoctlAnswer, BpfMemory};
}

}  // namespace pmuconf
