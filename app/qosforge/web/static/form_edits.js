// What is done in the policy form, as the service takes it (see app/qosforge/web/views/form_edits.py).

export function editOf(element) {
  const { path, op = "set", kind = "text", what = "", index, target, value, valueFrom } = element.dataset;
  const edit = { op, path: JSON.parse(path), kind, what };
  if (index !== undefined) Object.assign(edit, { index: Number(index), target: Number(target) });
  if (element.nodeName === "BUTTON") edit.value = valueFrom ? document.getElementById(valueFrom).value : value ?? "";
  else if (element.nodeName === "FIELDSET") edit.value = ticked(element);
  else if (element.type === "checkbox") edit.value = element.checked ? "true" : "";
  else if (element.nodeName === "TEXTAREA") edit.value = element.value.replaceAll(/\s*\n\s*/g, " ");
  else edit.value = element.value;
  return edit;
}

export function ticked(within) {
  return [...within.querySelectorAll("input:checked")].map((checkbox) => checkbox.value);
}

// The fields that somebody changed before the scripts were there. On a page that is visited again they may hold what the
// browser put back, which was entered on another text: there, none count.
export function enteredBefore(form) {
  if (performance.getEntriesByType("navigation")[0]?.type !== "navigate") return [];
  const fields = [...form.querySelectorAll(":is(input, textarea, select, fieldset)[data-path]")];
  return fields.filter((one) => !one.disabled && !one.closest("dialog") && isChanged(one));
}

function isChanged(field) {
  if (field.nodeName === "FIELDSET") return [...field.querySelectorAll("input[type=checkbox]:not([data-path])")].some(isChanged);
  if (field.nodeName === "SELECT") {
    const options = [...field.options];
    return field.value !== (options.findLast((one) => one.defaultSelected) ?? options.find((one) => !one.disabled))?.value;
  }
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  const line = (text) => text.replaceAll(/[\r\n]+/g, ""); // an input leaves them out by itself
  return line(field.value) !== line(field.defaultValue);
}

// Whether the later of two takes the place of the earlier one.
export function replaces(later, earlier) {
  const typed = (edit) => ["set", "amount", "choose"].includes(edit.op);
  return typed(later) && later.op === earlier.op && samePath(later.path, earlier.path);
}

export function samePath(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

// Where an edit leads that was made on a form from before `done` moved the entries of a list; null: nowhere.
export function shifted(edit, done) {
  const list = done.op === "remove" ? done.path.slice(0, -1) : done.path;
  const at = edit.path[list.length];
  if (!["insert", "remove", "move"].includes(done.op) || typeof at !== "number") return edit;
  if (!samePath(edit.path.slice(0, list.length), list)) return edit;
  const to = moved(at, done);
  return to === null ? null : { ...edit, path: [...list, to, ...edit.path.slice(list.length + 1)] };
}

function moved(at, done) {
  if (done.op === "remove") {
    const gone = done.path.at(-1);
    return at === gone ? null : at > gone ? at - 1 : at;
  }
  if (done.op !== "move") return at; // new entries come last, or before the last class that takes the rest
  const { index, target } = done;
  if (at === index) return target;
  if (index < at && at <= target) return at - 1;
  if (target <= at && at < index) return at + 1;
  return at;
}
