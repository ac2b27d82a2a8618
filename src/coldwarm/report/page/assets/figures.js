"use strict";
// Figures: drawn when they come into view, from the pack of their section.

const LOOKS = JSON.parse(document.getElementById("looks").textContent);
const MANY_ROWS = 1500; // more marks than these are drawn on a canvas
const MOST_SHOWN = 200; // rows of a data table; all of them are in the download
const packs = new Map();

const vegaThere = new Promise((resolve) => {
  document.addEventListener("vega-there", resolve, { once: true });
});

function packOf(name) {
  if (!packs.has(name)) packs.set(name, unpacked(document.getElementById(`pack-${name}`).textContent));
  return packs.get(name);
}

function theme() {
  const set = document.documentElement.dataset.theme;
  return set ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

// Every figure is there for two widths; one that is still too wide is made smaller by the style.
function widthOf(place) {
  const room = place.clientWidth || place.closest("section").clientWidth; // folded, it has none
  return place.closest(".small") || room >= LOOKS.widths.wide ? "wide" : "narrow";
}

function tip(_, event, item, value) {
  document.querySelector(".tip")?.remove();
  if (value === null || value === undefined || value === "") return;
  const made = element("div", undefined, { class: "tip" });
  if (typeof value === "object") {
    const table = element("table");
    for (const [key, said] of Object.entries(value)) {
      const row = table.insertRow();
      row.append(element("td", key), element("td", String(said)));
    }
    made.append(table);
  } else made.textContent = String(value);
  document.body.append(made);
  const right = event.clientX + 14 + made.offsetWidth > innerWidth;
  made.style.left = `${right ? event.clientX - 14 - made.offsetWidth : event.clientX + 14}px`;
  made.style.top = `${Math.min(event.clientY + 14, innerHeight - made.offsetHeight - 4)}px`;
}

// Rows of a figure by the names that its specification has for them.
function rowsOf(figure, pack, width) {
  const { sets } = pack.notes[figure.dataset.kind][width];
  return Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, figure.replaced?.[name] ?? pack.rows(set)]));
}

async function draw(figure) {
  await vegaThere;
  const place = figure.querySelector(".drawing");
  const pack = await packOf(figure.dataset.pack);
  const width = widthOf(place);
  const as = `${theme()} ${width}`;
  const datasets = rowsOf(figure, pack, width);
  const config = { ...LOOKS.configs[theme()], aria: false };
  if (width === "narrow") config.axis = { ...config.axis, labelLimit: 108 };
  const rows = Math.max(...Object.values(datasets).map((each) => each.length));
  const { spec } = pack.notes[figure.dataset.kind][width];
  const drawn = await window.vegaEmbed(place, { ...spec, config, datasets }, {
    mode: "vega-lite",
    ast: true, // expressions are interpreted: the page allows no code from text
    actions: false,
    defaultStyle: false,
    renderer: rows > MANY_ROWS ? "canvas" : "svg",
    tooltip: tip,
    logLevel: 1, // errors alone: a figure without a crossing is none
  });
  place.querySelector("svg")?.setAttribute("aria-hidden", "true"); // its place says what it shows
  figure.drawn?.finalize();
  figure.drawn = drawn;
  figure.drawnAs = as;
  place.classList.add("drawn");
  return drawn;
}

function drawnOnce(figure) {
  figure.drawing ??= draw(figure).catch((error) => {
    figure.querySelector(".drawing").textContent = "This figure cannot be drawn here; its data is below.";
    throw error;
  });
  return figure.drawing;
}

async function drawAgain() {
  for (const figure of document.querySelectorAll("figure[data-kind]")) {
    const place = figure.querySelector(".drawing");
    const wanted = `${theme()} ${widthOf(place)}`;
    if (figure.drawnAs && figure.drawnAs !== wanted) figure.drawing = draw(figure);
    await figure.drawing;
  }
}

async function showRows(details) {
  const figure = details.closest("figure");
  const pack = await packOf(figure.dataset.pack);
  const into = details.querySelector(".rows");
  into.replaceChildren();
  const found = rowsOf(figure, pack, widthOf(figure.querySelector(".drawing")));
  for (const [name, rows] of Object.entries(found)) {
    const more = rows.length > MOST_SHOWN ? `the first ${MOST_SHOWN} of ` : "";
    const said = `${name.replaceAll("_", " ")}: ${more}${rows.length} rows`;
    const get = element("button", "CSV", { type: "button", "aria-label": `CSV of ${said}` });
    get.addEventListener("click", () => download(`${figure.id}-${name}.csv`, csv(rows)));
    const line = element("p", `${said} `);
    line.append(get);
    const scroll = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": said });
    scroll.append(rowsTable(rows, MOST_SHOWN));
    into.append(line, scroll);
  }
}

// Gives a figure that is drawn, or will be, other rows.
async function replaceRows(figure, named) {
  figure.replaced = { ...figure.replaced, ...named };
  const drawn = await drawnOnce(figure);
  for (const [name, rows] of Object.entries(named)) drawn.view.data(name, rows);
  await drawn.view.resize().runAsync();
}
