"use strict";
// Tables that sort and filter; values of data go into the page as text alone.

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function cellValue(row, place, kind) {
  const cell = row.cells[place];
  if (kind === "text") return cell.textContent.trim();
  const value = Number.parseFloat(cell.dataset.value);
  return Number.isNaN(value) ? null : value;
}

function sortBy(table, heading, place) {
  const kind = heading.dataset.sort;
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const compared = (a, b) => (kind === "text" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  const rows = Array.from(body.rows, (row) => [row, cellValue(row, place, kind)]);
  rows.sort(([, a], [, b]) => {
    if (a === null || b === null) return (a === null) - (b === null); // missing ones last
    return down ? compared(b, a) : compared(a, b);
  });
  body.append(...rows.map(([row]) => row));
}

function makeSortable(table) {
  Array.from(table.tHead.rows[0].cells).forEach((heading, place) => {
    if (!heading.dataset.sort) return;
    const button = element("button", heading.textContent, { type: "button" });
    button.addEventListener("click", () => sortBy(table, heading, place));
    heading.replaceChildren(button);
  });
}

function makeFilter(form, table) {
  const rows = Array.from(table.tBodies[0].rows);
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const filter = () => {
    const { text, what, verdict } = form.elements;
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = words.every((word) => texts.get(row).includes(word))
        && (!what.value || row.dataset.what === what.value)
        && (!verdict.value || row.dataset.verdict === verdict.value);
      row.hidden = !fits;
      shown += fits;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
}

function rowsTable(rows, most) {
  const names = Object.keys(rows[0] ?? {});
  const table = element("table");
  const head = table.createTHead().insertRow();
  const isNumber = names.map((name) => rows.some((row) => typeof row[name] === "number"));
  names.forEach((name, at) => {
    head.append(element("th", name.replaceAll("_", " "), { scope: "col", class: isNumber[at] ? "n" : "" }));
  });
  const body = table.createTBody();
  for (const row of rows.slice(0, most)) {
    const line = body.insertRow();
    names.forEach((name, at) => {
      line.append(element("td", row[name] === null ? "–" : String(row[name]), { class: isNumber[at] ? "n" : "" }));
    });
  }
  return table;
}

function csv(rows) {
  const names = Object.keys(rows[0] ?? {});
  const field = (value) => {
    if (value === null || value === undefined) return "";
    const text = String(value);
    // A text that a spreadsheet would take for a formula is kept from it.
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.map((row) => names.map((name) => field(row[name])).join(","));
  return [names.join(","), ...lines].join("\r\n") + "\r\n";
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = element("a", "", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
