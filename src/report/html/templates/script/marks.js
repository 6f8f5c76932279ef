// ---- What the reader thinks of people --------------------------------------------------------
//
// Kept in this browser under the hash of the results, by name, and under a hash of each text, by which a
// later page of the same reviews finds it. Only what somebody marked or noted is kept.

const MARKS = { looked: "looked at", clear: "clear", follow: "follow up" };
const STORE = "caz " + data.id;
const TEXTS = "caz texts"; // Marks by the hash of a text, of all pages.
const READER = "caz reader";
const MOST_NOTE = 2000; // Characters.
const numbers = new Map(data.names.map((name, person) => [name, person]));
const marks = new Map(); // By number of the person: { mark, note, reader }, of which mark or note is not empty.
const undone = []; // What to go back to: person and what was kept of them.

const markOf = (person) => marks.get(person)?.mark ?? "";
const noteOf = (person) => marks.get(person)?.note ?? "";
const kept = (name) => {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null; // Nothing is kept, or something else under this name.
  }
};
const keep = (name, value) => {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    byId("kept").textContent = "This browser keeps nothing: save the marks to a file before you close the page.";
  }
};

/** What is kept, as it is saved: in the order of the names, each with the hashes of the texts. */
function markRows() {
  const people = [...marks.keys()].sort((a, b) => a - b);
  return people.map((person) => {
    const { mark, note, reader } = marks.get(person);
    return { name: data.names[person], mark, note, reader, texts: textKeys(person) };
  });
}

const textKeys = (person) =>
  data.kind === "reviews" ? reviewsOf(person).map((review) => reviewRows()[review][7]).filter(Boolean) : [];

/** Takes rows of a browser or a file; returns how many people are not here. */
function takeMarks(rows) {
  let unknown = 0;
  let byText = null;
  for (const { name, mark, note, reader, texts } of rows) {
    let person = numbers.get(String(name));
    if (person === undefined && Array.isArray(texts) && data.kind === "reviews") {
      byText ??= new Map(reviewRows().map((its) => [its[7], its[0]]));
      person = texts.map((key) => byText.get(key)).find((its) => its !== undefined);
    }
    if (person === undefined) unknown++;
    else put(person, String(mark ?? ""), String(note ?? ""), String(reader ?? ""));
  }
  return unknown;
}

function put(person, mark, note, reader) {
  const known = Object.hasOwn(MARKS, mark) ? mark : "";
  const its = { mark: known, note: note.slice(0, MOST_NOTE), reader: reader.slice(0, 100) };
  if (its.mark || its.note) marks.set(person, its);
  else marks.delete(person);
}

function keepMarks(person) {
  keep(STORE, marks.size ? { version: 1, people: markRows() } : null);
  const people = person === undefined ? [...marks.keys()] : [person];
  const all = kept(TEXTS) ?? {};
  for (const its of people) {
    for (const key of textKeys(its)) {
      if (marks.has(its)) all[key] = marks.get(its);
      else delete all[key];
    }
  }
  keep(TEXTS, Object.keys(all).length ? all : null);
}

/** Marks a person; what is typed into one note is one step to undo. */
function setMark(person, mark, note, isTyping = false) {
  const last = undone.at(-1);
  if (!(isTyping && last?.isTyping && last.person === person)) undone.push({ person, before: marks.get(person), isTyping });
  put(person, mark, note, byId("reader").value.trim());
  keepMarks(person);
}

const canUndo = () => undone.length > 0;

/** Takes the last step back; returns whose it was. */
function undoMark() {
  const last = undone.pop();
  if (!last) return null;
  if (last.before) marks.set(last.person, last.before);
  else marks.delete(last.person);
  keepMarks(last.person);
  return last.person;
}

/** What was marked here before, or else what was marked of the same texts in another page. */
function findMarks() {
  const here = kept(STORE);
  if (Array.isArray(here?.people)) return takeMarks(here.people);
  const texts = data.kind === "reviews" && kept(TEXTS);
  if (!texts) return;
  for (const its of reviewRows()) {
    const found = Object.hasOwn(texts, its[7]) ? texts[its[7]] : null;
    if (found && !marks.has(its[0])) put(its[0], String(found.mark ?? ""), String(found.note ?? ""), String(found.reader ?? ""));
  }
  if (marks.size) byId("kept").textContent = "Marks of " + marks.size + " " + data.noun + "s are from another page with the same texts.";
}

byId("reader").value = String(kept(READER) ?? "");
byId("reader").addEventListener("input", (event) => keep(READER, event.target.value || null));

