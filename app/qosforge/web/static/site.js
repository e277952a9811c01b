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

messages.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismiss]")) messages.replaceChildren();
});

document.body.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "get") event.detail.headers["X-CSRF-Token"] = token.content;
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
  const fields = [...messages.querySelectorAll("[data-field]")].flatMap((wrong) => {
    const field = form?.elements[wrong.dataset.field];
    if (!(field instanceof Element)) return [];
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", wrong.id);
    return [field];
  });
  fields[0]?.focus();
});
document.body.addEventListener("input", (event) => {
  if (event.target.getAttribute("aria-invalid") === "true") event.target.removeAttribute("aria-invalid");
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
function localTimes(within) {
  for (const time of within.querySelectorAll("time:not([title])")) {
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString(language, {
      dateStyle: "medium",
      timeStyle: "exact" in time.dataset ? "long" : "short",
    });
  }
}
localTimes(document);
document.body.addEventListener("htmx:load", (event) => localTimes(event.detail.elt));
