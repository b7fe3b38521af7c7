// SPDX-License-Identifier: Apache-2.0
// Shows the map of the rules and their details. page.html has the rest of a page; the pictures: pictures.js.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const single = data.runs.length === 1;
const byId = (id) => document.getElementById(id);

// Result of a rule: class, sign, and its words. The signs make the map readable without colours.
const RESULTS = {
  FAILED: ["bad", "✗", "failed"],
  INCOMPLETE: ["open", "?", "incomplete"],
  NOT_TESTED: ["open", "?", "not tested"],
  NOT_JUDGED: ["open", "?", "not judged"],
  WAIVED: ["waived", "~", "waived"],
  PARTIAL: ["good", "◐", "partial"],
  PASSED: ["good", "✓", "passed"],
  REVIEW: ["off", "R", "review"],
  NOT_RUN: ["off", "·", "not run"],
  NOT_APPLICABLE: ["off", "–", "not applicable"],
};
const ORDER = Object.keys(RESULTS);
const ABSENT = ["off", " ", "not in this run"];
const TEXT_COLUMNS = 20;  // with more runs, a row of the map has no room for the rule's text
const [RESULT, SECONDS, MESSAGE, REPRO, REASON] = [0, 1, 2, 3, 4];

// Creates an element. `children`: elements and strings; a false value is left out.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child));
  return element;
}

const resultOf = (run, rule) => RESULTS[run.rules[rule]] ?? ABSENT;
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

// The result that stands for all columns: the worst one.
function worst(rule) {
  const results = data.runs.map((run) => run.rules[rule]).filter((result) => result);
  return ORDER.find((result) => results.includes(result)) ?? "NOT_RUN";
}

// The command that repeats a case, with a button that copies it, as in page.html.
function reproOf(command) {
  return make("p", {}, make("code", {}, command), " ", make("button", { type: "button", class: "copy" }, "copy"));
}

function caseParts(run, entry) {
  return [
    entry[MESSAGE] !== 0 && make("pre", {}, data.texts[entry[MESSAGE]]),
    entry[REPRO] !== 0 && reproOf(data.texts[entry[REPRO]]),
  ];
}

const cells = new Map();  // rule id: its button
const rows = new Map();  // rule id: the element that a filter hides

function cellOf(rule) {
  const [style, sign, words] = RESULTS[worst(rule.id)];
  const label = single ? `${sign} ${rule.id.split("-")[1]}` : rule.id;
  const cell = make("button", {
    type: "button", class: single ? `cell ${style}` : "cell", id: rule.id, tabindex: "-1",
    "aria-label": `${rule.id} ${words}`, title: rule.text, onclick: () => open(rule.id),
  }, label);
  cells.set(rule.id, cell);
  return cell;
}

function areaOf(name, rules) {
  const area = make("div", { class: "area" }, make("h3", {}, name), make("p", { class: "dim" }, data.areas[name] ?? ""));
  if (single) {
    const list = make("div", { class: "cells" });
    for (const rule of rules) {
      const cell = cellOf(rule);
      rows.set(rule.id, cell);
      list.append(cell);
    }
    area.append(list);
    return area;
  }
  const body = make("tbody");
  for (const rule of rules) {
    const row = make("tr", {}, make("th", { scope: "row" }, cellOf(rule)));
    for (const run of data.runs) {
      const [style, sign] = resultOf(run, rule.id);
      const cell = document.createElement("td");
      cell.className = style;
      cell.textContent = sign;
      row.append(cell);
    }
    if (data.runs.length <= TEXT_COLUMNS) row.append(make("td", { class: "text" }, rule.text));
    rows.set(rule.id, row);
    body.append(row);
  }
  const heads = data.runs.map((run, i) => make("th", { scope: "col", title: run.place }, `${i + 1}`));
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "left" }, "rule"), ...heads));
  area.append(make("table", { class: "matrix" }, head, body));
  return area;
}

function showMap() {
  const areas = new Map();
  for (const rule of data.rules) {
    const name = rule.id.split("-")[0];
    if (!areas.has(name)) areas.set(name, []);
    areas.get(name).push(rule);
  }
  for (const [name, rules] of areas) byId("areas").append(areaOf(name, rules));
  const first = cells.values().next().value;
  if (first) first.tabIndex = 0;
}

