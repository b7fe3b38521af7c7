// SPDX-License-Identifier: Apache-2.0
// Text as content and attributes of XML.
#ifndef PMUCONF_TEXT_XML_H_
#define PMUCONF_TEXT_XML_H_

#include <string>
#include <string_view>

namespace pmuconf {

// Escapes markup and replaces bytes that XML 1.0 or UTF-8 does not allow.
std::string XmlEscape(std::string_view text);

}  // namespace pmuconf

#endif  // PMUCONF_TEXT_XML_H_
