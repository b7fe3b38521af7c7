// SPDX-License-Identifier: Apache-2.0
// A line of prose has at most 120 characters. Code, tables and unbreakable words may be longer.

"use strict";

const MOST = 120;

module.exports = (context, options) => {
  const { RuleError, Syntax, getSource, locator, report } = context;
  const exempt = new Set();
  const skip = (node) => {
    for (let line = node.loc.start.line; line <= node.loc.end.line; line++) {
      exempt.add(line);
    }
  };
  const check = (node) => {
    let offset = 0;
    getSource().split("\n").forEach((line, index) => {
      const length = [...line].length;
      const breakable = /\S\s+\S/.test(line.replace(/^[\s>]*(?:[-*+]|\d+\.)?\s+/, ""));
      const definition = /^\s*\[[^\]]+\]:\s/.test(line);
      if (length > MOST && breakable && !definition && !exempt.has(index + 1)) {
        const padding = locator.at(offset + MOST - node.range[0]);
        report(node, new RuleError(`a line of ${length} characters; at most ${MOST}`, { padding }));
      }
      offset += line.length + 1;
    });
  };
  if (!options.lines) {
    return {};
  }
  return {
    [Syntax.CodeBlock]: skip,
    [Syntax.Table]: skip,
    [Syntax.DocumentExit]: check,
  };
};
