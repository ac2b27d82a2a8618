"use strict";
// Charts of many runs: the wheel zooms one along its runs, and a text leaves cases out.

function makeZoom(chart) {
  const [, , whole, height] = chart.getAttribute("viewBox").split(" ").map(Number);
  chart.addEventListener("wheel", (event) => {
    const [left, , width] = chart.getAttribute("viewBox").split(" ").map(Number);
    if (event.deltaY > 0 && width >= whole) return; // all is shown: the page scrolls
    event.preventDefault();
    const share = event.offsetX / chart.clientWidth;
    const next = Math.min(whole, Math.max(whole / 100, width * (event.deltaY > 0 ? 1.25 : 0.8)));
    const begin = Math.min(whole - next, Math.max(0, left + share * (width - next)));
    chart.setAttribute("viewBox", `${begin} 0 ${next} ${height}`);
  }, { passive: false });
}

function makeCaseFilter(form) {
  const cases = Array.from(document.querySelectorAll("section.case"));
  const filter = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const one of cases) {
      const title = one.querySelector("h2").textContent.toLowerCase();
      one.hidden = !words.every((word) => title.includes(word));
    }
    form.querySelector("output").textContent = `${cases.filter((one) => !one.hidden).length} of ${cases.length}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
}
