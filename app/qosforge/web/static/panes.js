// The two views of a policy, form and YAML, and the ways from a problem to its field or line.

import { unfold } from "./entries.js";

const element = (id) => document.getElementById(id);
const form = element("pane-form");
const area = element("policy-text");

area.addEventListener("scroll", () => (element("line-numbers").scrollTop = area.scrollTop));

export function numberLines() {
  const lines = area.value.split("\n").length;
  const numbers = element("line-numbers");
  if (Number(numbers.dataset.lines) === lines) return;
  numbers.dataset.lines = lines;
  numbers.textContent = Array.from({ length: lines }, (_, at) => at + 1).join("\n");
}

// CodeMirror, once it is there. Until then, and where it cannot be loaded, the text area does.
let loading = null;

function loadEditor() {
  loading ??= import("./yaml_editor.js").then(({ editYaml }) => editYaml(area, element("problem-list")));
  return loading.catch(() => (loading = null));
}

async function showLine(line) {
  open("yaml");
  const editor = await loadEditor();
  if (editor) {
    editor.showLine(line);
    return;
  }
  const lines = area.value.split("\n");
  const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
  area.scrollTop = Math.max(0, (line - 5) * (area.scrollHeight / lines.length));
}

const tabs = [element("tab-form"), element("tab-yaml")];

function open(which) {
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${which}`;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    element(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  numberLines();
  if (which === "yaml") loadEditor();
}

for (const tab of tabs) {
  tab.addEventListener("click", () => open(tab.id.slice(4)));
  tab.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const other = tabs[1 - tabs.indexOf(tab)];
    open(other.id.slice(4));
    other.focus();
  });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-line], [data-goto], a[href^='#class-']");
  if (!link || link.dataset.op) return;
  const { line, goto } = link.dataset;
  if (goto) show(element(goto), event);
  else if (line && link.closest("a, button")) {
    event.preventDefault();
    showLine(Number(line));
  } else if (link.hash) showClass(link.hash, link.dataset.field, event);
});

// To a class by `#class-NAME`; `ends` are those of the id of a field of it, as for `fieldOf`.
function showClass(hash, ends, event) {
  const wanted = decodeURIComponent(hash.slice("#class-".length));
  const card = [...form.querySelectorAll("[data-class]")].find((one) => one.dataset.class === wanted);
  show(card && (fieldOf(card, ends) ?? card), event);
}

// Another page may lead to a class, or with `#class-NAME/objective` to a field of it.
if (location.hash.startsWith("#class-")) {
  const [hash, field] = location.hash.split("/");
  showClass(hash, field);
}

// The field of a class that a finding is about; `ends` are those of its id, the likeliest first. None of a library's class.
function fieldOf(card, ends = "") {
  const found = ends.split(" ").filter(Boolean).map((end) => `[id^="${CSS.escape(`${card.id}-${end}`)}"]:is(input, select)`);
  return found.map((one) => card.querySelector(one)).find(Boolean);
}

// To the list of what keeps the text from being stored.
export function leadToProblems() {
  const told = element("not-saved");
  told.hidden = false;
  told.textContent = told.dataset.text;
  const problems = element("problems");
  problems.scrollIntoView({ block: "start" });
  problems.querySelector("a")?.focus({ preventScroll: true });
}

function show(target, event) {
  if (!target) return;
  event?.preventDefault();
  open("form");
  unfold(target.matches(".entry") ? target.querySelector("details.body") : target);
  target.scrollIntoView({ block: "center" });
  (target.matches("fieldset") ? target.querySelector("input") : target).focus();
}
