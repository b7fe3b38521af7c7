// SPDX-License-Identifier: Apache-2.0
// The script in a flame graph: a click zooms in, and a search highlights frames by an expression.
#ifndef PMUCONF_TOOLS_PROFILE_FLAME_SCRIPT_H_
#define PMUCONF_TOOLS_PROFILE_FLAME_SCRIPT_H_

namespace pmuconf::profile {

// Frames are <g class="f" data-x data-w data-d>: x and width as fractions of all events, and depth.
inline constexpr const char* kFlameScript = R"js(
const svg = document.documentElement;
const frames = Array.from(document.querySelectorAll("g.f"));
const details = document.getElementById("details");
const matched = document.getElementById("matched");
const WIDTH = 1180, LEFT = 10, CHARACTER = 6.6;
let shown = {x: 0, w: 1, d: 0};
const number = (frame, key) => Number(frame.getAttribute("data-" + key));
const nameOf = frame => frame.getAttribute("data-name");
function draw() {
  for (const frame of frames) {
    const x = (number(frame, "x") - shown.x) / shown.w, w = number(frame, "w") / shown.w;
    const begin = Math.max(x, 0), end = Math.min(x + w, 1);
    const visible = end - begin > 0.0002;
    frame.style.display = visible ? "" : "none";
    if (!visible) continue;
    const [box, text] = [frame.querySelector("rect"), frame.querySelector("text")];
    box.setAttribute("x", LEFT + begin * WIDTH);
    box.setAttribute("width", (end - begin) * WIDTH);
    box.style.opacity = number(frame, "d") < shown.d ? 0.5 : 1;
    text.setAttribute("x", LEFT + begin * WIDTH + 3);
    const room = Math.floor(((end - begin) * WIDTH - 6) / CHARACTER), name = nameOf(frame);
    text.textContent = room < 3 ? "" : name.length <= room ? name : name.slice(0, room - 2) + "..";
  }
}
function zoom(frame) {
  shown = frame ? {x: number(frame, "x"), w: number(frame, "w"), d: number(frame, "d")}
                : {x: 0, w: 1, d: 0};
  draw();
}
function search(expression) {
  let wanted = null;
  try {
    wanted = expression ? new RegExp(expression) : null;
  } catch (error) {
    matched.textContent = "not an expression: " + expression;
    return 0;
  }
  const ranges = [];
  for (const frame of frames) {
    const hit = wanted !== null && wanted.test(nameOf(frame));
    frame.classList.toggle("hit", hit);
    if (hit) ranges.push([number(frame, "x"), number(frame, "x") + number(frame, "w")]);
  }
  let share = 0, last = 0;
  for (const [begin, end] of ranges.sort((a, b) => a[0] - b[0])) {
    share += Math.max(0, end - Math.max(begin, last));
    last = Math.max(last, end);
  }
  matched.textContent = wanted ? "matched: " + (100 * share).toFixed(2) + "%" : "";
  return share;
}
function ask() {
  const expression = prompt("Search for (regular expression):", "");
  if (expression !== null) search(expression);
}
for (const frame of frames) {
  frame.addEventListener("click", () => zoom(frame));
  frame.addEventListener("mouseover", () => {
    details.textContent = frame.querySelector("title").textContent;
  });
  frame.addEventListener("mouseout", () => { details.textContent = ""; });
}
document.getElementById("search").addEventListener("click", ask);
document.getElementById("reset").addEventListener("click", () => { zoom(null); search(""); });
window.addEventListener("keydown", event => {
  if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f")) {
    event.preventDefault();
    ask();
  } else if (event.key === "Escape") {
    zoom(null);
    search("");
  }
});
draw();
)js";

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_FLAME_SCRIPT_H_
