// The list of people, and a page for each of them.
//
// Data come from three blocks of JSON: `data` is read at once and has names and scores; `details`
// has one line per person and `texts` one per paper, read when somebody is opened. Everything
// becomes text nodes and attributes, never markup.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const title = document.title;

// ---- Small helpers -------------------------------------------------------------------------

/** An element with attributes and children; strings become text. */
function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Nothing is minus nought.
const number = (value) => (value === null ? "-" : value.toFixed(3).replace(/^-(0\.0+)$/, "$1"));
const whole = (value) => (Number.isInteger(value) ? String(value) : number(value));
const count = (value) => (value === null ? "-" : String(value));

// Characters that hide or reorder what is around them, as the program shows them on a terminal.
const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;
const escaped = (text, letters) =>
  text.replace(letters, (letter) => "\\u{" + letter.codePointAt(0).toString(16) + "}");
const visible = (text) => escaped(text, HOSTILE);

// Spaces that look like the usual one, and make another name.
const ODD_SPACE = /[\u00a0\u1680\u2000-\u200a\u202f\u205f]/g;

/** A name in a box of its own, so that its direction does not spill over. */
const named = (text) => make("bdi", {}, escaped(visible(text), ODD_SPACE));

function table(attributes, head, rows) {
  const cells = head.map((text, i) => make("th", { scope: "col", class: i ? "number" : "" }, text));
  return make("table", attributes, make("thead", {}, make("tr", {}, ...cells)), make("tbody", {}, ...rows));
}

