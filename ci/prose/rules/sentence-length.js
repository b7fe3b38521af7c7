// SPDX-License-Identifier: Apache-2.0
// A sentence has at most 40 words.

"use strict";

const { sentences, visitors, words } = require("../plain.js");

const MOST = 40;

module.exports = (context) =>
  visitors(context, ({ text }, report) => {
    for (const sentence of sentences(text)) {
      const count = words(sentence.text).length;
      if (count > MOST) {
        report(`a sentence of ${count} words; at most ${MOST}`, sentence.index);
      }
    }
  });
