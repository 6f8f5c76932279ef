// ---- Evidence in reviews -----------------------------------------------------------------------

const PHRASE = 4; // Words that two texts share in a row before they are marked.

function reviewEvidence(person, papers) {
  const ofPaper = new Map(reviewsOf(person).map((review) => [reviewRows()[review][OF_PAPER], reviewRows()[review]]));
  const worst = (its) => reviewsOf(person).indexOf(reviewRows().indexOf(ofPaper.get(its[0])));
  const cards = [...papers].sort((a, b) => worst(a) - worst(b)).map((its) => {
    const [paper, peers, z, , , , , leftOut] = its;
    const thing = data.counted[0].toUpperCase() + data.counted.slice(1, -1) + " ";
    const card = make("article", { class: "paper", id: "paper-" + paper, tabindex: -1 }, make("h2", {}, thing, named(data.details.papers[paper])));
    card.append(...saidOf(ofPaper.get(paper)));
    card.append(...sideBySide(its), ...aspectsOf(its));
    const peerRows = peers.map(([peer, before, after]) =>
      make("tr", {},
        make("th", { scope: "row" }, make("a", { href: addressOf(peer) }, named(data.names[peer]))),
        make("td", { class: "number" }, number(before)),
        make("td", { class: "number" }, number(after))));
    const zRows = z.map(([source, similarity]) =>
      make("tr", {},
        make("th", { scope: "row" }, named(data.details.sources[source])),
        make("td", { class: "number" }, number(similarity))));
    card.append(make("div", { class: "pairs" },
      peers.length ? table({}, ["similarity with", "as is", "beyond the LLM"], peerRows) : make("p", {}, "No peer reviewed it."),
      z.length ? table({}, ["LLM", "similarity"], zRows) : make("p", {}, "No LLM review of it.")));
    if (leftOut) card.append(make("p", { class: "legend" }, "The last " + leftOut + " sentences of this review were not compared."));
    return make("section", {}, card);
  });
  return [legend(), ...cards];
}

/** What is said of one review. */
function saidOf(its) {
  if (!its || its[R_FLAG] === null) return [];
  const said = [];
  if (its[R_READS]) said.push("reads as " + its[R_READS]);
  if (its[R_OWN] !== null) said.push("chance of own work " + percent(its[R_OWN]));
  if (its[R_COPIED]) said.push(ofWords(its[R_COPIED]) + " of its words stand in an LLM's");
  return [make("p", {}, flagBadge(its[R_FLAG]), " ", said.join("; "))];
}

/** What the shades mean: evidence, by a rule. */
function legend() {
  const { text, cutAfter, shading } = data.details;
  const said = [];
  if (text === "none") said.push("The text of the reviews is left out of this file.");
  else if (!shading) said.push("Sentences were not compared.");
  else {
    said.push(make("mark", { class: "z key" }, "Shaded"), shading.replace(/^Shaded/, "") + " ",
      make("mark", { class: "p key" }, "Underlined"), ": peers say it and the LLM does not, as of the top quarter of such sentences. Bold: ",
      make("b", { class: "shared" }, "the same words"),
      ". Point at a sentence, or move to it with Tab, to see the closest ones beside it. Grey: headings and what many reviews share, which is no evidence.");
  }
  if (cutAfter) said.push(" Only the sentences with most to say are in this file, longer ones than " + cutAfter + " characters cut (\u2026).");
  return make("p", { class: "legend" }, ...said);
}

// ---- Three texts side by side ------------------------------------------------------------------

/** The review, the closest text of an LLM and the closest review of a peer, as far as they are here. */
function sideBySide([paper, peers, z, own, inZ, inPeer, sentences]) {
  const texts = textsOf(paper);
  if (!texts[own]?.[2].length) return [];
  const others = [["z", inZ], ["peer", inPeer]].filter(([, place]) => place !== null && texts[place][2].length);
  const said = new Map(sentences.map((sentence) => [sentence[0], sentence]));
  const grams = (place) => new Set(texts[place][2].flatMap(([, text, form]) => (form ? [] : phrases(words(text)))));
  const ownGrams = grams(own);
  const otherGrams = new Set(others.flatMap(([, place]) => [...grams(place)]));
  const similarity = (place) => {
    const author = texts[place][0];
    const its = author < 0 ? z.filter(([source]) => source === -1 - author) : peers.filter(([peer]) => peer === author);
    return its.map((row) => row[1]).filter((value) => value !== null).sort((a, b) => b - a)[0] ?? null;
  };
  const heading = { z: "Closest of the LLM: ", peer: "Closest peer: " };
  const columns = [column(paper, "own", make("h3", {}, "This review"), texts[own], otherGrams, said)];
  for (const [kind, place] of others) {
    const author = texts[place][0];
    const name = author < 0 ? data.details.sources[-1 - author] : data.names[author];
    const head = make("h3", {}, heading[kind], named(name), " (" + number(similarity(place)) + ")");
    columns.push(column(paper, kind, head, texts[place], ownGrams, null));
  }
  const box = make("div", { class: "beside" }, ...columns.map(({ element }) => element));
  link(columns, said, others.map(([kind]) => kind));
  return [box];
}

