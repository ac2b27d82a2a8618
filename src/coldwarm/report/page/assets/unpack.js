"use strict";
// Reads packs: see packing.py for what they hold.

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(data.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const body = data.subarray(4 + length);
  const columns = new Map();
  const column = (place, n) => {
    const key = `${place}:${n}`;
    if (!columns.has(key)) columns.set(key, readColumn(head.columns[place], body, n));
    return columns.get(key);
  };
  const rows = (name) => {
    const set = head.sets[name];
    const names = Object.keys(set.fields);
    const read = names.map((field) => column(set.fields[field], set.n));
    return Array.from({ length: set.n }, (_, at) => {
      const row = {};
      names.forEach((field, i) => { row[field] = read[i](at); });
      return row;
    });
  };
  return { names: Object.keys(head.sets), notes: head.notes, rows };
}

function readColumn(column, body, n) {
  const part = (from, count) => body.subarray(column.at + from, column.at + from + count);
  const numbers = (bytes) => {
    const planes = part(0, n * bytes);
    const joined = new Uint8Array(n * bytes);
    for (let b = 0; b < bytes; b += 1) {
      for (let at = 0; at < n; at += 1) joined[at * bytes + b] = planes[b * n + at];
    }
    return joined.buffer;
  };
  if (column.kind === "same") return () => column.value;
  if (column.kind === "choice") {
    const buffer = numbers(column.bytes);
    const places = column.bytes === 1 ? new Uint8Array(buffer) : new Uint16Array(buffer);
    return (at) => column.values[places[at]];
  }
  if (column.kind === "time") {
    const ns = new Uint32Array(numbers(4));
    const of = column.calls.length > 1 ? part(n * 4, n) : null;
    return (at) => ns[at] / column.calls[of ? of[at] : 0] / 1e9;
  }
  const values = new Float64Array(numbers(8));
  return (at) => (Number.isNaN(values[at]) ? null : values[at]);
}
