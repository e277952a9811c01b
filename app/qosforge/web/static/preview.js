// The preview: what was folded out, loaded or filtered stays so when a new one comes, and an old one stays, dimmed,
// while the text cannot be compiled.

const section = document.getElementById("preview");

// What a screen reader hears of a new preview: only its first line, and only when that changed.
const said = document.createElement("p");
said.className = "visually-hidden";
said.setAttribute("role", "status");
section.before(said);

let kept = null;
let stale = []; // parts of devices that show what the preview before said

// Where a new run has no policy yet, there is nothing to look at, and what was asked for another one counts no more.
section.addEventListener("htmx:configRequest", (event) => {
  const policy = document.querySelector("#new-run #policy");
  if (event.target !== section || !policy || policy.value) return;
  event.preventDefault();
  section.replaceChildren();
  gate();
});

// What would change is seen before it is started; where no preview can be made, the run tells by itself what stands
// against it.
section.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target === section) gate(true);
  if (!event.target.matches(".coming")) return;
  event.target.addEventListener("htmx:beforeSwap", late);
  delete event.target.dataset.ended;
  gate();
});

// Devices that come after another preview took the place of theirs have no place in it.
function late(event) {
  if (!event.target.isConnected) event.detail.shouldSwap = false;
}

for (const trouble of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  section.addEventListener(trouble, (event) => {
    if (event.target.matches(".coming")) event.target.dataset.ended = "";
    else if (event.target !== section) return;
    gate();
  });
}

section.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target !== section || event.detail.xhr.status >= 400) return;
  const refused = event.detail.xhr.getResponseHeader("X-Preview") === "refused";
  if (refused && document.getElementById("preview-good")) {
    event.detail.shouldSwap = false;
    document.getElementById("preview-refused")?.remove();
    section.insertAdjacentHTML("afterbegin", event.detail.serverResponse);
    section.dataset.stale = "";
    announce();
    gate();
    return;
  }
  delete section.dataset.stale;
  kept = {
    open: [...section.querySelectorAll("details[id][open]")].map((one) => one.id),
    bodies: new Map([...section.querySelectorAll(".device[open] > .device-body")].map((one) => [one.id, [...one.childNodes]])),
    ticks: [...section.querySelectorAll("input[type=checkbox][id]")].map((one) => [one.id, one.checked]),
    focus: section.contains(document.activeElement) ? document.activeElement.id : "",
  };
});

section.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === section && kept) restore(kept);
  else if (event.detail.target.matches(".device-body")) event.detail.target.removeAttribute("aria-busy");
  announce();
});

// Only now do the new parts listen.
section.addEventListener("htmx:afterSettle", () => {
  for (const body of stale.splice(0)) htmx.trigger(body, "renew");
  gate();
});

// A run that errors stand against would only be rejected: it is not started. Nor is one of a large network before it
// is known what it would change; where that cannot be known, it is said what a run then does. The editor's button
// stores as well: it waits for no preview, and what is to be accepted is asked by the form that follows.
function gate(asked = false) {
  const stores = document.getElementById("store-and-run");
  const start = document.getElementById("start-run") ?? stores;
  if (!start) return;
  const coming = section.querySelector(".coming");
  const stopped = coming && "ended" in coming.dataset;
  const waits = !stores && (asked || (coming !== null && !stopped));
  const errors = section.querySelector("[data-cannot]");
  const refused = standsBetween() ?? document.querySelector("#without-address[data-refuses]");
  const choice = errors || refused || stores ? null : choiceAgainst();
  const against = errors ?? refused ?? choice?.said ?? null;
  start.disabled = waits || against !== null;
  const why = document.getElementById("start-run-why");
  const link = why.querySelector("a.wrong");
  const would = why.querySelector("a.would");
  const told = [section.querySelector("[data-would]")?.dataset.would, section.querySelector("[data-predicted]")?.dataset.predicted];
  if (told[0]) told.push(why.dataset.unmeasured, holding()?.dataset.after);
  const size = against ? "" : told.filter(Boolean).join("; ");
  if (would) {
    would.hidden = waits || !size;
    section.querySelector("#preview-size")?.toggleAttribute("hidden", !would.hidden); // it is told once
    would.textContent = size;
    would.classList.toggle("is-broken", section.querySelector(".error[data-predicted]") !== null);
    const waiting = why.querySelector(".waits");
    waiting.hidden = !waits && !stopped;
    waiting.textContent = (stopped ? coming.dataset.stopped : coming?.dataset.soFar) ?? waiting.dataset.otherwise;
  }
  link.hidden = waits || !against;
  if (!against) return;
  if (against === refused) {
    link.href = refused.dataset.run ?? `#${refused.id}`;
    link.textContent = refused.dataset.refuses;
    return;
  }
  const found = choice?.field ?? section.querySelector("#preview-errors") ?? against;
  found.id ||= "what-is-against";
  link.href = `#${found.id}`;
  link.textContent = choice?.told ?? against.dataset.cannot;
}

