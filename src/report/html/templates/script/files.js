// ---- Files ---------------------------------------------------------------------------------------

const MOST_PRINTED = 2000; // Rows of the list.
const MOST_PRINTED_PEOPLE = 50; // People whose evidence is printed.
const FLAGGED = new Set(["look", "uninformative"]);

// A spreadsheet takes what begins so for a formula. An apostrophe before it stays in the file, and
// is taken off again by `unguarded`, also where a name itself begins with one.
const FORMULA = /^'*[=+\-@\t\r\n]/;
const isNumber = (text) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
const guarded = (text) => (FORMULA.test(text) && !isNumber(text) ? "'" + text : text);
const unguarded = (text) => (/^'+[=+\-@\t\r\n]/.test(text) ? text.slice(1) : text);

/** Rows of texts, numbers and nulls as comma-separated values. */
function csv(rows) {
  const cell = (value) => {
    if (value === null) return "";
    const text = typeof value === "number" ? String(value) : guarded(value);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}

/** The cells of comma-separated values. */
function csvRows(text) {
  const rows = [[]];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  while (pattern.lastIndex < text.length) {
    const its = pattern.exec(text);
    if (!its) throw new Error("a quote in line " + rows.length + " is not closed, or stands inside a cell");
    rows.at(-1).push(unguarded(its[1] === undefined ? its[2] : its[1].replaceAll('""', '"')));
    if (its[3] !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length);
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: "caz-" + data.noun + "s-" + name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

byId("save-list").addEventListener("click", () => {
  const rows = by === "person" ? peopleRows() : otherRows();
  save(by === "person" ? "list.csv" : by + "-list.csv", "text/csv", csv(rows));
});

/** The people in the list with everything that is known of them. */
function peopleRows() {
  const head = [data.noun, "score_name", "score", "ci_low", "ci_high", "rank", "flag", data.counted, ...data.measures.map((measure) => measure.name), "mark", "note", "reader"];
  const rows = shown.map((person) => [
    data.names[person],
    data.views[view].name,
    ...row(person).slice(0, COUNT + 1),
    ...data.measures.map((measure) => measure.values[person]),
    markOf(person) || null,
    noteOf(person) || null,
    marks.get(person)?.reader || null,
  ]);
  return [head, ...rows];
}

/** The reviews of the list, or of the papers in the list. */
function otherRows() {
  const isIn = new Set(shown);
  const all = reviewRows().filter((its, review) => (by === "review" ? isIn.has(review) : isIn.has(its[OF_PAPER])) && fits(its));
  const head = [data.counted.slice(0, -1), data.noun, "flag", "reads_as", "p_own", "copied", "group", "mark", "note", "reader"];
  const rows = all.map((its) => {
    const person = its[OF_PERSON];
    const group = its[R_GROUP] === null ? null : data.details.groups[its[R_GROUP]];
    return [data.details.papers[its[OF_PAPER]], data.names[person], its[R_FLAG], its[R_READS], its[R_OWN], its[R_COPIED], group,
      markOf(person) || null, noteOf(person) || null, marks.get(person)?.reader || null];
  });
  return [head, ...rows];
}

byId("save-marks-json").addEventListener("click", () => {
  const whole = { version: 1, results: data.id, people: markRows() };
  save("marks.json", "application/json", JSON.stringify(whole, null, 2) + "\n");
});
byId("save-marks-csv").addEventListener("click", () => {
  const rows = markRows().map(({ name, mark, note, reader, texts }) => [name, mark, note, reader, texts.join(" ")]);
  save("marks.csv", "text/csv", csv([["name", "mark", "note", "reader", "texts"], ...rows]));
});
byId("load-marks").addEventListener("click", () => byId("marks-file").click());
byId("marks-file").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  if (!file) return;
  try {
    const text = (await file.text()).replace(/^\ufeff/, "");
    const rows = file.name.toLowerCase().endsWith(".csv") ? marksOfCsv(text) : JSON.parse(text).people;
    if (!Array.isArray(rows)) throw new Error("no list of people");
    const unknown = takeMarks(rows);
    keepMarks();
    refresh();
    const here = rows.length - unknown;
    byId("kept").textContent = here + " marks or notes loaded" + (unknown ? "; " + unknown + " names are not in this report." : ".");
  } catch (error) {
    byId("kept").textContent = "This is no file of marks: " + error.message;
  }
});

function marksOfCsv(text) {
  const [head = [], ...rows] = csvRows(text);
  const [name, mark, note, reader, texts] = ["name", "mark", "note", "reader", "texts"].map((column) => head.indexOf(column));
  if (name < 0 || mark < 0) throw new Error("its first line needs name and mark");
  return rows.map((row) => ({ name: row[name], mark: row[mark], note: row[note], reader: row[reader], texts: row[texts]?.split(" ") }));
}

// ---- Paper: the list, and the evidence for the people flagged ---------------------------------------

addEventListener("beforeprint", () => {
  drawRows(0, MOST_PRINTED);
  byId("printed-on").textContent = "Printed " + new Date().toLocaleDateString("sv") + (byId("reader").value ? " by " + visible(byId("reader").value) : "");
  if (current !== null) return;
  const isFlagged = (item) => by === "paper" || FLAGGED.has(kind.flagOf(item));
  const people = [...new Set(shown.filter(isFlagged).flatMap((item) => kind.people(item)))];
  const flagged = people.filter((person) => FLAGGED.has(row(person)[FLAG])).slice(0, MOST_PRINTED_PEOPLE);
  const parts = flagged.map((person) => {
    const note = [MARKS[markOf(person)], noteOf(person)].filter(Boolean).join(": ");
    const head = make("h2", {}, named(data.names[person]));
    const said = note ? [make("p", {}, "Marked ", make("bdi", {}, visible(note)))] : [];
    return make("section", { class: "printed-person" }, head, ...said, ...verdictOf(person), ...(data.hasVerdicts ? [] : [scoresOf(person), ...measuresOf(person)]), ...evidence(person));
  });
  byId("printed").replaceChildren(...parts);
  byId("printed").hidden = false;
});
addEventListener("afterprint", () => {
  byId("printed").hidden = true;
  byId("printed").replaceChildren();
  drawRows();
});

