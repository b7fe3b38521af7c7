// SPDX-License-Identifier: Apache-2.0
// Leads to the pictures of a page, and shows the numbers behind them. This file has functions only, since page.js
// begins before its end.

// A link to the pictures of a case; null if it has none.
function picturesLink(name) {
  const count = data.measured[name];
  return count ? make("p", {}, make("a", { href: `#pictures-${name}` }, plural(count, "measurement"))) : null;
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

// The table of numbers is made when it is opened, since a page has many of them.
function prepareNumbers() {
  for (const part of document.querySelectorAll("figure details")) {
    const fill = () => {
      if (!part.open || part.querySelector("table")) return;
      const { heads, series } = JSON.parse(part.querySelector("script").textContent);
      const rows = series.flatMap(([name, points]) => points.map((point) => [name, ...point]));
      part.append(...tableOf(part.dataset.name, ["series", ...heads], rows));
    };
    part.addEventListener("toggle", fill);
    fill();
  }
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
