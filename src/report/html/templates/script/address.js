// ---- Where we are: everything that was asked for is in the address, people by name ------------------

/** What was asked of the list, as far as it is not how the page opens. */
function asked() {
  const values = {
    by: by === "person" ? "" : by,
    group: wanted.group === null ? "" : data.details.groups[wanted.group],
    paper: wanted.paper === null ? "" : data.details.papers[wanted.paper],
    view: view ? data.views[view].name : "",
    q: byId("search").value,
    flag: byId("flag").value,
    mark: byId("marked").value,
    least: Number(byId("least").value) ? byId("least").value : "",
    sort: sortColumn === worstColumn() ? "" : columns[sortColumn].key,
    desc: descending ? "1" : "",
  };
  return Object.entries(values).filter(([, value]) => value !== "");
}

const written = (entries) => "#" + entries.map(([key, value]) => key + "=" + encodeURIComponent(value)).join("&");
/** A person, at one of their papers if there is one. */
const addressOf = (person, paper) =>
  written([["person", data.names[person]], ...(paper === undefined ? [] : [["at", data.details.papers[paper]]]), ...asked()]);
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
function readAddress(address) {
  const value = (key) => address.get(key) ?? "";
  byId("search").value = value("q");
  byId("flag").value = value("flag");
  byId("marked").value = value("mark");
  byId("least").value = Number(value("least")) || 0;
  const group = (data.details.groups ?? []).indexOf(value("group"));
  const paper = value("paper") ? (data.details.papers ?? []).indexOf(value("paper")) : -1;
  wanted.group = group < 0 ? null : group;
  wanted.paper = paper < 0 ? null : paper;
  if (byId("group")) byId("group").value = group < 0 ? "" : String(group);
  chooseBy(byId("by") && Object.hasOwn(makers, value("by")) ? value("by") : "person");
  const chosen = Math.max(0, data.views.findIndex(({ name }) => name === value("view")));
  byId("view").value = String(chosen);
  view = chosen;
  const sort = columns.findIndex(({ key }) => key === value("sort"));
  sortColumn = sort < 0 ? worstColumn() : sort;
  descending = value("desc") === "1";
  chooseView(chosen);
}

/** Shows the list, or the person in the address. */
function route(event) {
  const hash = location.hash.slice(1);
  const address = new URLSearchParams(hash);
  // A link to a part of the page asks nothing of the list.
  if ((hash.includes("=") || !event) && written([...address].filter(([key]) => key !== "person" && key !== "at")) !== written(asked())) readAddress(address);
  const person = numbers.get(address.get("person")) ?? null;
  const onPerson = person !== null;
  const wasOnPerson = current !== null;
  document.querySelectorAll(".overview").forEach((part) => (part.hidden = onPerson));
  byId("person").hidden = !onPerson;
  byId("evidence").hidden = !onPerson;
  byId("back").href = addressOfList();
  if (onPerson) {
    const at = data.kind === "reviews" ? data.details.papers.indexOf(address.get("at")) : -1;
    showPerson(person, at < 0 ? null : at);
    scrollTo(0, 0);
    byId("person-name").focus({ preventScroll: true });
    byId("paper-" + at)?.scrollIntoView();
    return;
  }
  document.title = title;
  if (wasOnPerson) {
    // Back in the list, where we left it; marks may have changed who is in it.
    const left = current;
    current = null;
    refresh(true);
    const isLeft = (item) => kind.people(item).includes(left);
    const place = isLeft(shown[active] ?? shown[0] ?? -1) ? active : shown.findIndex(isLeft);
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
