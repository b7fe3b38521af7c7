// SPDX-License-Identifier: Apache-2.0
// Finds what the control page of an event states about the counters.
#include <sys/mman.h>
#include <unistd.h>

#include <optional>

#include "system/sysfs.h"
#include "target/probe/experiments.h"

namespace pmuconf {
namespace {

struct PageFacts {
  bool user_reads = false;
  unsigned width = 0;
};

// Reads the page of an enabled event. nullopt if it cannot be opened or mapped.
std::optional<PageFacts> ReadPage(const ProbedPmu& pmu, const EventSpec& spec) {
  const OpenResult opened = pmu.Open(spec, {.disabled = false});
  if (!opened.ok()) return std::nullopt;
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const base = mmap(nullptr, size, PROT_READ, MAP_SHARED, opened.event.fd(), 0);
  if (base == MAP_FAILED) return std::nullopt;
  const auto* const page = static_cast<const volatile perf_event_mmap_page*>(base);
  const PageFacts facts = {page->cap_user_rdpmc != 0, page->pmc_width};
  munmap(base, size);
  return facts;
}

// Stores the width that a page states. A page without user reads states none.
void TakeWidth(const PageFacts& page, const std::string& how, PmuFacts* facts) {
  if (!page.user_reads || page.width < 16 || page.width > 64) return;
  facts->width = {page.width, 0, how, Sure::kRead};
}

// On arm64 user space can read only counters of events that ask for it, in a format called rdpmc.
void TryRequestedReads(const ProbedPmu& pmu, PmuFacts* facts) {
  const auto fields = ReadFormats(FolderOf(facts->device));
  const auto field = fields.find("rdpmc");
  if (field == fields.end()) return;
  const auto bits = field->second.Encode(1);
  if (!bits || field->second.config != 1) return;
  EventSpec spec = facts->events.front().spec;
  spec.config1 |= *bits;
  const auto page = ReadPage(pmu, spec);
  facts->feature_notes.push_back(
      {"user_reads with rdpmc = 1", page && page->user_reads ? "true" : "false",
       page ? "cap_user_rdpmc of a mapped page whose event sets the format rdpmc"
            : "an event with the format rdpmc does not open: a sysctl may forbid it",
       Sure::kRead});
  if (page) TakeWidth(*page, "pmc_width of a mapped page whose event sets the format rdpmc", facts);
}

}  // namespace

void FindWidth(const ProbedPmu& pmu, PmuFacts* facts) {
  facts->width = {64, 0, "unknown; 64 claims nothing", Sure::kDefault};
  facts->user_reads = {0, 0, "no control page can be mapped", Sure::kDefault};
  const auto page = ReadPage(pmu, facts->events.front().spec);
  if (!page) return;
  facts->user_reads = {page->user_reads ? 1U : 0U, 0, "cap_user_rdpmc of a mapped page",
                       Sure::kRead};
  TakeWidth(*page, "pmc_width of a mapped page", facts);
  if (!page->user_reads) TryRequestedReads(pmu, facts);
}

}  // namespace pmuconf
