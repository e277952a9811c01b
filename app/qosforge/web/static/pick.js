// Lists to pick from: what is ticked in a dialog goes into an input beside what was typed there.

import { ticked } from "./form_edits.js";

export function pick(button) {
  const dialog = document.getElementById(button.dataset.pick);
  const input = document.getElementById(button.dataset.into);
  const given = input.value.split(",").map((part) => part.trim()).filter(Boolean);
  const checkboxes = [...dialog.querySelectorAll("input[type=checkbox]")];
  for (const checkbox of checkboxes) checkbox.checked = given.includes(checkbox.value);
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue !== "take") return;
    const offered = new Set(checkboxes.map((checkbox) => checkbox.value));
    input.value = [...given.filter((one) => !offered.has(one)), ...ticked(dialog)].join(", ");
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  dialog.showModal();
}

