// A large network to pan, zoom, filter and unfold. The filter is the form of the table of devices, which says the same in words.

import { cytoscape } from "./cytoscape.js";

const PAN_PX = 80;
const KEYS = { "+": 1.4, "=": 1.4, "-": 1 / 1.4 };
const MOVES = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const element = (id) => document.getElementById(id);
const graph = element("graph");
const canvas = element("graph-canvas");
const form = element("filter");

async function load() {
  const answer = await fetch(graph.dataset.graph);
  if (!answer.ok) throw new Error(`the graph's data: ${answer.status}`); // the tables and the drawing stay
  return answer.json();
}

const { devices, links } = await load();
graph.hidden = false;

const READABLE_PX = 12; // words are as large on the screen, or are not drawn
const LARGEST_PX = 28; // words of a device, in its box
const WORDS_PX = 16;
const MORE = 24; // devices that one click unfolds
const CARD_PX = 132;
const COLUMN_PX = 240;
const ROW_PX = 58;
const END_PX = 24; // an end of a link: a circle as in the legend
const TURN_PX = 32; // where lines to several devices part
const ROWS = rowsToRead();

const known = new Map(devices.map((one) => [one.id, one]));
const below = new Map(devices.map((one) => [one.id, []])); // what hangs on each device, the largest first
below.set("", []); // devices that hang on none
for (const one of devices) below.get(one.above).push(one.id);
const sizes = new Map(); // how many devices are behind each
for (const id of outwards().reverse()) sizes.set(id, below.get(id).reduce((sum, child) => sum + 1 + sizes.get(child), 0));
for (const children of below.values()) children.sort((a, b) => sizes.get(b) - sizes.get(a) || a.localeCompare(b, undefined, { numeric: true }));
let unfolded = atFirst(); // how many of the devices below each are drawn

const cy = cytoscape({
  container: canvas,
  minZoom: 0.02,
  maxZoom: 3,
  autoungrabify: true, // places are the drawing's
  boxSelectionEnabled: false,
  userZoomingEnabled: false, // by the wheel only once somebody is in the graph: until then it scrolls the page
  style: style(),
});

// As many rows as can be read without zooming.
function rowsToRead() {
  return Math.max(8, Math.min(18, Math.floor((canvas.clientHeight * WORDS_PX) / READABLE_PX / ROW_PX)));
}

// All devices, each after the one that it hangs on.
function outwards() {
  const found = [""];
  for (const id of found) found.push(...below.get(id));
  return found.slice(1);
}

// What is unfolded at first: level by level, as much as can be read.
function atFirst() {
  const shown = new Map([["", Math.min(below.get("").length, ROWS)]]);
  let rows = shown.get("");
  const waiting = below.get("").slice(0, rows);
  for (const id of waiting) {
    const children = below.get(id);
    const count = shown.size === 1 ? Math.min(children.length, ROWS) : children.length; // of the first at least some
    if (!count || rows + count - 1 > ROWS) continue;
    shown.set(id, count);
    rows += count - 1;
    waiting.push(...children.slice(0, count));
  }
  return shown;
}

function drawn(id) {
  return below.get(id).slice(0, unfolded.get(id) ?? 0);
}

// The devices drawn and, where some below one are not, how many these are: one row each, from the left to the right.
function place() {
  const found = [];
  let row = 0;
  const walk = (id, column) => {
    const children = drawn(id);
    const rest = below.get(id).slice(children.length);
    const rows = children.map((child) => walk(child, column + 1));
    if (rest.length) {
      rows.push(row++);
      found.push(fold(id, rest, (column + 1) * COLUMN_PX, rows.at(-1) * ROW_PX));
    }
    const at = rows.length ? (rows[0] + rows.at(-1)) / 2 : row++;
    if (id) found.push({ group: "nodes", data: { ...known.get(id) }, position: { x: column * COLUMN_PX, y: at * ROW_PX } });
    return at;
  };
  walk("", -1);
  return found;
}

