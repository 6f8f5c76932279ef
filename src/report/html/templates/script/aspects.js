// ---- What a review praises and criticises, beside its peers and the LLM ---------------------------

const SAYS = 0.1; // From here on a text says something of a category.
const BAR = 150; // Width of a bar, from -1 to 1.

const mean = (rows) => rows[0].map((_, i) => rows.reduce((sum, its) => sum + its[i], 0) / rows.length);
const listed = (texts) => (texts.length < 2 ? texts.join("") : texts.slice(0, -1).join(", ") + " and " + texts.at(-1));

/** A bar to the right of the middle for praise, to the left for criticism. */
function aspectBar(value) {
  const middle = BAR / 2;
  const length = Math.min(Math.abs(value), 1) * (middle - 1);
  const x = value < 0 ? middle - length : middle;
  return draw("svg", { class: "aspect", viewBox: "0 0 " + BAR + " 12", preserveAspectRatio: "none", width: BAR, height: 12, "aria-hidden": "true" },
    draw("line", { class: "zero", x1: middle, x2: middle, y1: 0, y2: 12 }),
    draw("rect", { class: value < 0 ? "against" : "for", x: x.toFixed(1), y: 2, width: length.toFixed(1), height: 8 }));
}

/** A table of bars for one review, with what it leaves out said first; nothing where nobody says a thing. */
function aspectsOf([paper, , , own]) {
  const known = data.details.aspects;
  const texts = textsOf(paper);
  const values = texts[own]?.[3];
  if (!known || !values) return [];
  const others = texts.filter((_, place) => place !== own);
  const of = (kind) => others.filter(([author]) => (kind === "LLM" ? author < 0 : author >= 0)).map((its) => its[3]);
  const columns = [["this review", values]];
  for (const [head, kind] of [["peers", "peers"], ["LLM", "LLM"]]) {
    const rows = of(kind);
    if (rows.length) columns.push([rows.length > 1 ? head + " (mean of " + rows.length + ")" : head, mean(rows)]);
  }
  const says = (value) => Math.abs(value) >= SAYS;
  const places = known.categories.map((_, i) => i).filter((i) => columns.some(([, its]) => says(its[i])));
  if (!places.length) return [];
  const peers = of("peers").length ? mean(of("peers")) : null;
  const name = (i) => visible(known.categories[i]);
  const missing = peers ? places.filter((i) => says(peers[i]) && !says(values[i])).map(name) : [];
  const alone = peers ? places.filter((i) => says(values[i]) && !says(peers[i])).map(name) : [];
  const said = [];
  if (missing.length) said.push("Peers speak of " + listed(missing) + "; this review does not.");
  if (alone.length) said.push("Only this review speaks of " + listed(alone) + ".");
  if (!said.length && peers) said.push("It speaks of what its peers speak of.");
  const rows = places.map((i) => {
    const cells = columns.map(([, its]) => {
      const sign = !says(its[i]) ? "nothing" : its[i] > 0 ? "praise" : "criticism";
      return make("td", {}, aspectBar(its[i]), make("span", { class: "ends" }, sign + " " + its[i].toFixed(2).replace(/^-(0\.00)$/, "$1")));
    });
    return make("tr", {}, make("th", { scope: "row" }, named(known.categories[i])), ...cells);
  });
  const head = ["", ...columns.map(([title]) => title)];
  const heads = head.map((title) => (title ? make("th", { scope: "col" }, title) : make("td", {})));
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Praise and criticism, paper " + visible(data.details.papers[paper]) };
  return [
    make("h3", {}, "What it praises and criticises"),
    make("p", {}, said.join(" ")),
    make("div", scroll, make("table", { class: "aspects" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows))),
    make("p", { class: "legend" }, "To the right praise, to the left criticism; categories of which nobody here says anything are left out. " + visible(known.reader)),
  ];
}

