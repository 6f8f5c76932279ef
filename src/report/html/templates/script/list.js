const ROW_HEIGHT = 36; // As in the style.
const SPARE_ROWS = 12; // Drawn above and below what is in sight.

// ---- People and their order --------------------------------------------------------------

const names = data.names.map(visible);
const folded = names.map((name) => name.toLowerCase());
const collator = new Intl.Collator("en", { numeric: true });
// Comparing names is slow, so it is done once.
const alphabetical = new Int32Array(names.length);
names.map((_, i) => i)
  .sort((a, b) => collator.compare(names[a], names[b]) || a - b)
  .forEach((person, place) => (alphabetical[person] = place));

const [SCORE, LOW, HIGH, RANK, FLAG, COUNT] = [0, 1, 2, 3, 4, 5];
let view = 0;
const row = (person) => data.views[view].rows[person];

const columns = [
  { key: "name", title: data.noun, value: (p) => alphabetical[p], cell: nameCell, text: true },
  { key: "score", title: "score", value: (p) => row(p)[SCORE], cell: (p) => number(row(p)[SCORE]) },
  { key: "interval", title: "95 % interval", value: (p) => row(p)[LOW], cell: intervalCell, text: true, kind: "interval" },
  { key: "rank", title: "rank", value: (p) => row(p)[RANK], cell: (p) => count(row(p)[RANK]), kind: "wide" },
  { key: "flag", title: "flag", value: (p) => row(p)[FLAG], cell: (p) => flagBadge(row(p)[FLAG]), text: true },
  { key: "count", title: data.counted, value: (p) => row(p)[COUNT], cell: (p) => count(row(p)[COUNT]) },
  { key: "mark", title: "mark", value: (p) => markOf(p) || null, cell: markCell, text: true },
  ...data.measures.map((measure, i) => ({
    key: "m" + i,
    title: measure.name,
    hint: measure.meaning,
    value: (p) => measure.values[p],
    cell: (p) => number(measure.values[p]),
    kind: "wide",
  })),
];
let sortColumn = 1;
let descending = false;
let shown = []; // Numbers of the people in the list, in order.
let active = 0; // Place in `shown` of the row that the keyboard is at.

const orders = new Map(); // Everybody in the orders that were asked for.

/** Everybody in the order asked for, missing values last; of equals by name. */
function ordered() {
  const column = columns[sortColumn];
  const name = [view, column.key, descending].join(" ");
  // Marks change.
  if (column.key === "mark" || !orders.has(name)) orders.set(name, sorted(column, descending ? -1 : 1));
  return orders.get(name);
}

function sorted(column, sign) {
  const values = names.map((_, person) => column.value(person));
  // Texts by their place among all texts, since numbers are compared fast.
  const texts = [...new Set(values.filter((value) => typeof value === "string"))].sort();
  const places = new Map(texts.map((text, place) => [text, place]));
  const key = Float64Array.from(values, (value) => (value === null ? Infinity : sign * (places.get(value) ?? value)));
  const order = Int32Array.from(names, (_, person) => person);
  return order.sort((a, b) => key[a] - key[b] || alphabetical[a] - alphabetical[b]);
}

/** People who fit the search and the filters, in the order asked for, missing values
    last; the keyboard stays with whom it is at if asked to `keep` it there. */