// What stands for devices that are not drawn; it is as the worst of them.
function fold(above, rest, x, y) {
  const all = rest.flatMap(behind);
  const of = (state) => all.filter((id) => known.get(id).state === state).length;
  const [halfWay, unreached, drifted, unsaved] = [of("half_way"), of("unreached"), of("drifted"), of("unsaved")];
  const told = [halfWay + unreached && `✘ ${halfWay + unreached}`, drifted && `≠ ${drifted}`, unsaved && `▲ ${unsaved}`].filter(Boolean).join(", ");
  const count = all.length === 1 ? canvas.dataset.one : canvas.dataset.more.replace("{}", all.length);
  return {
    group: "nodes",
    data: { id: `fold ${above}`, above, fold: all.length, label: told ? `▸ ${count}\n${told}` : `▸ ${count}`, brief: [`▸ ${all.length}`, told].filter(Boolean).join(" "), state: halfWay ? "half_way" : unreached ? "unreached" : drifted ? "drifted" : unsaved ? "unsaved" : "folded" },
    position: { x, y },
  };
}

function behind(id) {
  return [id, ...below.get(id).flatMap(behind)];
}

function draw() {
  const nodes = place();
  const seen = new Set(nodes.map((one) => one.data.id));
  const lines = links.filter((one) => seen.has(one.source) && seen.has(one.target)).map((one) => ({ group: "edges", data: edge(one) }));
  const places = new Map(nodes.map((one) => [one.data.id, one.position]));
  const ends = lines.flatMap(({ data }) => endsOf(data, places.get(data.source), places.get(data.target)));
  const folds = nodes.filter((one) => one.data.fold && one.data.above);
  const toFolds = folds.map(({ data }) => ({ group: "edges", data: { id: `to ${data.id}`, source: data.above, target: data.id, tree: 1, state: "folded" } }));
  cy.batch(() => {
    cy.elements().remove();
    cy.add([...nodes, ...lines, ...toFolds, ...ends]);
  });
  canvas.dataset.drawn = nodes.filter((one) => !one.data.fold).length; // a canvas shows nobody how many
}

function edge({ ends, ...data }) {
  const tree = known.get(data.source).above === data.target || known.get(data.target).above === data.source;
  const outward = known.get(data.source).above === data.target; // lines are drawn from the left to the right
  const [source, target] = outward ? [data.target, data.source] : [data.source, data.target];
  return { ...data, source, target, ends: outward ? [...ends].reverse() : ends, ...(tree ? { tree: 1 } : {}) };
}

// The two ends of a line, as circles on it: of one that turns both after the turn, where no other line is.
function endsOf(line, from, to) {
  const places = line.tree ? afterTurn(from, to) : besideCards(from, to);
  return line.ends.map(({ symbol, ...end }, which) => ({
    group: "nodes",
    data: { ...end, id: `end ${line.id} ${which}`, label: symbol, end: 1, link: line.id },
    position: places[which],
  }));
}

function afterTurn(from, to) {
  const first = from.x + CARD_PX / 2 + TURN_PX + END_PX / 2 + 2;
  return [{ x: first, y: to.y }, { x: to.x - CARD_PX / 2 - END_PX / 2 - 2, y: to.y }];
}

function besideCards(from, to) {
  const [wide, high] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(wide, high) || 1;
  const out = Math.min(((CARD_PX / 2) * length) / Math.abs(wide), (23 * length) / Math.abs(high), length / 2) + END_PX / 2 + 2; // the way out of a card
  const at = (way) => ({ x: from.x + (wide * way) / length, y: from.y + (high * way) / length });
  return [at(out), at(length - out)];
}

// Cytoscape knows no custom properties, and a colour for light and dark is none to it.
function colour(name) {
  canvas.style.color = `var(--${name})`;
  const found = getComputedStyle(canvas).color;
  canvas.style.color = "";
  return found;
}

// Of a device its name, without what it is; of what is folded how many there are.
function nameOf(node) {
  return node.data("brief") ?? node.data("label").split("\n")[0];
}

// The size of words before zooming: as small as can be read, and as large as there is room for.
function wordsAt(zoom) {
  return Math.max(13, Math.min(LARGEST_PX, (1.08 * READABLE_PX) / zoom)); // for some zooming until they are drawn anew
}

