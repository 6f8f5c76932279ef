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

/** The evidence for a person, as elements. */
const evidence = (person) => (data.kind === "reviews" ? reviewEvidence : labelEvidence)(evidenceOf(person));

function showPerson(person) {
  byId("person-name").replaceChildren(named(data.names[person]));
  byId("person-scores").replaceChildren(scoresOf(person), ...measuresOf(person));
  byId("evidence").replaceChildren(...evidence(person));
  current = person;
  showMark();
  const place = shown.indexOf(person);
  if (place >= 0) active = place;
  for (const [id, other] of [["previous", shown[place - 1]], ["next", shown[place + 1]]]) {
    if (place >= 0 && other !== undefined) byId(id).href = addressOf(other);
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

// ---- Marks of the person on show ---------------------------------------------------------------

const markButtons = [...document.querySelectorAll("button[data-mark]")];

function showMark() {
  const its = markOf(current);
  markButtons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.mark === its)));
  byId("note").value = noteOf(current);
}

/** Marks the person on show, or takes the mark back. */
function toggle(mark) {
  setMark(current, markOf(current) === mark ? "" : mark, noteOf(current));
  showMark();
}

markButtons.forEach((button) => button.addEventListener("click", () => toggle(button.dataset.mark)));
byId("note").addEventListener("input", (event) => setMark(current, markOf(current), event.target.value));

/** Opens the next person in the list without a mark, or the one before; the list goes round. */
function openUnmarked(step) {
  const here = shown.indexOf(current ?? shown[active]);
  // In the list the row that the keyboard is at counts itself.
  const start = current === null && step > 0 ? here - 1 : here;
  const around = (place) => ((place % shown.length) + shown.length) % shown.length;
  for (let i = 1; i <= shown.length; i++) {
    const person = shown[around(start + step * i)];
    if (person !== current && !markOf(person)) return open(person);
  }
}

byId("next-unmarked").addEventListener("click", () => openUnmarked(1));
byId("previous-unmarked").addEventListener("click", () => openUnmarked(-1));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, select, textarea")) return;
  const mark = current === null ? undefined : Object.keys(MARKS)[Number(event.key) - 1];
  if (event.key === "n") openUnmarked(1);
  else if (event.key === "p") openUnmarked(-1);
  else if (mark) toggle(mark);
  else return;
  event.preventDefault();
});

