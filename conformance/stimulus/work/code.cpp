// SPDX-License-Identifier: Apache-2.0
// The places in the assembly of arch/<machine>.cpp.
#include "stimulus/work/code.h"

#include "arch/arch.h"

extern "C" {
#define PMUCONF_SYMBOLS(NAME)              \
  extern const char pmuconf_work_##NAME[]; \
  extern const char pmuconf_ladder_##NAME[]
PMUCONF_SYMBOLS(instructions);
PMUCONF_SYMBOLS(branches);
PMUCONF_SYMBOLS(loads);
PMUCONF_SYMBOLS(stores);
PMUCONF_SYMBOLS(calls);
}

namespace pmuconf {
namespace {

static_assert(kLadder == 64, "arch/work_code.h has 64 units");

struct Piece {
  const char* loop;
  const char* ladder;
  unsigned unit_size;  // bytes
};

Piece PieceOf(WorkKind kind) {
  constexpr processor::WorkUnitSizes kSizes = processor::kWorkUnitSizes;
  switch (kind) {
    case WorkKind::kInstructions:
      return {pmuconf_work_instructions, pmuconf_ladder_instructions, kSizes.instructions};
    case WorkKind::kBranches:
      return {pmuconf_work_branches, pmuconf_ladder_branches, kSizes.branches};
    case WorkKind::kLoads:
      return {pmuconf_work_loads, pmuconf_ladder_loads, kSizes.loads};
    case WorkKind::kStores:
      return {pmuconf_work_stores, pmuconf_ladder_stores, kSizes.stores};
    case WorkKind::kCalls:
      return {pmuconf_work_calls, pmuconf_ladder_calls, kSizes.calls};
  }
  return {};
}

}  // namespace

std::uint64_t LadderAddress(WorkKind kind, unsigned unit) {
  const Piece piece = PieceOf(kind);
  return reinterpret_cast<std::uint64_t>(piece.ladder + unit * piece.unit_size);
}

int LoadWork(pid_t pid, WorkKind kind, const WorkPlan& plan, std::uint64_t* memory) {
  const Piece piece = PieceOf(kind);
  const char* const start =
      plan.rounds > 0 ? piece.loop : piece.ladder + (kLadder - plan.single) * piece.unit_size;
  return processor::SetWorkRegisters(pid, start, plan.rounds, memory);
}

}  // namespace pmuconf