function showResultFilters() {
  for (const result of ORDER) {
    const count = data.rules.filter((rule) => worst(rule.id) === result).length;
    if (count === 0) continue;
    const box = make("input", { type: "checkbox", value: result, checked: "" });
    const [style, sign, words] = RESULTS[result];
    byId("results").append(make("label", {}, box, " ", make("span", { class: `tag ${style}` }, `${sign} ${words}`), ` ${count}`));
  }
}

const words = new Map(data.rules.map((rule) => [rule.id, [rule.id, rule.text, rule.subject, ...rule.cases].join("\n").toLowerCase()]));

function filter() {
  const wanted = byId("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  const results = new Set([...byId("results").querySelectorAll("input:checked")].map((box) => box.value));
  let shown = 0;
  for (const rule of data.rules) {
    const text = words.get(rule.id);
    const match = results.has(worst(rule.id)) && wanted.every((word) => text.includes(word));
    rows.get(rule.id).hidden = !match;
    shown += match;
  }
  for (const area of byId("areas").querySelectorAll(".area")) {
    area.hidden = area.querySelector(single ? ".cell:not([hidden])" : "tbody tr:not([hidden])") === null;
  }
  byId("shown").textContent = `${shown} of ${plural(data.rules.length, "rule")}`;
  const visible = visibleCells();
  if (visible.length && !visible.some((cell) => cell.tabIndex === 0)) visible[0].tabIndex = 0;
}

const visibleCells = () => data.rules.filter((rule) => !rows.get(rule.id).hidden).map((rule) => cells.get(rule.id));

function move(cell, step) {
  const visible = visibleCells();
  const next = visible[visible.indexOf(cell) + step];
  if (next === undefined) return;
  for (const other of cells.values()) other.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function sourceOf([text, href]) {
  return make("li", {}, href ? make("a", { href, rel: "noreferrer" }, text) : text);
}

function columnOf(run, rule) {
  const [style, sign, text] = resultOf(run, rule.id);
  const part = make("section", {}, make("h3", {}, single ? "" : `${run.place} `, make("span", { class: `tag ${style}` }, `${sign} ${text}`)));
  if (run.reasons[rule.id]) part.append(make("p", {}, run.reasons[rule.id]));
  const layers = run.layers[rule.id];
  if (layers) part.append(make("p", {}, Object.entries(layers).map(([layer, answer]) => `${layer}: ${answer}`).join(", ")));
  for (const name of rule.cases) {
    const entry = run.cases[name];
    if (entry === undefined) continue;
    const reason = data.texts[entry[REASON]];
    const line = `${entry[RESULT]} ${name}, ${entry[SECONDS]} s${reason ? `, ${reason}` : ""}`;
    const parts = [picturesLink(name), ...caseParts(run, entry)];
    part.append(make("p", { class: "case" }, line), ...parts.filter((x) => x));
  }
  return part;
}

let opener = null;

function open(id) {
  const rule = data.rules.find((one) => one.id === id);
  if (rule === undefined) return;
  const details = byId("details");
  if (details.hidden) opener = document.activeElement;
  details.replaceChildren(
    make("button", { type: "button", class: "close", onclick: close }, "close"),
    make("h2", {}, `${rule.id} ${rule.level}${rule.status === "active" ? "" : `, ${rule.status}`}`),
    make("p", {}, rule.text),
    make("p", { class: "dim" }, rule.why),
    make("p", {}, `code to inspect first: ${rule.subject}`),
    make("ul", {}, ...rule.source.map(sourceOf)),
    ...data.runs.map((run) => columnOf(run, rule)));
  details.hidden = false;
  details.focus();
  history.replaceState(null, "", `#${id}`);
}

function close() {
  byId("details").hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
  (opener ?? byId("search")).focus();
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark));
}

function onKey(event) {
  const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "Escape" && !byId("details").hidden) {
    close();
  } else if (event.key === "Enter" && typing) {
    event.preventDefault();
    visibleCells()[0]?.focus();
  } else if (cells.has(event.target.id)) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(event.target, step);
  }
}

function onCopy(event) {
  if (event.target.className === "copy") navigator.clipboard?.writeText(event.target.previousElementSibling.textContent);
}

function start() {
  showMap();
  showResultFilters();
  prepareNumbers();
  filter();
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
  byId("filter").addEventListener("input", filter);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onCopy);
  const openHash = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!goToPictures(id)) open(id);
  };
  addEventListener("hashchange", openHash);
  openHash();
}

start();
