// The policy editor: a form and a text in step. The text is the truth; what is done in the form goes to the service as
// edits, which answers with the text after them and the form that belongs to it.

import { Drafts } from "./drafts.js";
import { keepFolds, markRefused, reorder, unfold, wrongParts } from "./entries.js";
import { editOf, enteredBefore, replaces, samePath, shifted } from "./form_edits.js";
import { morph } from "./morph.js";
import { leadToProblems, numberLines } from "./panes.js";
import { pick } from "./pick.js";

const TYPING_MS = 300;
const RETRY_MS = 2000;
const PATIENCE_MS = 60_000; // twice what the service takes for an answer: then the connection is lost
const MOST_UNDONE = 100;
const MOST_AT_ONCE = 100;

const element = (id) => document.getElementById(id);
const editor = element("editor");
const area = element("policy-text");
const form = element("pane-form");
const network = element("network");
const save = element("save");
const { name, user, begun, number } = editor.dataset;
const locked = "locked" in editor.dataset;
const crlf = "crlf" in area.dataset;
const prefix = document.querySelector('meta[name="prefix"]').content;
const token = document.querySelector('meta[name="csrf"]');
const connection = element("connection");
const drafts = new Drafts(user, name);

// A textarea may come back as it was left: what the page was sent with counts, drafts are offered.
area.value = area.defaultValue;

let base = Number(editor.dataset.base);
let text = written();
const opened = text;
let stored = "new" in editor.dataset ? null : text;
let settled = text; // the text that form and preview show
let queue = []; // edits that the service has not taken yet
let under_way = 0; // how many of them are with the service
let replaced = 0; // how often the text was another one at once, so that what is under way does not count
let touched = []; // the path of the treatment whose share was entered last
let stale = false; // the form does not show the text, or the chosen network
let busy = false;
let away = false;
let timer;
const history = [];

function written() {
  return crlf ? area.value.replaceAll("\n", "\r\n") : area.value;
}

function write(to) {
  text = to;
  if (written() !== to) {
    area.value = to;
    area.dispatchEvent(new Event("written"));
  }
  numberLines();
}

// --- to the service and back

function soon(delay = TYPING_MS) {
  clearTimeout(timer);
  timer = setTimeout(exchange, delay);
}

async function call(address, body, headers = {}) {
  const answer = await fetch(address, {
    method: "POST",
    body,
    signal: AbortSignal.timeout(PATIENCE_MS),
    headers: { "X-CSRF-Token": token.content, "HX-Request": "true", ...headers },
  });
  // A proxy's own page: the service is away.
  if (answer.status >= 500 && !answer.headers.has("HX-Retarget")) throw new TypeError("no answer of the service");
  if (away) {
    away = false;
    connection.hidden = true;
    announce();
  }
  return answer;
}

// Anything but a lost connection is a mistake of ours, and thrown on.
function lost(error) {
  if (!(error instanceof TypeError || error.name === "TimeoutError")) throw error;
  away = true;
  connection.hidden = false;
  state();
  soon(RETRY_MS);
}

async function exchange() {
  if (busy || (!queue.length && !stale)) return;
  clearTimeout(timer);
  busy = true;
  const sent = queue.slice(0, MOST_AT_ONCE);
  const before = text;
  const turn = replaced;
  under_way = sent.length;
  stale = false;
  try {
    const body = { name, text: before, begun, number: Number(number), network: network.value, edits: sent, touched };
    const answer = await call(`${prefix}/editor/change`, JSON.stringify(body), { "Content-Type": "application/json" });
    if (answer.ok) {
      const changed = await answer.json();
      if (turn === replaced) take(changed, sent.slice(0, changed.taken), before);
    } else if (await passes(answer, sent, turn)) return;
  } catch (error) {
    stale = true;
    lost(error);
    return;
  } finally {
    busy = false;
    under_way = 0;
  }
  state();
  if ((queue.length || stale) && !away) soon(0);
}

function take(answer, sent, before) {
  queue = queue.slice(sent.length);
  for (const done of sent) {
    queue = queue.map((edit) => edit && shifted(edit, done)).filter(Boolean);
    touched = shifted({ path: touched }, done)?.path ?? [];
  }
  if (text === before) {
    remember(settled, answer.text);
    write(answer.text);
    settled = text;
  } else {
    stale = true; // typed on in the YAML meanwhile
  }
  const wrong = new Set(wrongParts(form));
  const refold = keepFolds(form, sent);
  morph(form, answer.form, keeps);
  refold();
  markRefused(form, element("preview"));
  for (const id of wrongParts(form)) if (!wrong.has(id)) unfold(element(id));
  morph(element("problem-list"), answer.problems, () => false);
  refuse(answer.refused);
  keepDraft();
  announce();
  const last = sent.at(-1);
  if (last && ["insert", "move", "remove"].includes(last.op)) goOn(last, answer.focus);
}

