// Puts a part of a page in place of an older one and touches only what differs, so that focus, the caret, what is
// open and what is being typed stay as they are. Elements are matched by their ids, others by their kind and order.

import { Idiomorph } from "./idiomorph.js";

const ENTERED = ["value", "checked", "selected"];

// `keep(input)` says whether an input has something newer than what comes.
export function morph(element, markup, keep) {
  const kept = (one) => keep(one.closest("select") ?? one);
  Idiomorph.morph(element, markup, {
    morphStyle: "innerHTML",
    callbacks: {
      beforeAttributeUpdated(name, old) {
        if (name === "open") return !old.matches("details, dialog");
        return !(ENTERED.includes(name) && kept(old));
      },
      // What the service has is in the attribute even where something newer is shown.
      afterNodeMorphed(old, made) {
        if (old.nodeName === "INPUT" && made.hasAttribute("value") && kept(old)) {
          old.setAttribute("value", made.getAttribute("value"));
        }
      },
    },
  });
}
