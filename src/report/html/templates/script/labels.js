const MOST_LABELS = 15; // More make a list instead of a square.

// ---- Evidence in labels ------------------------------------------------------------------

// What the tasks of a worker tell, in the order of the numbers.
const KINDS = ["with the LLM against the consensus", "alone", "with the consensus against the LLM", "the same as both", "nothing to compare with"];

/** The tasks that tell most about whom a worker follows. */
function tasksOf(kinds, tasks) {
  const { labels, sources } = data.details;
  const all = kinds.reduce((a, b) => a + b, 0);
  const said = kinds.map((its, kind) => its && its + " " + KINDS[kind]).filter(Boolean).join(", ");
  const label = (its) => (its === null ? "-" : named(labels[its]));
  const rows = tasks.map(([task, kind, own, consensus, z]) =>
    make("tr", {},
      make("th", { scope: "row" }, named(data.details.tasks[task])),
      make("td", {}, label(own)),
      ...z.map((its) => make("td", { class: its === own ? "same" : "" }, label(its))),
      make("td", { class: consensus === own ? "same" : "" }, label(consensus)),
      make("td", {}, KINDS[kind])));
  const head = ["task", "this " + data.noun, ...sources, "consensus", "tells"].map((name) => make("th", { scope: "col" }, named(name)));
  const more = all > tasks.length ? " The " + tasks.length + " that tell most are below." : "";
  return [
    make("h2", {}, "The tasks behind it"),
    make("p", { class: "legend" }, "Of " + all + " tasks: " + said + "." + more),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tasks" },
      make("table", { class: "tasks" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))),
  ];
}

function labelEvidence([agreement, cells, leftOut, ties, kinds, tasks]) {
  const { labels, sources, consensus } = data.details;
  const card = make("article", { class: "card" });
  if (sources.length) {
    const rows = agreement.map(([share, tasks], source) =>
      make("tr", {},
        make("th", { scope: "row" }, named(sources[source])),
        make("td", { class: "number" }, number(share)),
        make("td", { class: "number" }, count(tasks))));
    card.append(make("h2", {}, "Agreement with the LLM"), table({}, ["LLM", "share of tasks with the same label", "tasks"], rows));
  }
  card.append(make("h2", {}, "What this " + data.noun + " says, against the consensus"), make("p", { class: "legend" }, consensus));
  const used = [...new Set(cells.flatMap(([truth, own]) => [truth, own]))].sort((a, b) => a - b);
  card.append(make("div", { class: "scroll" }, used.length <= MOST_LABELS ? square(cells, used) : pairs(cells)));
  const notes = [];
  if (leftOut) notes.push(leftOut + " more tasks are in rarer pairs of labels.");
  if (ties) notes.push("On " + ties + " tasks several labels tie for the consensus; they are left out.");
  if (notes.length) card.append(make("p", { class: "legend" }, notes.join(" ")));
  if (tasks.length) card.append(...tasksOf(kinds, tasks));
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

