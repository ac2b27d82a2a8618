"use strict";
// What happens when the page has loaded.

if ("DecompressionStream" in window) document.documentElement.classList.add("scripted");
for (const node of document.querySelectorAll(".tools, details.data, button.get")) node.hidden = false;
for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
for (const form of document.querySelectorAll(".filters")) {
  makeFilter(form, document.getElementById("verdict-table"));
}

const contents = document.querySelector(".contents details");
contents.open = matchMedia("(min-width: 72rem)").matches;

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    seen.unobserve(entry.target);
    drawnOnce(entry.target);
    startControls(entry.target);
  }
}, { rootMargin: "400px" });
for (const figure of document.querySelectorAll("figure[data-kind]")) seen.observe(figure);

document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("details.data[open]")) showRows(event.target);
}, true);

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

document.getElementById("print").addEventListener("click", async () => {
  const before = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  await Promise.all(Array.from(document.querySelectorAll("figure[data-kind]"), drawnOnce));
  await drawAgain();
  print();
  if (before === undefined) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = before;
  drawAgain();
});
document.documentElement.dataset.ready = "yes";