// What stands against a run as the form has it: a choice there, and what the preview says of it.
function choiceAgainst() {
  const choices = [
    ["#new-run [name=judge][value=twin]:checked", "data-unless-unmeasured"],
    ["#accept_unconfirmed:not(:checked)", "data-unless-accepted"],
    ["#strict:checked", "data-if-strict"],
  ];
  for (const [selector, name] of choices) {
    const field = document.querySelector(selector);
    const said = field && section.querySelector(`[${name}]`);
    if (said) return { field, said, told: said.getAttribute(name) };
  }
  return null;
}

// The run that stands half-way, if the policy applies to a device that it left between two states: no other run is
// given that device. Where no device is shown, it is not known and the run tells it.
function standsBetween() {
  return [...document.querySelectorAll("#half-way-run[data-devices]")].find(concerns) ?? null;
}

// The run that holds a device of the policy now, so that another one has to wait for it.
function holding() {
  return [...document.querySelectorAll("#other-runs [data-after]")].find(concerns) ?? null;
}

function concerns(run) {
  return run.dataset.devices.split(" ").some((name) => section.querySelector(`#device-${CSS.escape(name)}`) !== null);
}

document.addEventListener("change", (event) => {
  if (event.target.matches("#accept_unconfirmed")) htmx.trigger(section, "accepted"); // it finds other things then
  else if (event.target.matches("#strict, #new-run [name=judge]")) gate(section.querySelector("[data-said], [data-cannot]") === null);
});

function restore({ open, bodies, ticks, focus }) {
  kept = null;
  for (const [id, nodes] of bodies) {
    const body = document.getElementById(id);
    if (!body) continue;
    body.replaceChildren(...nodes); // until its new content comes
    body.setAttribute("aria-busy", "true");
    stale.push(body);
  }
  for (const id of open) {
    const found = document.getElementById(id);
    if (found) found.open = true;
  }
  for (const [id, was] of ticks) {
    const checkbox = document.getElementById(id);
    if (checkbox) checkbox.checked = was;
  }
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

function words(element) {
  return element?.textContent.replaceAll(/\s+/g, " ").trim() ?? "";
}

// The first line of the preview: for a screen reader, and, in brief, where a narrow screen has it out of view.
function announce() {
  const line = section.querySelector("#preview-refused [data-said]") ?? section.querySelector("[data-said]");
  const text = words(line);
  if (said.textContent !== text) said.textContent = text;
  const brief = line?.dataset.brief ?? words(line?.querySelector("strong"));
  for (const link of document.querySelectorAll("[data-preview-said]")) {
    if (brief) link.textContent = brief;
    link.classList.toggle("is-bad", line?.closest(".error") !== null && line !== null);
  }
}

if (!section.querySelector("[data-said]")) gate(true);

section.addEventListener("click", (event) => {
  const { open, copy, save } = event.target.closest("[data-open], [data-copy], [data-save]")?.dataset ?? {};
  if (open) show(document.getElementById(open), event);
  if (copy) copyLines(event.target.closest("button"), document.getElementById(copy));
  if (save) saveFile(event.target.closest("button").dataset.file, document.getElementById(save).textContent);
});

function show(device, event) {
  if (!device) return;
  event.preventDefault();
  for (let around = device; around; around = around.parentElement) if (around.nodeName === "DETAILS") around.open = true;
  device.scrollIntoView({ block: "start" });
  device.querySelector("summary").focus({ preventScroll: true });
}

async function copyLines(button, lines) {
  const text = [...lines.querySelectorAll("code")].map((one) => one.textContent).join("\n");
  const { done, failed } = button.dataset;
  try {
    await navigator.clipboard.writeText(`${text}\n`);
    button.textContent = done;
  } catch {
    getSelection().selectAllChildren(lines); // the page is not served by HTTPS, or the browser forbids it
    button.textContent = failed;
  }
}

function saveFile(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
