// SPDX-License-Identifier: Apache-2.0
// The result of a system call, and the steps that all calls share.
#ifndef PMUCONF_LIES_CALL_RESULT_H_
#define PMUCONF_LIES_CALL_RESULT_H_

#include <cerrno>

#include "lies/liar.h"

namespace pmuconf {

// A result >= 0, or an errno.
struct CallResult {
  long result = 0;
  int error = 0;

  // Sets errno and returns the value of the C library's function.
  long Return() const {
    if (error != 0) errno = error;
    return error != 0 ? -1 : result;
  }
};

inline CallResult ResultOfCall(long returned) {
  return returned < 0 ? CallResult{-1, errno} : CallResult{returned, 0};
}

// Makes a call under a lie. `slots` has the fields of the request; `ask` makes the call with them
// and returns its CallResult; `told` adds fields of the answer before the conditions are evaluated;
// `applied` runs if the lie applies, after the changes of the answer.
template <typename Ask, typename Told, typename Applied>
CallResult CallWithLie(Liar* liar, Slots* slots, const Ask& ask, const Told& told,
                       const Applied& applied) {
  const LieEffect& effect = liar->effect();
  CallResult outcome;
  bool applies = effect.before() && liar->Applies(*slots);
  if (applies) liar->ChangeRequest(slots);
  if (!applies || !effect.swallow) outcome = ask();
  slots->Add("result", &outcome.result);
  slots->Add("error", &outcome.error);
  told(outcome);
  if (!effect.before()) applies = liar->Applies(*slots);
  if (!applies) return outcome;
  liar->ChangeAnswer(slots);
  applied(&outcome);
  return outcome;
}

}  // namespace pmuconf

#endif  // PMUCONF_LIES_CALL_RESULT_H_
