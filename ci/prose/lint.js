// SPDX-License-Identifier: Apache-2.0
// Lints passages of prose with textlint's engine and the rules of this folder. Stdin has
// {words, passages: [{file, line, text, lines, examples}]}, stdout gets [{file, line, rule, message}].
// NODE_PATH names the folder that ci/checks/prose.py installed.

"use strict";

const fs = require("node:fs");
const { TextlintKernel } = require("@textlint/kernel");
const markdown = require("@textlint/textlint-plugin-markdown");

// The rules are loaded by name: listing the folder would make each of its files an input of the
// lint step.
const RULES = ["sentence-length", "sentence-start", "words", "line-length", "cell-length"];

async function main() {
  const request = JSON.parse(fs.readFileSync(0, "utf8"));
  const kernel = new TextlintKernel();
  const plugins = [{ pluginId: "markdown", plugin: markdown.default || markdown }];
  const loaded = RULES.map((ruleId) => ({ ruleId, rule: require(`./rules/${ruleId}.js`) }));
  const found = [];
  for (const { file, line, text, lines, examples } of request.passages) {
    const options = { words: request.words, lines, examples };
    const rules = loaded.map((rule) => ({ ...rule, options }));
    const result = await kernel.lintText(text, { filePath: file, ext: ".md", plugins, rules });
    for (const { ruleId, message, loc } of result.messages) {
      found.push({ file, line: line + loc.start.line - 1, rule: ruleId, message });
    }
  }
  process.stdout.write(JSON.stringify(found));
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 2;
});
