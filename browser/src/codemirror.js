export { autocompletion, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { yaml, yamlLanguage } from "@codemirror/lang-yaml";
export { HighlightStyle, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { lintKeymap, setDiagnostics } from "@codemirror/lint";
export { search, searchKeymap } from "@codemirror/search";
export { Annotation, Compartment, EditorState, Transaction } from "@codemirror/state";
export { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
export { tags } from "@lezer/highlight";
