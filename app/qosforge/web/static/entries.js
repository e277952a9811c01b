// Entries of the form's lists: they open where something is wrong, and change their places by dragging their handles, or
// with the arrow keys on them; what is folded out goes along with them.

import { samePath, shifted } from "./form_edits.js";

// The ids of the parts of the form at which problems stand.
export function wrongParts(form) {
  return [...form.querySelectorAll(".problems:not(:empty)")].map((one) => one.id);
}

// What is folded around something opens.
export function unfold(inner) {
  for (let around = inner; around; around = around.parentElement) if (around.nodeName === "DETAILS") around.open = true;
}

// What the preview says of a class stands on its card, too: the devices that cannot do what it asks for.
export function markRefused(form, preview) {
  for (const one of form.querySelectorAll("summary > .refused-by")) one.remove();
  for (const one of preview.querySelectorAll("template.refused-class")) {
    const line = form.querySelector(`[data-class="${CSS.escape(one.dataset.refused)}"] > .body > summary`);
    if (!line) continue;
    const mark = one.content.firstElementChild.cloneNode(true);
    mark.classList.add("refused-by");
    line.append(mark);
  }
}

// `move(edit)` takes the edit that a move is.
export function reorder(form, move) {
  let dragged = null;

  form.addEventListener("keydown", (event) => {
    const handle = event.target.closest("[data-handle]");
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!handle || !step) return;
    event.preventDefault();
    const index = Number(handle.dataset.index);
    if (index + step >= 0 && index + step <= Number(handle.dataset.last)) move(moveOf(handle, index + step));
  });

  form.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest("[data-handle]");
    if (!handle || event.button !== 0) return;
    handle.setPointerCapture(event.pointerId);
    dragged = { handle, from: event.clientY, target: null };
  });

  form.addEventListener("pointermove", (event) => {
    if (!dragged?.handle.isConnected) return;
    const card = dragged.handle.closest("article");
    card.classList.add("dragged");
    card.style.transform = `translateY(${event.clientY - dragged.from}px)`;
    show(event.clientY);
  });

  form.addEventListener("pointerup", () => {
    const { handle, target } = dragged ?? {};
    drop();
    if (target !== null && target !== undefined && target !== Number(handle.dataset.index)) move(moveOf(handle, target));
  });

  form.addEventListener("pointercancel", drop);

  // The place where it would be put is told by a line before or after the entry that is there.
  function show(y) {
    unmark();
    const own = Number(dragged.handle.dataset.index);
    const path = dragged.handle.dataset.path;
    dragged.target = null;
    for (const other of form.querySelectorAll("[data-handle]")) {
      const index = Number(other.dataset.index);
      if (other.dataset.path !== path || index === own) continue;
      const card = other.closest("article");
      const { top, height } = card.getBoundingClientRect();
      const above = y < top + height / 2;
      if (index < own && above && dragged.target === null) mark(card, "before", index);
      if (index > own && !above) mark(card, "after", index);
    }
  }

  function mark(card, side, target) {
    unmark();
    card.dataset.drop = side;
    dragged.target = target;
  }

  function unmark() {
    for (const marked of form.querySelectorAll("[data-drop]")) delete marked.dataset.drop;
  }

  function drop() {
    const card = dragged?.handle.closest("article");
    card?.classList.remove("dragged");
    card?.style.removeProperty("transform");
    unmark();
    dragged = null;
  }
}

function moveOf(handle, target) {
  return { op: "move", path: JSON.parse(handle.dataset.path), index: Number(handle.dataset.index), target };
}

function entries(form) {
  return [...form.querySelectorAll("[data-handle]")].map((handle) => ({
    path: [...JSON.parse(handle.dataset.path), Number(handle.dataset.index)],
    card: handle.closest("article"),
  }));
}

function folds(card) {
  const own = [...card.querySelectorAll("details[id]")].filter((one) => one.closest("article") === card);
  return new Map(own.map((one) => [one.id.slice(card.id.length), one]));
}

// Takes down what is folded out; what it returns puts that right after `edits` moved or removed entries.
export function keepFolds(form, edits) {
  if (!edits.some((edit) => ["move", "remove"].includes(edit.op))) return () => {};
  const before = entries(form).map(({ path, card }) => ({
    path: edits.reduce((at, done) => at && (shifted({ path: at }, done)?.path ?? null), path),
    open: [...folds(card)].filter(([, one]) => one.open).map(([part]) => part),
  }));
  return () => {
    for (const { path, card } of entries(form)) {
      const was = before.find((one) => one.path && samePath(one.path, path));
      if (was) for (const [part, one] of folds(card)) one.open = was.open.includes(part);
    }
  };
}
