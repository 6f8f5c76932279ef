// ---- Figures -----------------------------------------------------------------------------

const distributions = [...document.querySelectorAll("figure.distribution")];
const scatter = document.querySelector("figure.scatter");
const dots = new Map();
scatter?.querySelectorAll(".dot").forEach((dot) => dots.set(Number(dot.dataset.person), dot));
let marked = null;
let front = null; // A copy of the marked dot, in front of the others.

/** Marks a person in the figures: the interval in the distribution, the dot in the scatter. */
function mark(person) {
  front?.remove();
  front = null;
  marked = person;
  const overlay = distributions[view].querySelector(".overlay");
  overlay.replaceChildren();
  if (person === null) return;
  const dot = dots.get(person);
  if (dot) {
    // Not the dot itself: what moves under a pointer that rests takes the mark back from the keys.
    front = dot.cloneNode();
    front.classList.add("selected");
    dot.parentNode.append(front);
  }
  const [score, low, high] = row(person);
  const frame = Object.fromEntries(Object.entries(overlay.dataset).map(([k, v]) => [k, Number(v)]));
  const x = (value) => {
    const share = (value - frame.low) / (frame.high - frame.low);
    return frame.left + Math.min(Math.max(share, 0), 1) * (frame.right - frame.left);
  };
  const y = frame.top + 14;
  if (low !== null) {
    const ends = { x1: x(low), x2: x(high), y1: y, y2: y };
    overlay.append(draw("line", ends));
    for (const end of [low, high]) {
      // An end in the picture gets a cap, one beyond it an arrow.
      const cap = end < frame.low ? [6, -6, 0, 0, 6, 6] : end > frame.high ? [-6, -6, 0, 0, -6, 6] : [0, -6, 0, 6];
      const points = cap.map((value, i) => value + (i % 2 ? y : x(end))).join(" ");
      overlay.append(draw("polyline", { points }));
    }
  }
  if (score !== null) overlay.append(draw("circle", { cx: x(score), cy: y, r: 6 }));
  const said = data.views[view].listed ? [data.views[view].name + " score " + number(score)] : [];
  if (low !== null && data.views[view].listed) said.push("interval " + number(low) + " to " + number(high));
  data.measures.filter((measure) => measure.listed).forEach((measure) => said.push(measure.name + " " + inWords(measure, person)));
  byId("readout").replaceChildren("Marked: ", named(data.names[person]), ", " + said.join(", ") + ".");
}

// ---- The scatter: names by pointing, by arrow keys, and the evidence by a click or Enter ----------

const tip = make("p", { class: "tip", hidden: "" });

/** Names the person of a dot beside it. */
function pointAt(dot) {
  const person = Number(dot.dataset.person);
  mark(person);
  tip.replaceChildren(named(data.names[person]));
  tip.hidden = false;
  const [box, spot] = [scatter.getBoundingClientRect(), dot.getBoundingClientRect()];
  const left = Math.min(spot.right - box.left + 6, box.width - tip.offsetWidth - 4);
  tip.style.left = Math.max(0, left) + "px";
  tip.style.top = Math.max(0, spot.top - box.top - tip.offsetHeight - 4) + "px";
}

if (scatter) {
  scatter.append(tip);
  const picture = scatter.querySelector("svg");
  picture.setAttribute("role", "group");
  picture.setAttribute("tabindex", "0");
  const center = (dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))];
  const by = (axis) => [...dots.values()].sort((a, b) => center(a)[axis] - center(b)[axis]);
  let orders = null; // Dots from left to right, and from top to bottom.
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 1], ArrowUp: [1, -1] }[event.key];
    if (step) {
      orders ??= [by(0), by(1)];
      const order = orders[step[0]];
      const place = order.indexOf(dots.get(marked));
      pointAt(order[Math.min(Math.max(place + step[1], 0), order.length - 1)]);
    } else if (event.key === "Enter" && marked !== null) open(marked);
    else return;
    event.preventDefault();
  });
  picture.addEventListener("focus", () => {
    const dot = dots.get(marked ?? personOf(shown[active])) ?? dots.values().next().value;
    if (dot && picture.matches(":focus-visible")) pointAt(dot);
  });
  picture.addEventListener("blur", () => (tip.hidden = true));
  picture.addEventListener("mouseleave", () => (tip.hidden = true));
  picture.addEventListener("mouseover", (event) => {
    if (event.target.dataset.person) pointAt(event.target);
    else tip.hidden = true;
  });
  picture.addEventListener("click", (event) => {
    if (event.target.dataset.person) open(Number(event.target.dataset.person));
  });
}

function chooseView(chosen) {
  view = chosen;
  // A score without intervals needs no column for them.
  list.classList.toggle("no-intervals", data.views[view].rows.every((its) => its[LOW] === null));
  list.classList.toggle("no-scores", !data.views[view].listed);
  if (["score", "flag"].includes(columns[sortColumn].key)) sortColumn = worstColumn();
  distributions.forEach((figure, i) => (figure.hidden = i !== view));
  refresh();
  mark(marked);
}
byId("view").addEventListener("change", (event) => {
  chooseView(Number(event.target.value));
  ask();
});
byId("view-choice").hidden = data.views.length < 2;
const needsRows = (change) => (event) => {
  change(event.target.value);
  ask();
};
byId("by")?.addEventListener("change", needsRows(chooseBy));
byId("group")?.addEventListener("change", needsRows((value) => (wanted.group = value === "" ? null : Number(value))));
byId("all-papers").addEventListener("click", needsRows(() => (wanted.paper = null)));
["search", "least"].forEach((id) => byId(id).addEventListener("input", ask));
["flag", "marked"].forEach((id) => byId(id).addEventListener("change", ask));

