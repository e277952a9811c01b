// Puts a part of a page in place of an older one and touches only what differs, so that focus, the caret, what is
// open and what is being typed stay as they are. Elements are told by their ids, others by their kind and order.

// `keep(element)` says whether an input has something newer than what comes.
export function morph(element, markup, keep) {
  const made = document.createElement("template");
  made.innerHTML = markup;
  children(element, made.content, keep);
}

function children(old, made, keep) {
  const known = new Map();
  for (const child of old.children) if (child.id) known.set(child.id, child);
  let at = old.firstChild;
  for (const child of [...made.childNodes]) {
    const same = child.id ? known.get(child.id) : alike(at, child);
    if (same && same.nodeName === child.nodeName) {
      if (same === at) at = at.nextSibling;
      else move(old, same, at);
      node(same, child, keep);
    } else {
      old.insertBefore(child, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Moving an element that has the focus would lose it: what stands between goes behind it instead.
function move(within, element, before) {
  if (!element.contains(document.activeElement)) {
    within.insertBefore(element, before);
    return;
  }
  const after = element.nextSibling;
  while (before && before !== element) {
    const next = before.nextSibling;
    within.insertBefore(before, after);
    before = next;
  }
}

function alike(at, child) {
  if (!at || at.nodeType !== child.nodeType || at.nodeName !== child.nodeName) return null;
  return at.id ? null : at;
}

function node(old, made, keep) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== made.nodeValue) old.nodeValue = made.nodeValue;
    return;
  }
  const open = old.nodeName === "DETAILS" || old.nodeName === "DIALOG";
  for (const { name, value } of made.attributes) {
    if (old.getAttribute(name) !== value && !(open && name === "open")) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!made.hasAttribute(name) && !(open && name === "open")) old.removeAttribute(name);
  }
  const shown = made.nodeName === "SELECT" ? made.value : made.getAttribute("value") ?? "";
  children(old, made, keep);
  if (!old.matches("input, select") || keep(old)) return;
  if (old.matches("[type=checkbox]")) old.checked = made.hasAttribute("checked");
  else if (old.value !== shown) old.value = shown;
}