// Lines are as thick as they have to be to be seen from where one looks.
function style(zoom = 1) {
  const thick = Math.max(1, 0.7 / zoom);
  const words = wordsAt(zoom);
  const brief = words > WORDS_PX; // a name alone has room in its box
  const names = ["paper", "ink", "line", "faint", "accent", "good", "good-soft", "bad", "bad-soft", "warn", "warn-soft", "busy", "busy-soft", "raised"];
  const [paper, ink, line, faint, accent, good, goodSoft, bad, badSoft, warn, warnSoft, busy, busySoft, raised] = names.map(colour);
  return [
    {
      selector: "node",
      style: {
        shape: "round-rectangle", width: 132, height: 46, label: brief ? nameOf : "data(label)", "text-wrap": brief ? "ellipsis" : "wrap", "text-max-width": CARD_PX - 8, "text-valign": "center",
        "font-family": "system-ui, sans-serif", "font-size": words, "min-zoomed-font-size": READABLE_PX - 0.1, color: ink,
        "background-color": paper, "border-width": 2 * thick, "border-color": faint,
      },
    },
    {
      selector: "edge",
      style: {
        "curve-style": "bezier", width: 1.5 * thick, "line-color": faint, "font-size": words, "min-zoomed-font-size": READABLE_PX - 0.1, color: ink,
        "text-background-color": paper, "text-background-opacity": 1, "text-background-padding": 4, "text-background-shape": "round-rectangle",
        "text-border-width": 1.5 * thick, "text-border-opacity": 1, "text-border-color": faint,
      },
    },
    { selector: "edge[tree]", style: { "curve-style": "taxi", "taxi-direction": "rightward", "taxi-turn": TURN_PX } },
    { selector: "node[fold]", style: { "background-opacity": 0, "border-style": "dotted", color: accent, height: 34 } },
    { selector: "edge[state = 'folded']", style: { "line-style": "dotted" } },
    {
      selector: "node[end]",
      style: { shape: "ellipse", width: END_PX, height: END_PX, label: "data(label)", "font-size": Math.min(20, words), "background-color": raised, "border-width": 1.5 * thick, "text-max-width": END_PX * 2 },
    },
    { selector: "node[state = 'policy']", style: { "background-color": goodSoft, "border-color": good } },
    { selector: "node[state = 'changing']", style: { "background-color": busySoft, "border-color": busy } },
    { selector: "node[end][state = 'unknown']", style: { "background-color": paper } },
    { selector: "[state = 'unknown'], [state = 'pending']", style: { "border-style": "dashed", "line-style": "dashed" } },
    { selector: "node[state = 'settled']", style: { "background-color": goodSoft, "border-color": good } },
    { selector: "node[state = 'drifted'], node[state = 'half_way'], node[state = 'unreached']", style: { "background-color": badSoft, "border-color": bad, "border-width": 4 * thick, label: (node) => (node.data("fold") || node.data("end") ? "" : node.data("state") === "drifted" ? "≠ " : "✘ ") + (brief ? nameOf(node) : node.data("label")) } },
    { selector: "node[state = 'unsaved']", style: { "background-color": warnSoft, "border-color": warn, "border-width": 4 * thick, label: (node) => (node.data("fold") ? "" : "▲ ") + (brief ? nameOf(node) : node.data("label")) } },
    { selector: "node[end][state = 'drifted'], node[end][state = 'half_way'], node[end][state = 'unreached']", style: { "border-width": 2.5 * thick } },
    { selector: "edge[state = 'drifted'], edge[state = 'half_way'], edge[state = 'unreached']", style: { "line-color": bad, width: 3 * thick } },
    { selector: "edge.near", style: { "line-color": accent, width: 3 * thick } },
    { selector: "edge.near[rate]", style: { label: "data(rate)" } },
    { selector: "node.near", style: { "border-color": accent, "border-width": 4 * thick } },
    { selector: ".out", style: { opacity: 0.45 } },
    { selector: "node[fold].out", style: { opacity: 0.2 } },
    { selector: "core", style: { "active-bg-color": line } },
  ];
}

function renew() {
  const zoom = cy.zoom();
  cy.style(style(zoom));
  canvas.dataset.words = zoom * LARGEST_PX < READABLE_PX - 0.1 ? 0 : Math.round(zoom * wordsAt(zoom)); // pixels on the screen, for who cannot measure a canvas
}
let last = 0; // the step of zooming that the lines are drawn for
cy.on("zoom", () => {
  const step = Math.round(Math.log2(cy.zoom()) * 8);
  if (step !== last) renew();
  last = step;
});
new MutationObserver(renew).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", renew);

// --- filter

