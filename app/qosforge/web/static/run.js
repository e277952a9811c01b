// A run's page while the run goes on: its events say when there is something new, and the server renders it.

const progress = document.getElementById("progress");
const standing = document.getElementById("standing");
const connection = document.getElementById("connection");
const now = document.getElementById("now");

const PAUSE_MS = 250; // events come in bursts
const AGAIN_MS = 2000; // after a connection broke; twice as long each time it cannot be made
const LATEST_MS = 30_000;
const KINDS = ["status", "stage", "progress", "device", "decision", "cancel", "try", "measurement"];

let source = null;
let seen = Number(state().dataset.seq);
let asked = 0;
let reopening = 0;
let pause = AGAIN_MS;

function state() {
  return document.getElementById("state");
}

function refresh() {
  asked ||= setTimeout(() => {
    asked = 0;
    htmx.trigger(progress, "refresh");
  }, PAUSE_MS);
}

function close() {
  source?.close();
  source = null;
  clearTimeout(reopening);
}

function open() {
  close();
  source = new EventSource(`${progress.dataset.events}?after=${seen}`);
  const mine = source;
  mine.onopen = () => {
    pause = AGAIN_MS;
    connection.hidden = true;
  };
  // The stream is closed and opened by us, so that it goes on after the last event whatever broke it.
  mine.onerror = () => {
    if (mine === source) later();
  };
  for (const kind of KINDS) {
    mine.addEventListener(kind, (event) => {
      seen = Math.max(seen, Number(event.lastEventId));
      refresh();
    });
  }
  mine.addEventListener("end", () => {
    close();
    refresh();
  });
}

function later() {
  close();
  reopening = setTimeout(again, pause);
  pause = Math.min(2 * pause, LATEST_MS);
}

// Asks for the page's own part first: it tells by its answer whether the service, the session or the run is gone.
function again() {
  htmx.trigger(progress, "refresh");
}

function follow() {
  if (state().hasAttribute("data-final")) close();
  else if (!source && !document.hidden && navigator.onLine) open();
}

// What stands beside the progress comes with it where it changed, and not under somebody's hands.
function shown() {
  return document.getElementById("standing-state").dataset.key;
}

progress.addEventListener("htmx:configRequest", ({ target, detail }) => {
  if (target !== progress || standing.querySelector("dialog[open]")) return;
  for (const [name, value] of new URL(standing.getAttribute("hx-get"), location).searchParams) detail.parameters[name] = value;
  detail.parameters.standing = shown();
});

function settle() {
  if (shown() === state().dataset.key || standing.querySelector("dialog[open]")) return;
  htmx.trigger(standing, "refresh");
}

progress.addEventListener("htmx:afterSettle", () => {
  seen = Math.max(seen, Number(state().dataset.seq));
  if (now.textContent !== state().dataset.now) now.textContent = state().dataset.now;
  follow();
  settle();
});
for (const trouble of ["htmx:sendError", "htmx:responseError"]) {
  progress.addEventListener(trouble, later);
}

document.addEventListener("visibilitychange", () => {
  // A browser has few connections to one server: a page that nobody looks at gives its own back.
  if (document.hidden) close();
  else again();
});
addEventListener("offline", close);
addEventListener("online", again);
standing.addEventListener("change", ({ target }) => {
  if (target.matches("select[data-goes]")) target.form.requestSubmit();
});
document.body.addEventListener("run-changed", (event) => {
  if (event.target.closest("#decision")) scrollTo({ top: 0 }); // where it stands now
  again();
});

// What a decision has to say is asked at its field, not by an answer of the service.
standing.addEventListener(
  "click",
  (event) => {
    const needs = event.target.closest("[data-needs]")?.dataset.needs;
    const comment = document.getElementById("comment");
    comment?.setCustomValidity(needs && !comment.value.trim() ? needs : "");
    if (needs && !comment.reportValidity()) {
      event.preventDefault();
      event.stopPropagation();
    }
  },
  true,
);

// What was folded out stays so.
let unfolded = [];
for (const swap of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
  document.body.addEventListener(swap, ({ detail }) => {
    const found = [...detail.target.querySelectorAll("details[id]")].map((one) => [one.id, one.open]);
    unfolded = swap === "htmx:beforeSwap" ? found : [...unfolded, ...found];
  });
}
document.body.addEventListener("htmx:afterSwap", () => {
  for (const [id, was] of unfolded) {
    const found = document.getElementById(id);
    if (found) found.open = was;
  }
});

standing.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) document.getElementById(opener.dataset.dialog).showModal();
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
});
standing.addEventListener("close", settle, true);

follow();
