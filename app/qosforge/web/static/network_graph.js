// A large network to pan, zoom and filter. The filter is the form of the table of devices, which says the same in words.

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

const cy = cytoscape({
  container: canvas,
  elements: {
    nodes: devices.map(node),
    edges: links.map(edge),
  },
  layout: { name: "preset", fit: true, padding: 20 },
  minZoom: 0.02,
  maxZoom: 3,
  autoungrabify: true, // places are the drawing's
  boxSelectionEnabled: false,
  userZoomingEnabled: false, // by the wheel only once somebody is in the graph: until then it scrolls the page
  style: style(),
});

function node({ x, y, ...data }) {
  return { data, position: { x, y } };
}

function edge({ symbols, ...data }) {
  return { data: { ...data, from: symbols[0], to: symbols[1] } };
}

// Cytoscape knows no custom properties, and a colour for light and dark is none to it.
function colour(name) {
  canvas.style.color = `var(--${name})`;
  const found = getComputedStyle(canvas).color;
  canvas.style.color = "";
  return found;
}

// Lines are as thick as they have to be to be seen from where one looks.
function style(zoom = 1) {
  const thick = Math.max(1, 0.7 / zoom);
  const names = ["paper", "ink", "line", "faint", "accent", "good", "good-soft", "bad", "bad-soft"];
  const [paper, ink, line, faint, accent, good, goodSoft, bad, badSoft] = names.map(colour);
  return [
    {
      selector: "node",
      style: {
        shape: "round-rectangle", width: 132, height: 46, label: "data(label)", "text-wrap": "wrap", "text-valign": "center",
        "font-family": "system-ui, sans-serif", "font-size": 13, "min-zoomed-font-size": 6, color: ink,
        "background-color": paper, "border-width": 2 * thick, "border-color": faint,
      },
    },
    {
      selector: "edge",
      style: {
        "curve-style": "bezier", width: 1.5 * thick, "line-color": faint, "font-size": 12, "min-zoomed-font-size": 7, color: ink,
        "source-label": "data(from)", "target-label": "data(to)", "source-text-offset": 30, "target-text-offset": 30,
        "text-background-color": paper, "text-background-opacity": 1, "text-background-padding": 3, "text-background-shape": "round-rectangle",
      },
    },
    { selector: "[state = 'unknown'], [state = 'pending']", style: { "border-style": "dashed", "line-style": "dashed" } },
    { selector: "node[state = 'settled']", style: { "background-color": goodSoft, "border-color": good } },
    { selector: "node[state = 'drifted']", style: { "background-color": badSoft, "border-color": bad, "border-width": 4 * thick, label: (node) => `≠ ${node.data("label")}` } },
    { selector: "edge[state = 'drifted']", style: { "line-color": bad, width: 3 * thick } },
    { selector: "edge.near", style: { label: "data(rate)", "line-color": accent, width: 3 * thick } },
    { selector: "node.near", style: { "border-color": accent, "border-width": 4 * thick } },
    { selector: ".out", style: { opacity: 0.12, "text-opacity": 0, events: "no" } },
    { selector: "core", style: { "active-bg-color": line } },
  ];
}

const renew = () => cy.style(style(cy.zoom()));
let last = 0; // the step of zooming that the lines are drawn for
cy.on("zoom", () => {
  const step = Math.round(Math.log2(cy.zoom()) * 2);
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
    ["site", "platform", "role", "state"].every((name) => !chosen(name) || data[name] === chosen(name)) &&
    (!chosen("tag") || data.tags.includes(chosen("tag")))
  );
}

function filter() {
  const asked = new FormData(form);
  cy.batch(() => {
    cy.nodes().forEach((one) => one.toggleClass("out", !fits(one.data(), asked)));
    cy.edges().forEach((one) => one.toggleClass("out", one.connectedNodes(".out").nonempty()));
  });
  fit();
}

form.addEventListener("input", filter);

// What was still being compared is drawn once it was.
let pending = element("pending") !== null;
document.addEventListener("htmx:afterSettle", async () => {
  if (!pending || element("pending")) return;
  pending = false;
  const now = await load();
  cy.batch(() => {
    for (const { id, state } of now.devices) cy.getElementById(id).data("state", state);
    for (const { data } of now.links.map(edge)) cy.getElementById(data.id).data(data);
  });
  filter();
});

// --- pan and zoom

function fit() {
  const seen = cy.nodes().not(".out");
  cy.fit(seen.nonempty() ? seen : cy.nodes(), 20);
  if (cy.zoom() > 1) {
    cy.zoom(1);
    cy.center(seen);
  }
}

function zoom(by) {
  cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
}

for (const button of graph.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
element("graph-fit").addEventListener("click", fit);
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
  canvas.title = type === "mouseover" ? target.id() : "";
});
cy.on("tap", "node", ({ target }) => location.assign(target.data("href")));

filter();