/** One text with the sentences that are in the file; gaps are marked. */
function column(paper, kind, head, [, length, sentences], grams, said) {
  const marks = new Map();
  const parts = [];
  let next = 0;
  for (const [position, text, form] of sentences) {
    if (position > next) parts.push(make("span", { class: "gap" }, "[\u2026] "));
    next = position + 1;
    const found = said?.get(position);
    const element = make("mark", { class: "sentence" + (form ? " form" : shade(found)) }, make("bdi", {}, ...withPhrases(text, form ? null : grams)));
    if (found && !form) element.title = "LLM " + number(found[1]) + ", peers " + number(found[2]);
    marks.set(position, element);
    parts.push(element, " ");
    if (found && !form && data.details.text !== "full") {
      parts.push(make("small", {}, "LLM " + number(found[1]) + ", peers " + number(found[2])), " ");
    }
  }
  if (length > next) parts.push(make("span", { class: "gap" }, "[\u2026]"));
  const text = make("div", { class: "text", tabindex: 0, role: "region", "aria-label": head.textContent + ", paper " + visible(data.details.papers[paper]) }, ...parts);
  return { kind, marks, text, element: make("div", { class: "column " + kind }, head, text) };
}

const shade = (found) => ["", " z", " p"][found?.[3] ?? 0];

/** Shows with every sentence the closest ones of the other texts, and the other way round. */
function link([own, ...others], said, kinds) {
  const place = { z: 4, peer: 6 };
  const groups = [];
  for (const [position, found] of said) {
    const element = own.marks.get(position);
    const partners = others.map(({ kind, marks, text }) => [marks.get(found[place[kind]]), text]);
    const known = partners.filter(([partner]) => partner);
    if (!element || !known.length) continue;
    element.tabIndex = 0;
    const cosines = kinds.filter((kind) => found[place[kind]] !== null).map((kind) => (kind === "z" ? "LLM " : "peer ") + number(found[place[kind] + 1]));
    element.title += " \u2013 closest sentence beside it: " + cosines.join(", ");
    groups.push([element, known]);
    const light = (on) => () => {
      element.classList.toggle("linked", on);
      for (const [partner, text] of known) {
        partner.classList.toggle("linked", on);
        if (on) bring(partner, text);
      }
    };
    ["mouseenter", "focus"].forEach((event) => element.addEventListener(event, light(true)));
    ["mouseleave", "blur"].forEach((event) => element.addEventListener(event, light(false)));
  }
  for (const partner of new Set(groups.flatMap(([, known]) => known.map(([partner]) => partner)))) {
    const its = groups.filter(([, known]) => known.some(([other]) => other === partner)).map(([element]) => element);
    const light = (on) => () => {
      partner.classList.toggle("linked", on);
      its.forEach((element) => element.classList.toggle("linked", on));
      if (on) bring(its[0], own.text);
    };
    partner.addEventListener("mouseenter", light(true));
    partner.addEventListener("mouseleave", light(false));
  }
}

/** Scrolls a text, and nothing else, until a sentence of it is in sight. */
function bring(sentence, text) {
  const [inside, outside] = [sentence.getBoundingClientRect(), text.getBoundingClientRect()];
  if (inside.top < outside.top) text.scrollTop -= outside.top - inside.top;
  else if (inside.bottom > outside.bottom) text.scrollTop += Math.min(inside.bottom - outside.bottom, inside.top - outside.top);
}

// ---- Words in a row that two texts share ---------------------------------------------------------

/** Words in lower case with where they stand. */
const words = (text) => [...text.matchAll(/[\p{L}\p{N}]+/gu)].map((its) => [its[0].toLowerCase(), its.index, its.index + its[0].length]);

const phrases = (its) => its.slice(PHRASE - 1).map((_, i) => its.slice(i, i + PHRASE).map(([word]) => word).join(" "));

/** The text in pieces, with what stands in a phrase of `grams` in bold. */
function withPhrases(text, grams) {
  if (!grams?.size) return [visible(text)];
  const its = words(text);
  const bold = new Set();
  phrases(its).forEach((phrase, i) => {
    if (grams.has(phrase)) for (let word = i; word < i + PHRASE; word++) bold.add(word);
  });
  const parts = [];
  let done = 0;
  for (let word = 0; word < its.length; word++) {
    if (!bold.has(word)) continue;
    const start = its[word][1];
    while (bold.has(word + 1)) word++;
    const end = its[word][2];
    parts.push(visible(text.slice(done, start)), make("b", { class: "shared" }, visible(text.slice(start, end))));
    done = end;
  }
  parts.push(visible(text.slice(done)));
  return parts;
}