function refresh(keep = false) {
  const stays = keep ? shown[active] : undefined;
  const wanted = byId("search").value.trim().toLowerCase();
  const flag = byId("flag").value;
  const mark = byId("marked").value;
  const least = Number(byId("least").value) || 0;
  shown = [];
  for (const person of ordered()) {
    const its = row(person);
    if (wanted && !folded[person].includes(wanted)) continue;
    if (flag && (its[FLAG] || "-") !== flag) continue;
    if ((its[COUNT] || 0) < least) continue;
    if (mark && (markOf(person) || "-") !== mark) continue;
    shown.push(person);
  }
  active = Math.max(0, shown.indexOf(stays));
  byId("shown").textContent = shown.length + " of " + names.length + " " + data.noun + "s";
  heads.forEach((head, i) => {
    if (i === sortColumn) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  list.setAttribute("aria-rowcount", shown.length + 1);
  scroller.scrollTop = 0;
  drawRows();
}

/** After what the reader asked for: from the top, and into the address. */
function ask() {
  refresh();
  writeAddress();
}

// ---- The list: only rows in sight exist --------------------------------------------------

const scroller = byId("scroller");
const list = byId("list");
const body = list.tBodies[0];
const heads = columns.map((column, i) => {
  const button = make("button", { type: "button" }, column.title);
  if (column.hint) button.title = column.hint;
  button.addEventListener("click", () => {
    descending = i === sortColumn ? !descending : false;
    sortColumn = i;
    ask();
  });
  return make("th", { scope: "col", class: cellClass(column) }, button);
});
list.tHead.rows[0].append(...heads);

function cellClass(column) {
  return [column.text ? "" : "number", column.kind || ""].join(" ").trim();
}

/** Draws the rows from `first` to `last`, by default those in sight, between two empty ones. */
function drawRows(first, last) {
  const top = Math.floor(scroller.scrollTop / ROW_HEIGHT);
  const height = Math.ceil((scroller.clientHeight || 700) / ROW_HEIGHT);
  first = Math.max(0, first ?? top - SPARE_ROWS);
  last = Math.min(shown.length, last ?? top + height + SPARE_ROWS);
  const focused = body.contains(document.activeElement);
  const rows = [space(first)];
  for (let place = first; place < last; place++) rows.push(personRow(place));
  rows.push(space(shown.length - last));
  body.replaceChildren(...rows);
  if (focused) body.querySelector("tr.active")?.focus({ preventScroll: true });
}

function space(rows) {
  const cell = make("td", { colspan: columns.length });
  cell.style.height = rows * ROW_HEIGHT + "px";
  return make("tr", { class: "space", "aria-hidden": "true" }, cell);
}

function personRow(place) {
  const person = shown[place];
  const cells = columns.map((column, i) => {
    const attributes = { class: cellClass(column) };
    if (i === 0) attributes.scope = "row";
    return make(i === 0 ? "th" : "td", attributes, column.cell(person));
  });
  const isActive = place === active;
  return make(
    "tr",
    {
      class: isActive ? "person active" : "person",
      tabindex: isActive ? 0 : -1,
      "aria-rowindex": place + 2,
      "data-place": place,
    },
    ...cells,
  );
}

function nameCell(person) {
  const link = make("a", { href: addressOf(person), tabindex: -1 }, named(data.names[person]));
  link.title = names[person];
  return link;
}

function flagBadge(flag) {
  return flag === null ? "-" : make("span", { class: "flag " + flag }, flag.replaceAll("_", " "));
}

function markCell(person) {
  const note = noteOf(person);
  const words = [MARKS[markOf(person)], note && "note"].filter(Boolean).join(", ");
  if (!words) return "-";
  const badge = make("span", { class: "marked " + markOf(person) }, words);
  if (note) badge.title = visible(note);
  return badge;
}

/** The interval as a bar on the scale of all scores, and in numbers. */
function intervalCell(person) {
  const [score, low, high] = row(person);
  if (low === null) return "-";
  const WIDTH = 110;
  const [from, to] = scales[view];
  const x = (value) => ((Math.min(Math.max(value, from), to) - from) / (to - from)) * (WIDTH - 8) + 4;
  const line = (kind, a, b, top) =>
    draw("line", { class: kind, x1: a.toFixed(1), x2: b.toFixed(1), y1: 8 - top, y2: 8 + top });
  const marks = [line("range", x(low), x(high), 0)];
  if (from < 0 && to > 0) marks.unshift(line("zero", x(0), x(0), 8));
  marks.push(draw("circle", { class: "point", cx: x(score).toFixed(1), cy: 8, r: 3.5 }));
  const picture = draw("svg", { width: WIDTH, height: 16, "aria-hidden": "true" }, ...marks);
  const ends = make("span", { class: "ends" }, number(low) + " to " + number(high));
  return make("span", {}, picture, ends);
}

// The range of all scores with room at both ends; what reaches further is cut there.
const scales = data.views.map(({ rows }) => {
  const scores = rows.map((its) => its[SCORE]).filter((score) => score !== null);
  const low = scores.reduce((a, b) => Math.min(a, b), 0);
  const high = scores.reduce((a, b) => Math.max(a, b), 0);
  const room = (high - low) * 0.3 || 0.5;
  return [low - room, high + room];
});

/** Moves the keyboard to a row, which is scrolled into sight first. */
function moveTo(place) {
  active = Math.min(Math.max(place, 0), shown.length - 1);
  if (active < 0) return;
  const headHeight = list.tHead.offsetHeight;
  const top = active * ROW_HEIGHT;
  const inSight = scroller.clientHeight - headHeight - ROW_HEIGHT;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top > scroller.scrollTop + inSight) scroller.scrollTop = top - inSight;
  drawRows();
  body.querySelector("tr.active")?.focus({ preventScroll: true });
  mark(shown[active]);
}

const open = (person) => (location.hash = addressOf(person));
const placeOf = (target) => {
  const its = target.closest("tr.person");
  return its ? Number(its.dataset.place) : null;
};

body.addEventListener("keydown", (event) => {
  const page = Math.max(1, Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.key in steps) moveTo(active + steps[event.key]);
  else if (event.key === "Enter" && shown.length) open(shown[active]);
  else return;
  event.preventDefault();
});
body.addEventListener("click", (event) => {
  const place = placeOf(event.target);
  if (place === null || event.target.closest("a")) return;
  active = place;
  open(shown[place]);
});
body.addEventListener("mouseover", (event) => {
  const place = placeOf(event.target);
  if (place !== null) mark(shown[place]);
});
scroller.addEventListener("scroll", () => requestAnimationFrame(() => drawRows()));
// The height is known only once the browser has laid the list out, which is after the first rows.
new ResizeObserver(() => drawRows()).observe(scroller);

