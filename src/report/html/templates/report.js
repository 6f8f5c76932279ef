// The list of people, and a page for each of them.
//
// Data come from two blocks of JSON: `data` is read at once and has names and scores; `details` has
// one line per person and is read when somebody is opened. Everything becomes text nodes and
// attributes, never markup. The address ends in `#person-N`, N the number of a person, so that the
// back button works and no name is in an address.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const title = document.title;

  const ROW_HEIGHT = 36; // As in the style.
  const SPARE_ROWS = 12; // Drawn above and below what is in sight.
  const MOST_PRINTED = 2000;
  const MOST_LABELS = 15; // More make a list instead of a square.

  // ---- Small helpers -----------------------------------------------------------------------

  /** An element with attributes and children; strings become text. */
  function make(name, attributes = {}, ...children) {
    return fill(document.createElement(name), attributes, children);
  }

  /** The same for SVG. */
  function draw(name, attributes = {}, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  }

  function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const number = (value) => (value === null ? "-" : value.toFixed(3));
  const count = (value) => (value === null ? "-" : String(value));

  // Characters that hide or reorder what is around them, as the program shows them on a terminal.
  const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;
  const visible = (text) =>
    text.replace(HOSTILE, (letter) => "\\u{" + letter.codePointAt(0).toString(16) + "}");

  /** A name in a box of its own, so that its direction does not spill over. */
  const named = (text) => make("bdi", {}, visible(text));

  function table(attributes, head, rows) {
    const cells = head.map((text, i) => make("th", { scope: "col", class: i ? "number" : "" }, text));
    return make("table", attributes, make("thead", {}, make("tr", {}, ...cells)), make("tbody", {}, ...rows));
  }

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
    { title: data.noun, value: (p) => alphabetical[p], cell: nameCell, text: true },
    { title: "score", value: (p) => row(p)[SCORE], cell: (p) => number(row(p)[SCORE]) },
    { title: "95 % interval", value: (p) => row(p)[LOW], cell: intervalCell, text: true, kind: "interval" },
    { title: "rank", value: (p) => row(p)[RANK], cell: (p) => count(row(p)[RANK]), kind: "wide" },
    { title: "flag", value: (p) => row(p)[FLAG], cell: (p) => flagBadge(row(p)[FLAG]), text: true },
    { title: data.counted, value: (p) => row(p)[COUNT], cell: (p) => count(row(p)[COUNT]) },
    ...data.measures.map((measure) => ({
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

  /** People who fit the search and the filters, in the order asked for; missing values last. */
  function refresh() {
    const wanted = byId("search").value.trim().toLowerCase();
    const flag = byId("flag").value;
    const least = Number(byId("least").value) || 0;
    const key = names.map((_, person) => columns[sortColumn].value(person));
    const sign = descending ? -1 : 1;
    shown = [];
    for (let person = 0; person < names.length; person++) {
      const its = row(person);
      if (wanted && !folded[person].includes(wanted)) continue;
      if (flag && (its[FLAG] || "-") !== flag) continue;
      if ((its[COUNT] || 0) < least) continue;
      shown.push(person);
    }
    shown.sort((a, b) => {
      const [x, y] = [key[a], key[b]];
      if (x === y) return alphabetical[a] - alphabetical[b];
      if (x === null) return 1;
      if (y === null) return -1;
      return (x < y ? -1 : 1) * sign;
    });
    active = 0;
    byId("shown").textContent = shown.length + " of " + names.length + " " + data.noun + "s";
    heads.forEach((head, i) => {
      if (i === sortColumn) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    list.setAttribute("aria-rowcount", shown.length + 1);
    scroller.scrollTop = 0;
    drawRows();
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
      refresh();
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
    const link = make("a", { href: "#person-" + person, tabindex: -1 }, named(data.names[person]));
    link.title = names[person];
    return link;
  }

  function flagBadge(flag) {
    return flag === null ? "-" : make("span", { class: "flag " + flag }, flag.replaceAll("_", " "));
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

  const open = (person) => (location.hash = "#person-" + person);
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
  addEventListener("resize", () => drawRows());
  addEventListener("beforeprint", () => drawRows(0, MOST_PRINTED));
  addEventListener("afterprint", () => drawRows());

  // ---- Figures -----------------------------------------------------------------------------

  const distributions = [...document.querySelectorAll("figure.distribution")];
  const scatter = document.querySelector("figure.scatter");
  const dots = new Map();
  scatter?.querySelectorAll(".dot").forEach((dot) => dots.set(Number(dot.dataset.person), dot));
  let marked = null;

  /** Marks a person in the figures: the interval in the distribution, the dot in the scatter. */
  function mark(person) {
    dots.get(marked)?.classList.remove("selected");
    marked = person;
    const overlay = distributions[view].querySelector(".overlay");
    overlay.replaceChildren();
    if (person === null) return;
    const dot = dots.get(person);
    dot?.classList.add("selected");
    dot?.parentNode.append(dot); // In front of the others.
    const [score, low, high] = row(person);
    const frame = Object.fromEntries(Object.entries(overlay.dataset).map(([k, v]) => [k, Number(v)]));
    const x = (value) => {
      const share = (value - frame.low) / (frame.high - frame.low);
      return frame.left + Math.min(Math.max(share, 0), 1) * (frame.right - frame.left);
    };
    const y = frame.top + 14;
    if (low !== null) {
      const ends = { x1: x(low), x2: x(high), y1: y, y2: y };
      overlay.append(draw("line", ends));
      for (const end of [low, high]) {
        // An end in the picture gets a cap, one beyond it an arrow.
        const cap = end < frame.low ? [6, -6, 0, 0, 6, 6] : end > frame.high ? [-6, -6, 0, 0, -6, 6] : [0, -6, 0, 6];
        const points = cap.map((value, i) => value + (i % 2 ? y : x(end))).join(" ");
        overlay.append(draw("polyline", { points }));
      }
    }
    if (score !== null) overlay.append(draw("circle", { cx: x(score), cy: y, r: 6 }));
    const said = [data.views[view].name + " score " + number(score)];
    if (low !== null) said.push("interval " + number(low) + " to " + number(high));
    data.measures.forEach((measure) => said.push(measure.name + " " + number(measure.values[person])));
    byId("readout").replaceChildren("Marked: ", named(data.names[person]), ", " + said.join(", ") + ".");
  }

  scatter?.addEventListener("mouseover", (event) => {
    if (event.target.dataset.person) mark(Number(event.target.dataset.person));
  });
  scatter?.addEventListener("click", (event) => {
    if (event.target.dataset.person) open(event.target.dataset.person);
  });

  function chooseView(chosen) {
    view = chosen;
    distributions.forEach((figure, i) => (figure.hidden = i !== view));
    refresh();
    mark(marked);
  }
  byId("view").addEventListener("change", (event) => chooseView(Number(event.target.value)));
  byId("view-choice").hidden = data.views.length < 2;
  ["search", "least"].forEach((id) => byId(id).addEventListener("input", refresh));
  byId("flag").addEventListener("change", refresh);

  // ---- One person --------------------------------------------------------------------------

  let lines = null; // The evidence, one line of JSON per person.
  const evidenceOf = (person) => {
    lines ??= byId("details").textContent.split("\n");
    return JSON.parse(lines[person]);
  };

  function showPerson(person) {
    byId("person-name").replaceChildren(named(data.names[person]));
    byId("person-scores").replaceChildren(scoresOf(person), ...measuresOf(person));
    const render = data.kind === "reviews" ? reviewEvidence : labelEvidence;
    byId("evidence").replaceChildren(...render(evidenceOf(person)));
    const place = shown.indexOf(person);
    if (place >= 0) active = place;
    for (const [id, other] of [["previous", shown[place - 1]], ["next", shown[place + 1]]]) {
      if (place >= 0 && other !== undefined) byId(id).href = "#person-" + other;
      else byId(id).removeAttribute("href");
    }
    document.title = names[person] + " - " + title;
    mark(person);
  }

  function scoresOf(person) {
    const rows = data.views.map(({ name, rows }) => {
      const [score, low, high, rank, flag, its] = rows[person];
      const interval = low === null ? "-" : number(low) + " to " + number(high);
      const values = [number(score), interval, rank === null ? "-" : rank + " of " + names.length];
      const cells = [...values, flagBadge(flag), count(its)];
      return make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", { class: "number" }, cell)));
    });
    const head = ["score", "value", "95 % interval", "rank", "flag", data.counted];
    return make("div", { class: "scroll" }, table({}, head, rows));
  }

  function measuresOf(person) {
    return data.measures.map((measure) => {
      const value = make("strong", {}, number(measure.values[person]));
      return make("p", {}, measure.name + ": ", value, " (" + measure.meaning + ")");
    });
  }

  // ---- Evidence in reviews -----------------------------------------------------------------

  function reviewEvidence(papers) {
    const cards = papers.map(([paper, peers, z, sentences, leftOut]) => {
      const card = make("article", { class: "paper" }, make("h3", {}, "Paper ", named(data.details.papers[paper])));
      const peerRows = peers.map(([peer, before, after]) =>
        make("tr", {},
          make("th", { scope: "row" }, make("a", { href: "#person-" + peer }, named(data.names[peer]))),
          make("td", { class: "number" }, number(before)),
          make("td", { class: "number" }, number(after))));
      const zRows = z.map(([source, similarity]) =>
        make("tr", {},
          make("th", { scope: "row" }, named(data.details.sources[source])),
          make("td", { class: "number" }, number(similarity))));
      card.append(make("div", { class: "pairs" },
        peers.length ? table({}, ["similarity with", "as is", "beyond the LLM"], peerRows) : make("p", {}, "No peer reviewed it."),
        z.length ? table({}, ["LLM", "similarity"], zRows) : make("p", {}, "No LLM review of it.")));
      if (sentences.length) card.append(...sentenceEvidence(sentences));
      if (leftOut) card.append(make("p", { class: "legend" }, "The last " + leftOut + " sentences of this review were not compared."));
      return make("section", {}, card);
    });
    return [legend(), ...cards];
  }

  /** What the shades mean; they compare a sentence with all sentences in this report. */
  function legend() {
    const { text, cutAfter, zLevels, peerLevels } = data.details;
    const said = [];
    if (text === "none") said.push("The text of the reviews is left out of this file.");
    else if (!zLevels && !peerLevels) said.push("Sentences were not compared.");
    else {
      said.push("Shaded: ", make("mark", { class: "z3 key" }, "said by the LLM"),
        ", the stronger the closer the sentence is to one of the LLM's. Underlined: ",
        make("mark", { class: "p3 key" }, "supported by peers beyond the LLM"),
        ", the stronger the more. Lightest, middle and strongest are the top half, quarter and tenth of all sentences here, which always exist: read the words, not the colour.");
    }
    if (cutAfter) said.push(" Sentences longer than " + cutAfter + " characters are cut (\u2026).");
    return make("p", { class: "legend" }, ...said);
  }

  const level = (value, levels) => (value === null || !levels ? 0 : levels.filter((bound) => value >= bound).length);

  function shaded([text, z, peers]) {
    const beyond = peers === null ? null : peers - (z ?? 0);
    const shade = "sentence z" + level(z, data.details.zLevels) + " p" + level(beyond, data.details.peerLevels);
    const sentence = make("mark", { class: shade }, named(text));
    sentence.title = "LLM " + number(z) + ", peers " + number(peers);
    return sentence;
  }

  function sentenceEvidence(sentences) {
    if (data.details.text === "full") {
      const words = sentences.flatMap((sentence) => [shaded(sentence), " "]);
      return [make("h4", {}, "The review"), make("p", { class: "review-text" }, ...words)];
    }
    const rows = sentences.map((sentence) =>
      make("tr", {}, make("td", {}, shaded(sentence)),
        make("td", { class: "number" }, number(sentence[1])),
        make("td", { class: "number" }, number(sentence[2]))));
    return [
      make("h4", {}, "Sentences closest to the LLM's, and those with most support by peers beyond it"),
      table({ class: "sentences" }, ["sentence", "LLM", "peers"], rows),
    ];
  }

  // ---- Evidence in labels ------------------------------------------------------------------

  function labelEvidence([agreement, cells, leftOut, ties]) {
    const { labels, sources, consensus } = data.details;
    const card = make("article", { class: "card" });
    if (sources.length) {
      const rows = agreement.map(([share, tasks], source) =>
        make("tr", {},
          make("th", { scope: "row" }, named(sources[source])),
          make("td", { class: "number" }, number(share)),
          make("td", { class: "number" }, count(tasks))));
      card.append(make("h3", {}, "Agreement with the LLM"), table({}, ["LLM", "share of tasks with the same label", "tasks"], rows));
    }
    card.append(make("h3", {}, "What this " + data.noun + " says, against the consensus"), make("p", { class: "legend" }, consensus));
    const used = [...new Set(cells.flatMap(([truth, own]) => [truth, own]))].sort((a, b) => a - b);
    card.append(make("div", { class: "scroll" }, used.length <= MOST_LABELS ? square(cells, used) : pairs(cells)));
    const notes = [];
    if (leftOut) notes.push(leftOut + " more tasks are in rarer pairs of labels.");
    if (ties) notes.push("On " + ties + " tasks several labels tie for the consensus; they are left out.");
    if (notes.length) card.append(make("p", { class: "legend" }, notes.join(" ")));
    return [card];

    function square(cells, used) {
      const tasks = new Map(cells.map(([truth, own, its]) => [truth + " " + own, its]));
      const head = make("tr", {}, make("th", { scope: "col" }, "consensus \u2193 own \u2192"),
        ...used.map((own) => make("th", { scope: "col", class: "number" }, named(labels[own]))));
      const rows = used.map((truth) => make("tr", {}, make("th", { scope: "row" }, named(labels[truth])),
        ...used.map((own) => make("td", { class: own === truth ? "same" : "" }, String(tasks.get(truth + " " + own) || 0)))));
      return make("table", { class: "confusion" }, make("thead", {}, head), make("tbody", {}, ...rows));
    }

    function pairs(cells) {
      const rows = cells.map(([truth, own, its]) => make("tr", {}, make("td", {}, named(labels[truth])),
        make("td", { class: "number" }, named(labels[own])), make("td", { class: "number" }, String(its))));
      return table({}, ["consensus", "own", "tasks"], rows);
    }
  }

  // ---- Where we are ------------------------------------------------------------------------

  /** Shows the list, or the person in the address. */
  function route(event) {
    const asked = /^#person-(\d+)$/.exec(location.hash);
    const person = asked && Number(asked[1]) < names.length ? Number(asked[1]) : null;
    const onPerson = person !== null;
    document.querySelectorAll(".overview").forEach((part) => (part.hidden = onPerson));
    byId("person").hidden = !onPerson;
    byId("evidence").hidden = !onPerson;
    if (onPerson) {
      showPerson(person);
      scrollTo(0, 0);
      byId("person-name").focus({ preventScroll: true });
    } else {
      document.title = title;
      if (event && shown.length) moveTo(active); // Back in the list, where we left it.
    }
  }

  byId("controls").hidden = false;
  scroller.hidden = false;
  chooseView(0);
  addEventListener("hashchange", route);
  // The evidence follows this script in the file.
  document.addEventListener("DOMContentLoaded", () => route());
})();
