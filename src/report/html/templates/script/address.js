// ---- Where we are: everything that was asked for is in the address, people by name ------------------

/** What was asked of the list, as far as it is not how the page opens. */
function asked() {
  const values = {
    view: view ? data.views[view].name : "",
    q: byId("search").value,
    flag: byId("flag").value,
    mark: byId("marked").value,
    least: Number(byId("least").value) ? byId("least").value : "",
    sort: columns[sortColumn].key === "score" ? "" : columns[sortColumn].key,
    desc: descending ? "1" : "",
  };
  return Object.entries(values).filter(([, value]) => value !== "");
}

const written = (entries) => "#" + entries.map(([key, value]) => key + "=" + encodeURIComponent(value)).join("&");
const addressOf = (person) => written([["person", data.names[person]], ...asked()]);
const addressOfList = () => (asked().length ? written(asked()) : "#people");

/** Puts what was asked for into the address without a step back. */
function writeAddress() {
  try {
    history.replaceState(null, "", addressOfList());
  } catch {
    // Some browsers forbid it for files; the list works without.
  }
}

/** Asks the list what the address asks. */
function readAddress(wanted) {
  const value = (key) => wanted.get(key) ?? "";
  byId("search").value = value("q");
  byId("flag").value = value("flag");
  byId("marked").value = value("mark");
  byId("least").value = Number(value("least")) || 0;
  sortColumn = Math.max(1, columns.findIndex(({ key }) => key === value("sort")));
  if (value("sort") === "name") sortColumn = 0;
  descending = value("desc") === "1";
  const chosen = Math.max(0, data.views.findIndex(({ name }) => name === value("view")));
  byId("view").value = String(chosen);
  chooseView(chosen);
}

/** Shows the list, or the person in the address. */
function route(event) {
  const hash = location.hash.slice(1);
  const wanted = new URLSearchParams(hash);
  // A link to a part of the page asks nothing of the list.
  if ((hash.includes("=") || !event) && written([...wanted].filter(([key]) => key !== "person")) !== written(asked())) readAddress(wanted);
  const person = numbers.get(wanted.get("person")) ?? null;
  const onPerson = person !== null;
  const wasOnPerson = current !== null;
  document.querySelectorAll(".overview").forEach((part) => (part.hidden = onPerson));
  byId("person").hidden = !onPerson;
  byId("evidence").hidden = !onPerson;
  byId("back").href = addressOfList();
  if (onPerson) {
    showPerson(person);
    scrollTo(0, 0);
    byId("person-name").focus({ preventScroll: true });
    return;
  }
  document.title = title;
  if (wasOnPerson) {
    // Back in the list, where we left it; marks may have changed who is in it.
    const left = current;
    current = null;
    refresh(true);
    const place = shown.indexOf(left);
    if (shown.length) moveTo(place < 0 ? active : place);
  }
}

byId("controls").hidden = false;
byId("keeping").hidden = false;
scroller.hidden = false;
readAddress(new URLSearchParams(location.hash.slice(1)));
addEventListener("hashchange", route);
// The evidence follows this script in the file.
document.addEventListener("DOMContentLoaded", () => route());
