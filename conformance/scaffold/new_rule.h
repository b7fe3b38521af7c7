// SPDX-License-Identifier: Apache-2.0
// `pmuconf new rule`: a draft rule with the next free id of its area.
#ifndef PMUCONF_SCAFFOLD_NEW_RULE_H_
#define PMUCONF_SCAFFOLD_NEW_RULE_H_

#include <string>

#include "scaffold/change.h"
#include "scaffold/checkout.h"
#include "scaffold/rule_text.h"

namespace pmuconf::scaffold {

// `rule.id` is the area, for example "CNT". Throws ConfigError.
Scaffold NewRule(const Checkout& checkout, RuleText rule);

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_NEW_RULE_H_
