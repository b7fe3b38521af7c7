// SPDX-License-Identifier: Apache-2.0
// Words that the style page refuses. `options.words`: [{pattern, instead}].

"use strict";

const { visitors, worded } = require("../plain.js");

module.exports = (context, options) => {
  const known = options.words.map(({ pattern, instead }) => ({
    pattern: new RegExp(pattern, "gi"),
    instead,
  }));
  return visitors(
    context,
    ({ text }, report) => {
      for (const { pattern, instead } of known) {
        for (const match of text.matchAll(pattern)) {
          report(`"${match[0]}"; write: ${instead}`, match.index);
        }
      }
    },
    worded(options),
  );
};
