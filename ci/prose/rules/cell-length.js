// SPDX-License-Identifier: Apache-2.0
// A cell of a table has at most 200 characters.

"use strict";

const MOST = 200;

module.exports = (context) => {
  const { RuleError, Syntax, getSource, report } = context;
  return {
    [Syntax.TableCell](node) {
      const length = [...getSource(node).replace(/^[\s|]+|[\s|]+$/g, "")].length;
      if (length > MOST) {
        report(node, new RuleError(`a table cell of ${length} characters; at most ${MOST}`));
      }
    },
  };
};
