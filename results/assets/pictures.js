// SPDX-License-Identifier: Apache-2.0
// Shows the measurements of a page: their pictures, and the numbers behind them. This file has functions only, since
// page.js begins before its end.

function picturesId(name) {
  return `pictures-${name}`;
}

// A link to the pictures of a case; null if it has none.
function picturesLink(name) {
  const found = data.measured.find((one) => one.case === name);
  if (found === undefined) return null;
  return make("p", {}, make("a", { href: `#${picturesId(name)}` }, plural(found.figures.length, "measurement")));
}

// Moves to the pictures that an address names. False if it names none.
function goToPictures(id) {
  const target = id.startsWith("pictures-") && byId(id);
  if (!target) return false;
  byId("details").hidden = true;
  target.scrollIntoView();
  target.focus();
  return true;
}

function showMeasurements() {
  if (data.measured.length === 0) return;
  const section = byId("measurements");
  section.append(make("h2", {}, `Measurements of ${plural(data.measured.length, "case")}`));
  for (const one of data.measured) section.append(measuredCase(one));
}

function measuredCase(one) {
  const links = one.rules.flatMap((rule) => [ruleLink(rule), " "]);
  const article = make("article", { id: picturesId(one.case), class: "measured", tabindex: "-1" },
    make("h3", {}, one.case), make("p", {}, "rules: ", ...links));
  if (single) {
    article.append(make("div", { class: "figures" },
      ...one.figures.flatMap((figure) => figure.columns.map((column) => figureOf(one, figure, column)))));
    return article;
  }
  for (const figure of one.figures) {
    article.append(make("div", { class: "figures" }, ...figure.columns.map((column) => figureOf(one, figure, column))));
  }
  return article;
}

function figureOf(one, figure, column) {
  const run = data.runs[column.run];
  const caption = make("figcaption", {}, make("strong", {}, figure.title),
    figure.at && make("span", { class: "at" }, figure.at),
    !single && make("span", { class: "place" }, `${column.run + 1}. ${run.place}`),
    make("span", { class: "dim" }, figure.axes));
  if (column.left_out) caption.append(make("span", { class: "dim" }, `without ${plural(column.left_out, "further point")}`));
  const element = make("figure", {}, caption, column.note && make("p", { class: "dim" }, column.note));
  if (column.picture) element.append(pictureOf(column.picture));
  if (column.series) element.append(numbersOf(`${one.case}.${figure.name}`, figure, column));
  return element;
}

// The page's maker wrote the picture, and escaped its texts.
function pictureOf(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

// The numbers behind a picture. Their table is made when it is opened, since a page has many of them.
function numbersOf(name, figure, column) {
  const rows = column.series.flatMap(([series, points]) => points.map((point) => [series, ...point]));
  const part = make("details", {}, make("summary", {}, `data: ${plural(rows.length, "point")}`));
  part.addEventListener("toggle", () => {
    if (part.open && part.childElementCount === 1) part.append(...tableOf(name, ["series", ...figure.heads], rows));
  });
  if (!column.picture) part.open = true;
  return part;
}

function tableOf(name, heads, rows) {
  const cell = (value) => (/[",]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const text = [heads, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
  const file = `${name.replaceAll(/[^\w.]/g, "-")}.csv`;
  const link = make("a", { href: `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`, download: file }, "save as CSV");
  const body = rows.map(([series, ...numbers]) => make("tr", {},
    make("th", { scope: "row" }, series), ...numbers.map((value) => make("td", { class: "number" }, String(value)))));
  const table = make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...body));
  return [make("p", {}, link), make("div", { class: "numbers", tabindex: "0", role: "group", "aria-label": `numbers of ${name}` }, table)];
}
