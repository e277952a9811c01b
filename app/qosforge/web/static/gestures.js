// What is done in the policy form, as the service takes it (see app/qosforge/web/views/gestures.py).

export function gestureOf(element) {
  const { path, op = "set", kind = "text", what = "", index, target, value, valueFrom } = element.dataset;
  const gesture = { op, path: JSON.parse(path), kind, what };
  if (index !== undefined) Object.assign(gesture, { index: Number(index), target: Number(target) });
  if (element.nodeName === "BUTTON") gesture.value = valueFrom ? document.getElementById(valueFrom).value : value ?? "";
  else if (element.nodeName === "FIELDSET") gesture.value = ticked(element);
  else if (element.type === "checkbox") gesture.value = element.checked ? "true" : "";
  else gesture.value = element.value;
  return gesture;
}

export function ticked(within) {
  return [...within.querySelectorAll("input:checked")].map((box) => box.value);
}

// Whether the later of two takes the place of the earlier one.
export function replaces(later, earlier) {
  const typed = (gesture) => ["set", "amount", "choose"].includes(gesture.op);
  return typed(later) && later.op === earlier.op && samePath(later.path, earlier.path);
}

export function samePath(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

// Where a gesture leads that was made on a form from before `done` moved the entries of a list; null: nowhere.
export function shifted(gesture, done) {
  const list = done.op === "remove" ? done.path.slice(0, -1) : done.path;
  const at = gesture.path[list.length];
  if (!["insert", "remove", "move"].includes(done.op) || typeof at !== "number") return gesture;
  if (!samePath(gesture.path.slice(0, list.length), list)) return gesture;
  const to = moved(at, done);
  return to === null ? null : { ...gesture, path: [...list, to, ...gesture.path.slice(list.length + 1)] };
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
