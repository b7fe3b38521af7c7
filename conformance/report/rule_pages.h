// SPDX-License-Identifier: Apache-2.0
// Writes the facts about all rules as Markdown: one page, or a page for each area and an index.
#ifndef PMUCONF_REPORT_RULE_PAGES_H_
#define PMUCONF_REPORT_RULE_PAGES_H_

#include <map>
#include <string>

#include "report/rule_facts.h"

namespace pmuconf {

// Returns docs/generated/rules.md with every rule. Its links are relative to that folder.
std::string OnePage(const FactSources& sources);

// Returns the pages of build/rules by file name: <AREA>.md, and README.md with a table of all
// rules. Links are relative to that folder.
std::map<std::string, std::string> AreaPages(const FactSources& sources);

// Writes the pages of AreaPages() into `folder`, which it creates if needed. Throws ConfigError
// with the name of a file that it could not write.
void WriteAreaPages(const FactSources& sources, const std::string& folder);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_RULE_PAGES_H_
