// CodeMirror over the text area of a policy, which stays the form's field: what is typed here is put into it, and what
// is put into it shows here. In a shadow root, where its style sheets need nothing that the page's security policy forbids.

import {
  Annotation, autocompletion, Compartment, completionKeymap, defaultKeymap, drawSelection, EditorState, EditorView,
  highlightSpecialChars, HighlightStyle, history, historyKeymap, keymap, lineNumbers, lintKeymap, search, searchKeymap,
  setDiagnostics, syntaxHighlighting, syntaxTree, tags, Transaction, yaml,
} from "./codemirror.js";
import { completionOf } from "./yaml_completion.js";

const FROM_AREA = Annotation.define();

const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--accent)" },
  { tag: tags.lineComment, color: "var(--faint)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.labelName, tags.typeName, tags.keyword], color: "var(--busy)" },
]);

// Only what differs from CodeMirror's own: the page's colours, and no image, which the security policy forbids.
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)", fontSize: "0.86rem" },
  "&.cm-focused": { outline: "none" }, // the page draws it around the whole
  ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace', lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--busy-soft)",
  },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--faint)", borderRight: "1px solid var(--line)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1.5px", textUnderlineOffset: "3px" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip": { maxWidth: "30rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-button, .cm-textfield": { backgroundColor: "var(--paper)", backgroundImage: "none", color: "var(--ink)", border: "1px solid var(--edge)" },
  ".cm-panel.cm-search label, .cm-panel button[name=close]": { color: "var(--ink)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
});

// Resolves when it stands over the text area; rejects, and leaves that as it is, where it could not be loaded.
export async function editYaml(area, problems) {
  const answer = await fetch(area.dataset.schema);
  if (!answer.ok) throw new TypeError("no schema of the language");
  const complete = completionOf(await answer.json());
  const label = document.querySelector(`label[for="${area.id}"]`);
  const access = new Compartment();
  const readOnly = () => EditorState.readOnly.of(area.readOnly);
  const host = document.createElement("div");
  host.className = "code-editor";
  const root = host.attachShadow({ mode: "open" });
  const hadFocus = document.activeElement === area;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      selection: { anchor: area.selectionStart, head: area.selectionEnd },
      extensions: [
        lineNumbers(), highlightSpecialChars(), drawSelection(), history(), yaml(), syntaxHighlighting(colours), theme, search(),
        autocompletion({ override: [complete], icons: false }),
        // Tab is nobody's: it leaves the text, as it leaves every other field.
        keymap.of([...completionKeymap, ...searchKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        access.of(readOnly()),
        EditorView.contentAttributes.of({ "aria-label": label.textContent.trim(), tabindex: "0" }),
        EditorView.domEventHandlers({ beforeinput: replaceSelected }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || update.transactions.some((one) => one.annotation(FROM_AREA))) return;
          area.value = update.state.doc.toString();
          area.dispatchEvent(new Event("input"));
        }),
      ],
    }),
  });
  area.before(host);
  for (const one of [area, label, document.getElementById("line-numbers")]) one.hidden = true;
  label.removeAttribute("for");
  if (hadFocus) view.focus();

  area.addEventListener("written", () => {
    const changes = difference(view.state.doc.toString(), area.value);
    if (changes) view.dispatch({ changes, annotations: [FROM_AREA.of(true), Transaction.addToHistory.of(false)] });
  });
  new MutationObserver(() => view.dispatch({ effects: access.reconfigure(readOnly()) })).observe(area, {
    attributeFilter: ["readonly"],
  });
  const mark = () => view.dispatch(setDiagnostics(view.state, [...problems.querySelectorAll("[data-problem-line]")].map((one) => diagnostic(view, one))));
  // After every answer of the service: where one types, a mark goes with the text that it is on.
  document.body.addEventListener("policy-changed", mark);
  mark();
  return {
    showLine(number) {
      const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
      view.focus();
      view.dispatch({
        selection: { anchor: line.from, head: line.to },
        effects: EditorView.scrollIntoView(line.from, { y: "center" }),
      });
    },
  };
}

// What is written over a selection is put in here: Chromium would give it the selection's looks as an inline style, which
// the page's security policy forbids, with a message each time.
function replaceSelected(event, view) {
  if (event.inputType !== "insertText" || event.data === null || view.state.readOnly) return false;
  let { from, to } = view.state.selection.main;
  const selected = view.root.getSelection?.(); // Chromium's own, and no other's
  const range = selected?.rangeCount && selected.getRangeAt(0);
  if (range && view.contentDOM.contains(range.startContainer) && view.contentDOM.contains(range.endContainer)) {
    const [begin, end] = [view.posAtDOM(range.startContainer, range.startOffset), view.posAtDOM(range.endContainer, range.endOffset)];
    // Just selected, which CodeMirror does not know yet. What it knows is more where lines are not drawn.
    if (begin < from || end > to) [from, to] = [begin, end];
  }
  if (from === to) return false;
  view.dispatch({
    changes: { from, to, insert: event.data },
    selection: { anchor: from + event.data.length },
    userEvent: "input.type",
    scrollIntoView: true,
  });
  event.preventDefault();
  return true;
}

// One change that makes a text another one, around which the caret stays.
function difference(before, after) {
  if (before === after) return null;
  let from = 0;
  const least = Math.min(before.length, after.length);
  while (from < least && before[from] === after[from]) from += 1;
  let same = 0;
  while (same < least - from && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
}

// A problem of the list over the editor, at the word that it begins with; at the whole line where no column is known.
function diagnostic({ state }, problem) {
  const { dataset } = problem;
  const line = state.doc.line(Math.min(Number(dataset.problemLine), state.doc.lines));
  const begin = line.from + /^\s*/.exec(line.text)[0].length;
  const at = dataset.problemColumn ? Math.min(line.from + Number(dataset.problemColumn) - 1, line.to) : begin;
  const inner = syntaxTree(state).resolveInner(at, 1);
  const node = ["[", "{"].includes(inner.name) ? inner.parent : inner;
  const end = dataset.problemColumn ? Math.min(node.to, line.to) : line.to;
  const from = at < line.to ? at : begin;
  const message = problem.innerText.replaceAll(/\s+/g, " ").trim();
  return { from, to: Math.max(end, from), severity: "error", message };
}
