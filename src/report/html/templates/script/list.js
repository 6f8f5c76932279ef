// ---- What is listed, and in which order ---------------------------------------------------

const ROW_HEIGHT = 36; // As in the style.
const SPARE_ROWS = 12; // Drawn above and below what is in sight.
const names = data.names.map(visible);
const fold = (texts) => texts.map((text) => text.toLowerCase());
const collator = new Intl.Collator("en", { numeric: true });

/** The place of every text among all of them: comparing texts is slow, so it is done once. */
function placesOf(texts) {
  const places = new Int32Array(texts.length);
  texts.map((_, i) => i)
    .sort((a, b) => collator.compare(texts[a], texts[b]) || a - b)
    .forEach((item, place) => (places[item] = place));
  return places;
}

const [SCORE, LOW, HIGH, RANK, FLAG, COUNT, PLACE] = [0, 1, 2, 3, 4, 5, 6];
let view = 0;
const row = (person) => data.views[view].rows[person];
const percent = (value) =>
  value === null ? "-" : value < 0.001 ? "< 0.1 %" : value > 0.999 ? "> 99.9 %" : (100 * value).toFixed(1) + " %";

const ofWords = (share) => (share ? (100 * share).toFixed(0) + " %" : "-");

// One row per review, read when it is first asked for.
const [OF_PERSON, OF_PAPER, R_FLAG, R_READS, R_OWN, R_COPIED, R_GROUP, R_KEY] = [0, 1, 2, 3, 4, 5, 6, 7];
let readRows = null;
const reviewRows = () => (readRows ??= JSON.parse(byId("rows").textContent));
let readReviewsOf = null; // Numbers of the reviews of each person.
function reviewsOf(person) {
  if (!readReviewsOf) {
    readReviewsOf = data.names.map(() => []);
    reviewRows().forEach((its, review) => readReviewsOf[its[OF_PERSON]].push(review));
  }
  return readReviewsOf[person];
}

const wanted = { group: null, paper: null }; // What the list is narrowed to, by number.
const fits = (its) =>
  (wanted.group === null || its[R_GROUP] === wanted.group) && (wanted.paper === null || its[OF_PAPER] === wanted.paper);
const isNarrowed = () => wanted.group !== null || wanted.paper !== null;

function personKind() {
  const measures = data.measures.filter((measure) => measure.listed);
  const ofMeasure = (measure, i) => ({
    key: "m" + i,
    title: measure.name,
    hint: measure.meaning,
    value: (p) => measure.values[p],
    cell: (p) => (measure.kind === "words" ? (measure.values[p] ?? "-") : measure.kind === "share" ? percent(measure.values[p]) : whole(measure.values[p])),
    text: measure.kind === "words",
    kind: data.views[0].listed ? "wide" : measure.kind === "words" ? "wide" : "",
  });
  const scored = [
    { key: "score", title: "score", value: (p) => row(p)[SCORE], cell: (p) => number(row(p)[SCORE]), kind: "score" },
    { key: "interval", title: "95 % interval", value: (p) => row(p)[LOW], cell: intervalCell, text: true, kind: "score interval" },
  ];
  const flag = { key: "flag", title: "flag", value: (p) => row(p)[PLACE], cell: (p) => flagBadge(row(p)[FLAG]), text: true };
  return {
    size: names.length,
    noun: data.noun,
    names: names,
    folded: fold(names),
    columns: [
      { key: "name", title: data.noun, value: (p) => alphabetical()[p], cell: nameCell, text: true },
      ...scored,
      flag,
      { key: "count", title: data.counted, value: (p) => row(p)[COUNT], cell: (p) => count(row(p)[COUNT]) },
      { key: "mark", title: "mark", value: (p) => markOf(p) || null, cell: markCell, text: true },
      ...measures.map(ofMeasure),
    ],
    people: (p) => [p],
    address: (p) => addressOf(p),
    flagOf: (p) => row(p)[FLAG],
    keeps: (p) => !isNarrowed() || reviewsOf(p).some((review) => fits(reviewRows()[review])),
    worst: () => (data.views[view].listed ? "score" : "flag"),
  };
}

