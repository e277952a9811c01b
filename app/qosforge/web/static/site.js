// What every page does: theme, the session's token on calls that change something, a lost connection, messages.

const messages = document.getElementById("messages");
const connection = document.getElementById("connection");
const prefix = document.querySelector('meta[name="prefix"]').content;
const token = document.querySelector('meta[name="csrf"]');

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // storage is switched off: it counts for this page alone
  }
});

// On a narrow screen the tabs of a page scroll in their row: begin with the one that is shown in its middle.
for (const shown of document.querySelectorAll("nav.tabs [aria-current]")) {
  const tab = shown.getBoundingClientRect();
  const row = shown.parentElement.getBoundingClientRect();
  shown.parentElement.scrollLeft += tab.left + tab.width / 2 - row.left - row.width / 2;
}

messages.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismiss]")) messages.replaceChildren();
});

document.body.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "get") event.detail.headers["X-CSRF-Token"] = token.content;
});

// A button that sends its form leads to what is missing in it, as the browser does where no script is.
document.body.addEventListener("htmx:validation:halted", (event) => {
  if (event.target.matches("button")) event.target.form?.reportValidity();
});

// After a new login in another tab this page's token is that of a session that ended: take the new one.
const caller = document.querySelector('meta[name="caller"]').content;
const sessions = new BroadcastChannel("session");
if (caller) sessions.postMessage({ caller, token: token.content });
sessions.addEventListener("message", (event) => {
  if (caller) renew(event.data);
});
let ended = false;
document.body.addEventListener("htmx:responseError", (event) => {
  ended = ended || [401, 403].includes(event.detail.xhr.status);
});
addEventListener("focus", async () => {
  if (!ended) return;
  const answer = await fetch(`${prefix}/api/v1/me`).catch(() => null);
  if (!answer?.ok) return;
  const me = await answer.json();
  renew({ caller: me.name, token: me.csrf ?? "" });
});

function renew(session) {
  const renewed = session.token !== token.content;
  token.content = session.token;
  if (ended && renewed) messages.replaceChildren();
  ended = false;
  if (session.caller !== caller) {
    const told = document.getElementById("another-caller").content.cloneNode(true);
    told.querySelector("strong").textContent = session.caller;
    messages.replaceChildren(told);
  }
}

// Every problem that the service tells goes among the messages. Another answer is of a proxy while the service is away:
// no part of the page. What nobody asked for just now is told once, not by every poll.
let told = "";
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target, requestConfig, serverResponse } = event.detail;
  const again = serverResponse === told && !requestConfig.triggeringEvent?.isTrusted;
  told = xhr.status < 400 ? "" : serverResponse;
  if (xhr.status >= 400 && (target !== messages || again)) event.detail.shouldSwap = false;
});

// What is wrong with a form is marked where it was entered, until it is changed.
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== messages) return;
  const form = event.detail.requestConfig.elt.closest("form");
  const problems = [...messages.querySelectorAll("[data-field]")];
  const fields = problems.flatMap((wrong) => {
    const field = form?.elements[wrong.dataset.field];
    if (!(field instanceof Element)) return [];
    field.setAttribute("aria-invalid", "true");
    if (!placeOf(field)) field.setAttribute("aria-describedby", wrong.id);
    return [field];
  });
  if (fields.length && fields.length === problems.length && fields.every(placeOf)) {
    fields.forEach((field, at) => say(placeOf(field), problems[at].dataset.said));
    messages.replaceChildren();
  }
  fields[0]?.focus();
});

// Where a form has a line of its own for what is wrong with a field, that is told there: the browser's bubble would
// cover what the field takes.
document.body.addEventListener("invalid", (event) => {
  const field = event.target;
  const place = placeOf(field);
  if (!place) return;
  event.preventDefault();
  field.setAttribute("aria-invalid", "true");
  say(place, (field.validity.patternMismatch && place.dataset.format) || place.dataset.missing || field.validationMessage);
  if (field === field.form.querySelector("input:invalid, select:invalid, textarea:invalid")) field.focus();
}, true);

function placeOf(field) {
  return field.form?.querySelector(`[data-wrong="${CSS.escape(field.name)}"]`) ?? null;
}

function say(place, text) {
  place.textContent = text;
}

document.body.addEventListener("input", (event) => {
  const field = event.target;
  const place = placeOf(field);
  if (place) say(place, "");
  if (field.getAttribute("aria-invalid") !== "true") return;
  for (const one of place ? field.form.querySelectorAll(`[name="${CSS.escape(field.name)}"]`) : [field]) one.removeAttribute("aria-invalid");
});

// What an answer ticks by itself needs no word any more.
document.body.addEventListener("htmx:afterSettle", () => {
  for (const place of document.querySelectorAll("[data-wrong]:not(:empty)")) {
    if (place.closest("form")?.querySelector(`[name="${CSS.escape(place.dataset.wrong)}"]:checked`)) say(place, "");
  }
});

function online(is) {
  connection.hidden = is;
}
document.body.addEventListener("htmx:sendError", () => online(false));
document.body.addEventListener("htmx:timeout", () => online(false));
document.body.addEventListener("htmx:afterRequest", (event) => {
  const { xhr } = event.detail;
  if (xhr.status) online(xhr.status < 500 || xhr.getResponseHeader("HX-Retarget") !== null);
});
addEventListener("offline", () => online(false));
addEventListener("online", () => online(true));

// Times in the reader's own zone, with UTC one pointer away; as the reader's country writes them in this language.
const language = navigator.languages.find((one) => one.startsWith(document.documentElement.lang)) ?? document.documentElement.lang;
function zoneName(at) {
  const parts = new Intl.DateTimeFormat(language, { timeZoneName: "short" }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName").value;
}
function localTimes(within) {
  let list = null, day = "";
  for (const time of within.querySelectorAll("time:not([title])")) {
    const at = new Date(time.dateTime), exact = "exact" in time.dataset;
    time.title = time.textContent;
    const of = time.closest("[data-times]"), on = at.toDateString(), zone = of?.querySelector("[data-zone]");
    time.textContent = at.toLocaleString(language, { dateStyle: "medium", timeStyle: !exact ? "short" : zone ? "medium" : "long" });
    // In a list of events or steps the day is told with the first of each, and the zone there or in the heading.
    if (zone) zone.textContent = zoneName(at);
    if (of && of === list && on === day) time.textContent = at.toLocaleTimeString(language, { timeStyle: "medium" });
    list = of;
    day = on;
  }
}
localTimes(document);
document.body.addEventListener("htmx:load", (event) => localTimes(event.detail.elt));

// How long what is under way takes so far.
function spanned(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
setInterval(() => {
  for (const one of document.querySelectorAll("[data-since]")) {
    one.textContent = spanned(Math.max(0, (Date.now() - Date.parse(one.dataset.since)) / 1000));
  }
}, 1000);