// As the service filters the table (views/network_tables.py).
function fits(data, asked) {
  const words = (asked.get("q") ?? "").toLowerCase().split(/\s+/);
  const chosen = (name) => asked.get(name) ?? "";
  return (
    words.every((word) => data.text.includes(word)) &&
    ["site", "platform", "role"].every((name) => !chosen(name) || data[name] === chosen(name)) &&
    (!chosen("state") || data.states.includes(chosen("state"))) &&
    (!chosen("tag") || data.tags.includes(chosen("tag")))
  );
}

// What fits is unfolded, as far as it can be drawn; all else that is drawn is faint.
function filter() {
  const asked = new FormData(form);
  const fitting = devices.filter((one) => fits(one, asked));
  if (fitting.length < devices.length) {
    unfolded = new Map([["", 1]]);
    for (const one of fitting.slice(0, 2 * ROWS)) for (let id = one.id; id; id = known.get(id).above) unfold(known.get(id).above, id);
  } else unfolded = atFirst();
  draw();
  const shown = new Set(fitting.map((one) => one.id));
  cy.batch(() => {
    cy.nodes().forEach((one) => one.toggleClass("out", fitting.length < devices.length && !one.data("end") && !shown.has(one.id())));
    cy.edges().forEach((one) => one.toggleClass("out", one.connectedNodes(".out").length === 2));
    cy.nodes("[end]").forEach((one) => one.toggleClass("out", cy.getElementById(one.data("link")).hasClass("out")));
  });
  fit();
}

// Draw a device below another one, and those before it.
function unfold(above, id) {
  const children = below.get(above);
  const at = children.indexOf(id);
  const shown = unfolded.get(above) ?? 0;
  if (at < shown) return;
  children.splice(at, 1); // it takes the place of one that is not drawn
  children.splice(above || shown ? shown : 0, 0, id);
  unfolded.set(above, shown + 1);
}

form.addEventListener("input", filter);

// What was still being compared is drawn once it was.
let pending = element("pending") !== null;
document.addEventListener("htmx:afterSettle", async () => {
  if (!pending || element("pending")) return;
  pending = false;
  const now = await load();
  for (const { id, state } of now.devices) {
    const one = known.get(id); // the inventory may have gained a device meanwhile
    if (one) one.state = state;
  }
  links.splice(0, links.length, ...now.links);
  filter();
});

// --- pan and zoom

function fit(nodes) {
  const some = nodes?.nonempty?.() ? nodes : cy.nodes().not(".out");
  const seen = some.nonempty() ? some : cy.nodes();
  cy.fit(seen, 20);
  if (cy.zoom() > 1) {
    cy.zoom(1);
    cy.center(seen);
  }
  renew();
}

function zoom(by) {
  cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
}

for (const button of graph.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
element("graph-fit").addEventListener("click", fit);
element("graph-fold").addEventListener("click", filter);
canvas.addEventListener("focusin", () => cy.userZoomingEnabled(true));
canvas.addEventListener("focusout", () => cy.userZoomingEnabled(false));
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (MOVES[event.key]) cy.panBy({ x: MOVES[event.key][0] * PAN_PX, y: MOVES[event.key][1] * PAN_PX });
  else if (KEYS[event.key]) zoom(KEYS[event.key]);
  else if (event.key === "0") fit();
  else return;
  event.preventDefault();
});

// --- devices and links

cy.on("mouseover", "node", ({ target }) => target.closedNeighborhood().addClass("near"));
cy.on("mouseover", "edge", ({ target }) => target.union(target.connectedNodes()).addClass("near"));
cy.on("mouseout", "node, edge", () => cy.elements(".near").removeClass("near"));
cy.on("mouseover mouseout", "node", ({ type, target }) => {
  canvas.style.cursor = type === "mouseover" ? "pointer" : "";
  canvas.title = type === "mouseover" && !target.data("fold") ? (target.data("title") ?? target.id()) : "";
});
cy.on("tap", "node[href]", ({ target }) => location.assign(target.data("href")));
cy.on("tap", "node[fold]", ({ target }) => {
  const above = target.data("above");
  const from = unfolded.get(above) ?? 0;
  unfolded.set(above, from + MORE);
  draw();
  const ids = new Set([above, ...drawn(above).slice(from), `fold ${above}`]);
  fit(cy.nodes().filter((one) => ids.has(one.id())));
});

filter();