function reviewKind() {
  const rows = reviewRows();
  const papers = data.details.papers.map(visible);
  const ofPaper = placesOf(papers);
  const its = (r) => names[rows[r][OF_PERSON]] + " " + papers[rows[r][OF_PAPER]];
  const known = (column) => rows.some((row) => row[column] !== null);
  const link = (r) => make("a", { href: kind.address(r), tabindex: -1 }, named(data.names[rows[r][OF_PERSON]]));
  const kind = {
    size: rows.length,
    noun: data.kind === "reviews" && data.noun === "worker" ? "answer" : "review",
    folded: fold(rows.map((_, r) => its(r))),
    columns: [
      { key: "name", title: data.noun, value: (r) => alphabetical()[rows[r][OF_PERSON]], cell: link, text: true },
      { key: "paper", title: data.counted.slice(0, -1), value: (r) => ofPaper[rows[r][OF_PAPER]], cell: (r) => named(data.details.papers[rows[r][OF_PAPER]]), text: true },
      { key: "flag", title: "flag", value: (r) => r, cell: (r) => flagBadge(rows[r][R_FLAG]), text: true },
      ...(known(R_READS) ? [{ key: "reads", title: "reads as", value: (r) => rows[r][R_READS], cell: (r) => rows[r][R_READS] ?? "-", text: true, kind: "wide" }] : []),
      ...(known(R_OWN) ? [{ key: "own", title: "chance own", value: (r) => rows[r][R_OWN], cell: (r) => percent(rows[r][R_OWN]) }] : []),
      ...(known(R_COPIED) ? [{ key: "copied", title: "word for word", hint: "share of its words that stand in a text of the LLM", value: (r) => rows[r][R_COPIED], cell: (r) => ofWords(rows[r][R_COPIED]), kind: "wide" }] : []),
      { key: "mark", title: "mark", value: (r) => markOf(rows[r][OF_PERSON]) || null, cell: (r) => markCell(rows[r][OF_PERSON]), text: true },
    ],
    people: (r) => [rows[r][OF_PERSON]],
    address: (r) => addressOf(rows[r][OF_PERSON], rows[r][OF_PAPER]),
    flagOf: (r) => rows[r][R_FLAG],
    keeps: (r) => fits(rows[r]),
    worst: () => "flag",
  };
  return kind;
}

function paperKind() {
  const rows = reviewRows();
  const papers = data.details.papers.map(visible);
  const ofPaper = papers.map(() => []);
  rows.forEach((its, review) => ofPaper[its[OF_PAPER]].push(review));
  const places = placesOf(papers);
  const some = (p, flag) => ofPaper[p].filter((review) => rows[review][R_FLAG] === flag);
  const who = (p, flag) => some(p, flag).map((review) => names[rows[review][OF_PERSON]]).join(", ") || "-";
  const kind = {
    size: papers.length,
    noun: data.counted.slice(0, -1),
    folded: fold(papers),
    columns: [
      { key: "name", title: data.counted.slice(0, -1), value: (p) => places[p], cell: (p) => make("a", { href: kind.address(p), tabindex: -1 }, named(data.details.papers[p])), text: true },
      { key: "flag", title: "to look at", value: (p) => -some(p, "look").length * 1000 - some(p, "unsure").length, cell: (p) => count(some(p, "look").length) },
      { key: "unsure", title: "unsure", value: (p) => some(p, "unsure").length, cell: (p) => count(some(p, "unsure").length) },
      { key: "count", title: "of", value: (p) => ofPaper[p].length, cell: (p) => count(ofPaper[p].length) },
      { key: "who", title: "whose to look at", value: (p) => who(p, "look"), cell: (p) => who(p, "look"), text: true, kind: "wide" },
    ],
    people: (p) => ofPaper[p].map((review) => rows[review][OF_PERSON]),
    address: (p) => written([["by", "review"], ["paper", data.details.papers[p]]]),
    flagOf: (p) => ["look", "unsure"].find((flag) => some(p, flag).length) ?? null,
    keeps: (p) => !isNarrowed() || ofPaper[p].some((review) => fits(rows[review])),
    worst: () => "flag",
  };
  return kind;
}

let alphabet = null;
const alphabetical = () => (alphabet ??= placesOf(names));
const makers = { person: personKind, review: reviewKind, paper: paperKind };
const kinds = {};
const kindOf = (key) => (kinds[key] ??= makers[key]());
let by = "person"; // What a row of the list is.
let kind = null;
let columns = [];
let heads = [];
let sortColumn = 0;
let descending = false;
let shown = []; // Numbers of what is in the list, in order.
let active = 0; // Place in `shown` of the row that the keyboard is at.

const orders = new Map(); // Everything in the orders that were asked for.

/** Everything in the order asked for, missing values last; of equals by name. */
function ordered() {
  const column = columns[sortColumn];
  const name = [by, view, column.key, descending].join(" ");
  // Marks change.
  if (column.key === "mark" || !orders.has(name)) orders.set(name, sorted(column, descending ? -1 : 1));
  return orders.get(name);
}

