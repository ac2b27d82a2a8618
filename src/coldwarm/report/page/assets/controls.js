"use strict";
// The job that a reader chooses: calls, shapes, processes, and the state of the caches.

const CACHES = {
  cold: "empty in every process",
  kept: "empty in the first, then kept",
  warm: "filled in every process",
};

function duration(seconds) {
  if (seconds === 0) return "0 s";
  const shown = Number(seconds.toPrecision(3));
  const units = [[3600, "h", 6000], [60, "min", 1000], [1, "s", 1], [1e-3, "ms", 1e-3], [1e-6, "µs", 1e-6], [1e-9, "ns", 0]];
  const [size, name] = units.find(([, , from]) => shown >= from);
  const value = seconds / size;
  return `${value >= 100 ? Math.round(value) : value.toPrecision(3)} ${name}`;
}

const counted = (number) => number.toLocaleString("en");

function choice(label, name, values) {
  const made = element("label", label);
  const select = element("select", undefined, { name });
  select.append(...values.map((value) => element("option", counted(value), { value })));
  made.append(" ", select);
  return made;
}

function fill(form, settings) {
  const values = (key) => [...new Set(settings.map((one) => one[key]))].sort((a, b) => a - b);
  const caches = element("fieldset");
  caches.append(element("legend", "Caches"));
  for (const key of Object.keys(CACHES).filter((one) => settings.some((s) => s.caches === one))) {
    const label = element("label");
    label.append(element("input", undefined, { type: "radio", name: "caches", value: key }), ` ${CACHES[key]}`);
    caches.append(label);
  }
  caches.querySelector("input").checked = true;
  const calls = element("label", "Calls in each process ");
  calls.append(element("input", undefined, { type: "range", name: "calls", min: 0, max: 0, step: 1 }), element("output"));
  form.append(caches, choice("Processes", "processes", values("processes")), choice("Shapes in each", "shapes", values("shapes")), calls);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
}

function settingOf(form, settings) {
  const processes = Number(form.elements.processes.value);
  const shapes = Number(form.elements.shapes.value);
  let caches = form.elements.caches.value;
  if (caches === "kept" && processes === 1) caches = "cold"; // one process is the first
  return settings.findIndex((one) => one.caches === caches && one.processes === processes && one.shapes === shapes);
}

function saidOf(at, best, calls) {
  const said = [`${counted(calls)} ${calls === 1 ? "call" : "calls"}: `];
  if (!best) return [...said, "no candidate has a total"];
  if (at.length === 1) return [...said, `only ${best.candidate} has a total`];
  const name = element("b", best.candidate);
  const beyond = at.some((row) => row.extrapolated);
  if (best.told_apart && beyond) return [...said, name, " is the cheapest if calls that were not measured cost what the last measured ones did"];
  if (best.told_apart) return [...said, name, " is the cheapest"];
  return [...said, name, " has the lowest expected total; this run cannot tell it apart from every other"];
}

function totals(into, rows, calls) {
  const at = rows.filter((row) => row.calls === calls).sort((a, b) => a.total_s - b.total_s);
  const best = at.find((row) => row.cheapest);
  if (!into.firstElementChild) into.append(element("p", "", { class: "says", role: "status" }), element("div"));
  const [said, place] = into.children;
  said.replaceChildren(...saidOf(at, best, calls));
  const table = rowsTable(at.map((row) => ({
    candidate: row.candidate,
    "expected total": `${duration(row.total_s)}${row.extrapolated ? " (extrapolated)" : ""}`,
    "95 % interval": row.low_s === null ? "too few processes" : `${duration(row.low_s)} to ${duration(row.high_s)}`,
  })), at.length);
  table.tBodies[0].rows[at.indexOf(best)]?.classList.add("cheapest");
  const scroll = element("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": `Totals of ${counted(calls)} calls` });
  scroll.append(table);
  place.replaceChildren(scroll);
}

async function startControls(figure) {
  const form = figure.querySelector(".controls");
  if (!form) return;
  const pack = await packOf(figure.dataset.pack);
  const settings = pack.notes.settings;
  const grid = pack.rows("costs");
  const crossings = pack.rows("crossings of jobs");
  fill(form, settings);
  const slider = form.elements.calls;
  let before;
  let last = 1000;
  const update = (event) => {
    const place = settingOf(form, settings);
    const rows = grid.filter((row) => row.setting === place);
    const calls = [...new Set(rows.map((row) => row.calls))].sort((a, b) => a - b);
    if (place !== before) {
      slider.max = Math.max(0, calls.length - 1);
      const nearest = calls.findIndex((one) => one >= last);
      slider.value = nearest < 0 ? calls.length - 1 : nearest;
    }
    const chosen = calls[Number(slider.value)] ?? 1;
    if (event?.target === slider) last = chosen;
    slider.setAttribute("aria-valuetext", `${counted(chosen)} calls`);
    form.querySelector("output").textContent = counted(chosen);
    totals(figure.querySelector(".totals"), rows, chosen);
    const there = { job_calls: [{ calls: chosen }] };
    if (place !== before) {
      there.job_totals = rows;
      there.job_crossings = crossings.filter((row) => row.setting === place);
    }
    before = place;
    replaceRows(figure, there);
  };
  form.addEventListener("input", update);
  update();
}
