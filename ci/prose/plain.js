// SPDX-License-Identifier: Apache-2.0
// The text of a Markdown node as a reader sees it, and its sentences.

"use strict";

// A code span counts as one word.
const CODE = "`x`";
const END = /[.!?]+["'”’)\]]*(?=\s|$)/g;
const ABBREVIATION = /(?:^|[\s("])(?:e\.g|i\.e|cf|vs|approx|etc)\.$/i;

/** The text without markup, and for each character its offset from the start of the node. */
function plain(node, source) {
  let text = "";
  const offsets = [];
  const add = (part, offset) => {
    text += part;
    offsets.push(...Array(part.length).fill(offset));
  };
  const walk = (child) => {
    const offset = child.range[0] - node.range[0];
    if (child.type === "Code") {
      add(CODE, offset);
    } else if (child.type === "Break") {
      add(" ", offset);
    } else if (child.type === "Str") {
      const raw = source.slice(...child.range);
      // A line break and the indentation after it count as one space.
      for (const match of raw.matchAll(/[ \t]*\n[ \t>]*|[^\n]/g)) {
        add(match[0].includes("\n") ? " " : match[0], offset + match.index);
      }
    } else {
      (child.children || []).forEach(walk);
    }
  };
  (node.children || []).forEach(walk);
  return { text, offsets };
}

/** The sentences of a plain text, each with its index there. */
function sentences(text) {
  const found = [];
  let begin = 0;
  const add = (end) => {
    const sentence = text.slice(begin, end);
    if (sentence.trim() !== "") {
      const index = begin + sentence.length - sentence.trimStart().length;
      found.push({ text: sentence.trim(), index });
    }
    begin = end;
  };
  for (const match of text.matchAll(END)) {
    const end = match.index + match[0].length;
    const next = text.slice(end).trimStart()[0] || "";
    const abbreviated = ABBREVIATION.test(text.slice(begin, end));
    const ends = !abbreviated || (/etc\.$/i.test(text.slice(begin, end)) && /[A-Z]/.test(next));
    if (ends) {
      add(end);
    }
  }
  add(text.length);
  return found;
}

/** The words of a sentence, without separate punctuation. */
function words(sentence) {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word));
}

/** Visitors that call `visit(plain, report)` for each paragraph, heading and table cell. */
function visitors(context, visit, types = ["Paragraph", "Header", "TableCell"]) {
  const { RuleError, locator, report, getSource } = context;
  const enter = (node) => {
    const found = plain(node, getSource());
    visit(found, (message, index) => {
      const offset = found.offsets[index] || 0;
      report(node, new RuleError(message, { padding: locator.at(offset) }));
    });
  };
  return Object.fromEntries(types.map((type) => [context.Syntax[type], enter]));
}

/** The nodes whose wording is checked. Tables of a page of examples also show bad wording, so they are not checked. */
function worded(options) {
  return options.examples ? ["Paragraph", "Header"] : undefined;
}

module.exports = { sentences, visitors, worded, words };