function sorted(column, sign) {
  const all = Array.from({ length: kind.size }, (_, item) => item);
  const values = all.map((item) => column.value(item));
  // Texts by their place among all texts, since numbers are compared fast.
  const texts = [...new Set(values.filter((value) => typeof value === "string"))].sort();
  const places = new Map(texts.map((text, place) => [text, place]));
  const key = Float64Array.from(values, (value) => (value === null ? Infinity : sign * (places.get(value) ?? value)));
  const tie = columns[0].value;
  return Int32Array.from(all).sort((a, b) => key[a] - key[b] || tie(a) - tie(b));
}

/** What fits the search and the filters, in the order asked for, missing values last; the keyboard stays
    with what it is at if asked to `keep` it there. */
function refresh(keep = false) {
  const stays = keep ? shown[active] : undefined;
  const searched = byId("search").value.trim().toLowerCase();
  const flag = byId("flag").value;
  const mark = byId("marked").value;
  const least = by === "person" ? Number(byId("least").value) || 0 : 0;
  shown = [];
  for (const item of ordered()) {
    if (searched && !kind.folded[item].includes(searched)) continue;
    if (flag && (kind.flagOf(item) || "-") !== flag) continue;
    if (least && (row(item)[COUNT] || 0) < least) continue;
    if (mark && !kind.people(item).some((person) => (markOf(person) || "-") === mark)) continue;
    if (!kind.keeps(item)) continue;
    shown.push(item);
  }
  active = Math.max(0, shown.indexOf(stays));
  byId("shown").textContent = shown.length + " of " + kind.size + " " + kind.noun + "s";
  byId("only-paper").hidden = wanted.paper === null;
  if (wanted.paper !== null) byId("only-paper").querySelector("bdi").textContent = visible(data.details.papers[wanted.paper]);
  byId("least-choice").hidden = by !== "person";
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

const worstColumn = () => columns.findIndex(({ key }) => key === kind.worst());

// ---- The list: only rows in sight exist --------------------------------------------------

const scroller = byId("scroller");
const list = byId("list");
const body = list.tBodies[0];

/** Lists people, reviews or papers. */
function chooseBy(chosen) {
  by = chosen;
  kind = kindOf(by);
  columns = kind.columns;
  sortColumn = worstColumn();
  descending = false;
  heads = columns.map((column, i) => {
    const button = make("button", { type: "button" }, column.title);
    if (column.hint) button.title = column.hint;
    button.addEventListener("click", () => {
      descending = i === sortColumn ? !descending : false;
      sortColumn = i;
      ask();
    });
    return make("th", { scope: "col", class: cellClass(column) }, button);
  });
  list.tHead.rows[0].replaceChildren(...heads);
  if (byId("by")) byId("by").value = by;
}

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
  for (let place = first; place < last; place++) rows.push(itemRow(place));
  rows.push(space(shown.length - last));
  body.replaceChildren(...rows);
  if (focused) body.querySelector("tr.active")?.focus({ preventScroll: true });
}

function space(rows) {
  const cell = make("td", { colspan: columns.length });
  cell.style.height = rows * ROW_HEIGHT + "px";
  return make("tr", { class: "space", "aria-hidden": "true" }, cell);
}

function itemRow(place) {
  const item = shown[place];
  const cells = columns.map((column, i) => {
    const attributes = { class: cellClass(column) };
    if (i === 0) attributes.scope = "row";
    return make(i === 0 ? "th" : "td", attributes, column.cell(item));
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

/** The person of a row, if it is of one. */
const personOf = (item) => (by === "paper" || item === undefined ? null : kind.people(item)[0]);

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
  if (personOf(shown[active]) !== null) mark(personOf(shown[active]));
}

const open = (person) => (location.hash = addressOf(person));
const openItem = (item) => (location.hash = kind.address(item));
const placeOf = (target) => {
  const its = target.closest("tr.person");
  return its ? Number(its.dataset.place) : null;
};

body.addEventListener("keydown", (event) => {
  const page = Math.max(1, Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.key in steps) moveTo(active + steps[event.key]);
  else if (event.key === "Enter" && shown.length) openItem(shown[active]);
  else return;
  event.preventDefault();
});
body.addEventListener("click", (event) => {
  const place = placeOf(event.target);
  if (place === null || event.target.closest("a")) return;
  active = place;
  openItem(shown[place]);
});
body.addEventListener("mouseover", (event) => {
  const place = placeOf(event.target);
  if (place !== null && personOf(shown[place]) !== null) mark(personOf(shown[place]));
});
scroller.addEventListener("scroll", () => requestAnimationFrame(() => drawRows()));
// The height is known only once the browser has laid the list out, which is after the first rows.
new ResizeObserver(() => drawRows()).observe(scroller);

findMarks();
chooseBy("person");

