"use strict";
// What happens when the page has loaded.

if ("DecompressionStream" in window) document.documentElement.classList.add("scripted");
for (const node of document.querySelectorAll(".tools, details.data, button.get")) node.hidden = false;
for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
for (const form of document.querySelectorAll(".filters:not(.cases)")) {
  makeFilter(form, document.getElementById("verdict-table"));
}
for (const form of document.querySelectorAll(".filters.cases")) makeCaseFilter(form);
for (const chart of document.querySelectorAll(".runs svg")) makeZoom(chart);

const contents = document.querySelector(".contents details");
contents.open = matchMedia("(min-width: 72rem)").matches;

const figures = Array.from(document.querySelectorAll("figure[data-kind]"));
const begin = (figure) => {
  if (!figure.drawing) startControls(figure);
  return drawnOnce(figure).catch(() => undefined); // said in its place
};
// What is in sight comes first; all others follow while nobody waits, so that none is blank in a
// picture of the whole page, on paper, or where somebody scrolls fast.
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    seen.unobserve(entry.target);
    begin(entry.target);
  }
}, { rootMargin: "400px" });
for (const figure of figures) seen.observe(figure);
const idle = () => new Promise((next) => (window.requestIdleCallback ?? setTimeout)(next, { timeout: 100 }));
(async () => {
  for (const figure of figures) {
    await idle();
    await begin(figure);
  }
  document.documentElement.dataset.drawn = "yes";
})();

document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("details.data[open]")) showRows(event.target);
}, true);

// Where a link leads to what is folded, it opens.
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const one of [target?.closest(".fold"), target?.querySelector(":scope > .fold")]) if (one) one.open = true;
  if (target?.closest(".fold")) target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();

document.addEventListener("click", async (event) => {
  const get = event.target.closest?.("button.get");
  if (!get) return;
  const pack = await packOf(get.dataset.pack);
  download(`${get.dataset.pack}-${get.dataset.set}.csv`, csv(pack.rows(get.dataset.set)));
});

const themeButton = document.getElementById("theme");
const named = () => {
  themeButton.textContent = theme() === "dark" ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `${themeButton.textContent} colours`);
};
themeButton.removeAttribute("aria-pressed");
themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
  named();
  drawAgain();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { named(); drawAgain(); });
named();

let resized;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(drawAgain, 150);
});

// Paper is light, whoever prints. What is unpacked is drawn before the browser lays the paper out.
let ofScreen;
const forPaper = async () => {
  if (!ofScreen) {
    const folded = Array.from(document.querySelectorAll(".fold:not([open])"));
    ofScreen = { theme: document.documentElement.dataset.theme, folded };
    for (const one of folded) one.open = true;
  }
  document.documentElement.dataset.theme = "light";
  await Promise.all(figures.map(begin));
  await drawAgain();
};
addEventListener("beforeprint", forPaper);
addEventListener("afterprint", () => {
  if (!ofScreen) return;
  if (ofScreen.theme === undefined) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = ofScreen.theme;
  for (const one of ofScreen.folded) one.open = false;
  ofScreen = undefined;
  drawAgain();
});
document.getElementById("print").addEventListener("click", async () => {
  await forPaper();
  print();
});
document.documentElement.dataset.ready = "yes";
