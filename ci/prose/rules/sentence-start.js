// SPDX-License-Identifier: Apache-2.0
// No sentence begins with "What", "Whatever" or "Of", unless it is a question. A fragment, such as a list item in small
// letters, may begin with "of".

"use strict";

const { sentences, visitors, worded, words } = require("../plain.js");

const START = /^["'“‘([]*([Ww]hat|[Ww]hatever|Of)\b/;

module.exports = (context, options) =>
  visitors(
    context,
    ({ text }, report) => {
      for (const sentence of sentences(text)) {
        const start = START.exec(sentence.text);
        const question = /\?["'”’)\]]*$/.test(sentence.text);
        // A table may have a column that is called "what".
        if (start && !question && words(sentence.text).length > 1) {
          report(`a sentence begins with "${start[1]}"; name the thing instead`, sentence.index);
        }
      }
    },
    worded(options),
  );