// Whether a refusal may pass by itself, or by a new login: then it is tried again. Else what was sent is given up.
async function passes(answer, sent, turn) {
  await complain(answer);
  if (answer.status < 500 && ![401, 403, 429].includes(answer.status)) {
    if (turn === replaced) queue = queue.slice(sent.length);
    stale ||= sent.length > 0; // the form shows what was given up
    return false;
  }
  stale = true;
  soon(RETRY_MS * 3);
  return true;
}

async function complain(answer) {
  element("messages").innerHTML = await answer.text();
  const detail = { xhr: { status: answer.status } }; // as htmx tells it: the page then looks for a new session
  document.body.dispatchEvent(new CustomEvent("htmx:responseError", { detail }));
}

function refuse(told) {
  const message = element("refusal");
  message.replaceChildren();
  if (!told) return;
  const line = document.createElement("p");
  line.className = "message warning";
  line.textContent = told.hint ? `${told.message}: ${told.hint}` : told.message;
  message.append(line);
}

// What is newer here than what the service says: typed since, or being typed.
function keeps(input) {
  if (input === document.activeElement && input.matches("input:not([type=checkbox]), textarea")) return true;
  const holder = input.closest("[data-path]");
  return Boolean(holder) && queue.some((edit) => samePath(edit.path, JSON.parse(holder.dataset.path)));
}

function announce() {
  document.body.dispatchEvent(new CustomEvent("policy-changed", { detail: { text } }));
}

// --- the form

function enqueue(edit) {
  if (edit.what === "service") touched = edit.path;
  const last = queue.at(-1);
  if (last && queue.length > under_way && replaces(edit, last)) queue[queue.length - 1] = edit;
  else queue.push(edit);
  keepDraft();
  state();
}

form.addEventListener("input", (event) => {
  const holder = event.target.closest("[data-path]");
  if (locked || !holder || event.target.closest("dialog")) return;
  enqueue(editOf(holder));
  soon();
});

form.addEventListener("change", (event) => {
  const { also, less } = event.target.dataset;
  if (also ?? less) {
    const path = [...JSON.parse(also ?? less), event.target.value];
    if (also) enqueue({ op: "set", path, kind: "list", what: "kept", value: "" });
    else enqueue({ op: "remove", path });
    event.target.value = "";
    soon(0);
  } else if (queue.length) {
    soon(0);
  }
});

// A description is one line of the policy, however many it takes in its box.
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("textarea")) event.preventDefault();
});

form.addEventListener("focusout", (event) => {
  const input = event.target;
  if (!input.matches("input[data-path]:not([type=checkbox]), textarea[data-path]")) return;
  // Shown as the policy has it as soon as nobody types there any more.
  setTimeout(() => {
    if (input.isConnected && !busy && !keeps(input)) input.value = input.getAttribute("value") ?? input.defaultValue ?? "";
  }, TYPING_MS * 2);
});

form.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.pick) pick(button);
  else if (button.dataset.op && !locked) {
    enqueue(editOf(button));
    soon(0);
  }
});

// Where somebody goes on after an entry of a list came, moved or went.
function goOn(done, id) {
  const card = element(id);
  let next = card;
  if (done.op === "insert") {
    next = card?.querySelector("input:not([disabled]), select:not([disabled])") ?? card;
    unfold(next);
  }
  if (done.op === "move" && document.activeElement.matches("[data-handle]")) next = element(`${id}-handle`);
  else if (done.op === "move") {
    const [first, second] = done.target < done.index ? ["up", "down"] : ["down", "up"];
    next = [element(`${id}-${first}`), element(`${id}-${second}`)].find((button) => button && !button.disabled);
  }
  (next ?? element("tab-form")).focus();
}

if (!locked) {
  reorder(form, (edit) => {
    enqueue(edit);
    soon(0);
  });
}

// --- the YAML

area.addEventListener("input", () => {
  text = written();
  touched = [];
  stale = true;
  numberLines();
  keepDraft();
  state();
  soon();
});

// --- what the preview says

element("preview").addEventListener("htmx:afterSwap", () => markRefused(form, element("preview")));

// --- network

network.addEventListener("change", () => {
  const address = new URL(location);
  address.searchParams.set("network", network.value);
  window.history.replaceState(null, "", address);
  stale = true;
  soon(0);
});

// --- what is not stored yet

function isDirty() {
  return !locked && (queue.length > 0 || text !== (stored ?? opened));
}

function state() {
  if (locked) return;
  area.readOnly = queue.length > 0;
  element("undo").disabled = !(history.length || queue.length || text !== settled);
  const { textAway, textUnsaved, textSame } = editor.dataset;
  const told = away ? textAway : isDirty() || stored === null ? textUnsaved : textSame;
  if (element("state").textContent !== told) element("state").textContent = told;
}

