// ---- One person --------------------------------------------------------------------------

let lines = null; // The evidence, one line of JSON per person.
const evidenceOf = (person) => {
  lines ??= byId("details").textContent.split("\n");
  return JSON.parse(lines[person]);
};
let papers = null; // The texts, one line of JSON per paper.
const textsOf = (paper) => {
  papers ??= byId("texts").textContent.split("\n");
  return JSON.parse(papers[paper]);
};
let current = null; // The person on show.

/** What is said of a person first: the verdict, its reasons, and what speaks against it. */
function verdictOf(person) {
  const [first, ...others] = evidenceOf(person)[0];
  if (!first) return [];
  const rows = others.flatMap(([about, said]) => [make("dt", {}, about), make("dd", {}, make("bdi", {}, visible(said)))]);
  const flag = data.views[0].rows[person][FLAG];
  return [make("p", { class: "verdict " + flag }, visible(first[1]) + "."), make("dl", { class: "reasons" }, ...rows)];
}

/** The evidence for a person, as elements; of some papers only where the list is narrowed to them. */
function evidence(person) {
  const found = evidenceOf(person)[1];
  if (data.kind !== "reviews") return labelEvidence(found);
  const papers = new Set(reviewsOf(person).map((review) => reviewRows()[review]).filter(fits).map((its) => its[OF_PAPER]));
  const some = isNarrowed() ? found.filter(([paper]) => papers.has(paper)) : found;
  return reviewEvidence(person, some);
}

const inWords = (measure, person) => {
  const value = measure.values[person];
  return measure.kind === "words" ? (value ?? "-") : measure.kind === "share" ? percent(value) : whole(value);
};

function showPerson(person, paper) {
  byId("person-name").replaceChildren(named(data.names[person]));
  byId("verdict").replaceChildren(...verdictOf(person));
  byId("person-scores").replaceChildren(...numbersOf(person));
  byId("evidence").replaceChildren(...evidence(person));
  current = person;
  showMark();
  const isHere = (item) => kind.people(item).includes(person) && (by !== "review" || paper === null || reviewRows()[item][OF_PAPER] === paper);
  const place = by !== "paper" && shown[active] !== undefined && isHere(shown[active]) ? active : shown.findIndex(isHere);
  if (place >= 0) active = place;
  for (const [id, other] of [["previous", shown[place - 1]], ["next", shown[place + 1]]]) {
    if (place >= 0 && other !== undefined) byId(id).href = kind.address(other);
    else byId(id).removeAttribute("href");
  }
  document.title = names[person] + " - " + title;
  mark(person);
}

/** All numbers, folded where the verdict says what they mean. */
function numbersOf(person) {
  const all = [scoresOf(person), ...measuresOf(person)];
  if (!data.hasVerdicts) return all;
  return [make("details", {}, make("summary", {}, "In numbers"), ...all)];
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
    const value = make("strong", {}, inWords(measure, person));
    return make("p", {}, measure.name + ": ", value, " (" + measure.meaning + ")");
  });
}

// ---- Marks of the person on show ---------------------------------------------------------------

const markButtons = [...document.querySelectorAll("button[data-mark]")];

function showMark() {
  const its = markOf(current);
  markButtons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.mark === its)));
  byId("note").value = noteOf(current);
  byId("undo").disabled = !canUndo();
}

/** Marks the person on show, or takes the mark back. */
function toggle(mark) {
  setMark(current, markOf(current) === mark ? "" : mark, noteOf(current));
  showMark();
}

markButtons.forEach((button) => button.addEventListener("click", () => toggle(button.dataset.mark)));
byId("note").addEventListener("input", (event) => {
  setMark(current, markOf(current), event.target.value, true);
  byId("undo").disabled = false;
});
byId("undo").addEventListener("click", undo);

/** Takes back the last mark or note, of whomever it was. */
function undo() {
  const person = undoMark();
  if (person === null) return;
  if (current === null) refresh(true);
  else if (current !== person) open(person);
  else showMark();
}

/** Opens the next person in the list without a mark, or the one before; the list goes round. */
function openUnmarked(step) {
  const isCurrent = (item) => current !== null && kind.people(item).includes(current);
  const here = current === null || isCurrent(shown[active] ?? shown[0]) ? active : shown.findIndex(isCurrent);
  // In the list the row that the keyboard is at counts itself.
  const start = current === null && step > 0 ? here - 1 : here;
  const around = (place) => ((place % shown.length) + shown.length) % shown.length;
  for (let i = 1; i <= shown.length; i++) {
    const place = around(start + step * i);
    const person = kind.people(shown[place]).find((its) => its !== current && !markOf(its));
    if (person === undefined) continue;
    active = place;
    return by === "paper" ? open(person) : openItem(shown[place]);
  }
}

const keys = byId("keys");
document.querySelectorAll(".open-keys").forEach((button) => button.addEventListener("click", () => keys.showModal()));
byId("next-unmarked").addEventListener("click", () => openUnmarked(1));
byId("previous-unmarked").addEventListener("click", () => openUnmarked(-1));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.target.closest?.("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const mark = current === null ? undefined : Object.keys(MARKS)[Number(event.key) - 1];
  if (event.key === "n") openUnmarked(1);
  else if (event.key === "p") openUnmarked(-1);
  else if (event.key === "u") undo();
  else if (event.key === "?") keys.showModal();
  else if (event.key === "Escape" && current !== null) location.hash = addressOfList();
  else if (mark) toggle(mark);
  else return;
  event.preventDefault();
});

