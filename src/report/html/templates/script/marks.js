// ---- What the reader thinks of people --------------------------------------------------------
//
// Kept in this browser under the hash of the results, by name, so that it survives a new file of
// the same results. Only what somebody marked or noted is kept.

const MARKS = { looked: "looked at", clear: "clear", follow: "follow up" };
const STORE = "caz " + data.id;
const MOST_NOTE = 2000; // Characters.
const numbers = new Map(data.names.map((name, person) => [name, person]));
const marks = new Map(); // By number of the person: { mark, note }, of which one is not empty.

const markOf = (person) => marks.get(person)?.mark ?? "";
const noteOf = (person) => marks.get(person)?.note ?? "";

/** What is kept, as it is saved: in the order of the names. */
function markRows() {
  const people = [...marks.keys()].sort((a, b) => a - b);
  return people.map((person) => ({ name: data.names[person], ...marks.get(person) }));
}

/** Takes rows of a browser or a file; returns how many names are not here. */
function takeMarks(rows) {
  let unknown = 0;
  for (const { name, mark, note } of rows) {
    const person = numbers.get(String(name));
    if (person === undefined) unknown++;
    else put(person, String(mark ?? ""), String(note ?? ""));
  }
  return unknown;
}

function put(person, mark, note) {
  const known = Object.hasOwn(MARKS, mark) ? mark : "";
  const kept = { mark: known, note: note.slice(0, MOST_NOTE) };
  if (kept.mark || kept.note) marks.set(person, kept);
  else marks.delete(person);
}

function keepMarks() {
  try {
    if (marks.size) localStorage.setItem(STORE, JSON.stringify({ version: 1, people: markRows() }));
    else localStorage.removeItem(STORE);
  } catch {
    byId("kept").textContent = "This browser keeps nothing: save the marks to a file before you close the page.";
  }
}

function setMark(person, mark, note) {
  put(person, mark, note);
  keepMarks();
}

try {
  takeMarks(JSON.parse(localStorage.getItem(STORE) ?? '{"people":[]}').people);
} catch {
  // Nothing is kept, or something else under this name: begin without.
}