function keepDraft() {
  if (locked) return;
  if (!isDirty()) drafts.drop();
  else if (!drafts.keep({ text, base, queue })) refuse({ message: editor.dataset.textFull });
}

function remember(before, after) {
  if (before === after) return;
  history.push(before);
  if (history.length > MOST_UNDONE) history.shift();
}

function replaceText(to, edits = []) {
  replaced += 1;
  under_way = 0;
  queue = edits;
  write(to);
  stale = true;
  keepDraft();
  state();
  soon(0);
}

function offer() {
  const { textDraft, textRestore, textDrop } = editor.dataset;
  for (const [id, draft] of Object.entries(drafts.all())) {
    if (draft.text === text && !draft.queue?.length) continue;
    const line = document.createElement("p");
    line.className = "message warning";
    const time = new Date(draft.at).toLocaleString(navigator.language, { dateStyle: "medium", timeStyle: "short" });
    const restore = button(textRestore, () => {
      base = draft.base;
      replaceText(draft.text, draft.queue);
      drafts.drop(id);
      line.remove();
      area.focus();
    });
    const drop = button(textDrop, () => {
      drafts.drop(id);
      line.remove();
    });
    line.append(`${textDraft} ${time}. `, restore, " ", drop);
    element("offers").append(line);
  }
}

function button(label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}

addEventListener("beforeunload", (event) => {
  if (isDirty()) event.preventDefault();
});
addEventListener("online", () => soon(0));

// --- storing

let storing = false;

async function store(andRun) {
  if (storing) return;
  storing = true;
  try {
    await exchange();
    while (queue.length || busy) await new Promise((go) => setTimeout(go, TYPING_MS));
    await send(andRun);
  } finally {
    storing = false;
  }
}

async function send(andRun) {
  const sent = text;
  const body = new URLSearchParams({ text: sent, base, comment: element("comment").value, begun, number });
  if (element("owner")) body.set("owner", element("owner").value);
  if (element("shadow-shipped")?.checked) body.set("shadow_shipped", "yes");
  let answer;
  try {
    answer = await call(`${prefix}/policies/${encodeURIComponent(name)}/versions`, body);
  } catch (error) {
    lost(error);
    return;
  }
  const outcome = element("outcome");
  if (answer.ok) {
    const { number: made, panel } = await answer.json();
    base = made;
    stored = sent;
    outcome.innerHTML = panel;
    element("messages").replaceChildren();
    element("comment").value = "";
    keepDraft();
    state();
    const query = new URLSearchParams({ policy: name, version: made, network: network.value });
    if (andRun) location.assign(`${prefix}/runs/new?${query}`);
    else window.history.replaceState(null, "", `${prefix}/policies/${encodeURIComponent(name)}/edit?network=${encodeURIComponent(network.value)}`);
  } else if (answer.headers.get("content-type")?.startsWith("application/json")) {
    conflict(await answer.json());
  } else if (answer.status === 422 && sent === settled && element("problems")) {
    element("messages").replaceChildren(); // once is enough
    leadToProblems();
  } else {
    await complain(answer);
  }
}

function conflict({ panel, newest, theirs }) {
  const outcome = element("outcome");
  outcome.innerHTML = panel;
  document.body.dispatchEvent(new CustomEvent("htmx:load", { detail: { elt: outcome } })); // for its times
  const { textOnto, textMine } = editor.dataset;
  const choose = {
    keep: () => say(textOnto),
    take: () => {
      const mine = document.createElement("details");
      mine.append(document.createElement("summary"), document.createElement("pre"));
      mine.firstChild.textContent = textMine;
      mine.lastChild.textContent = text;
      mine.lastChild.tabIndex = 0;
      mine.open = true;
      outcome.replaceChildren(mine);
      remember(text, theirs);
      stored = settled = theirs;
      replaceText(theirs);
    },
    force: () => {
      outcome.replaceChildren();
      store(false);
    },
  };
  outcome.querySelector("#conflict").focus();
  outcome.onclick = (event) => {
    const choice = event.target.closest("[data-conflict]")?.dataset.conflict;
    if (!choice) return;
    outcome.onclick = null;
    base = newest;
    choose[choice]();
  };
  function say(told) {
    const line = document.createElement("p");
    line.className = "message warning";
    line.textContent = told;
    outcome.replaceChildren(line);
    keepDraft();
  }
}

save?.addEventListener("submit", (event) => {
  event.preventDefault();
  store(event.submitter?.id === "store-and-run");
});
element("undo")?.addEventListener("click", () => {
  if (queue.length) replaceText(text); // what the service has not taken
  else if (text !== settled) replaceText(settled);
  else if (history.length) replaceText((settled = history.pop()));
});

numberLines();
if (!locked) {
  offer();
  state();
  for (const field of enteredBefore(form)) enqueue(editOf(field));
  soon(0);
}
