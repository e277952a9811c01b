// Completion in a policy's YAML from the JSON Schema of the language: keys of a mapping, and values to choose from.

import { yamlLanguage } from "./codemirror.js";

const ENTRY = Symbol("an entry of a list");
const MARK = "x"; // stands at the cursor while it is looked where in the document that is

// A completion source of CodeMirror.
export function completionOf(schema) {
  return (context) => {
    const word = context.matchBefore(/[\w-]*/);
    if (!context.explicit && word.from === word.to) return null;
    const place = locate(context.state.sliceDoc(), word.from, context.pos);
    if (!place) return null;
    const nodes = descend(schema, place.path);
    const options = [...(place.keys ? keysOf(nodes, schema, place) : []), ...(place.values ? valuesOf(nodes) : [])];
    return options.length ? { from: word.from, options, validFor: /^[\w-]*$/ } : null;
  };
}

// The path to the mapping or value that the cursor is in, and whether keys or values can stand there.
function locate(text, from, pos) {
  const end = pos + /^[\w-]*/.exec(text.slice(pos))[0].length;
  const line = text.slice(text.lastIndexOf("\n", from - 1) + 1, from);
  const colon = /^\s*:(\s|$)/.test(text.slice(end));
  const closing = missing(line, text.slice(end).split("\n", 1)[0]);
  if (!/:\s+$/.test(line)) {
    const marked = `${text.slice(0, from)}${MARK}${colon ? "" : `: ${closing}`}${text.slice(end)}`;
    const key = nodeAt(marked, from).parent;
    if (key?.name === "Key") {
      const mapping = key.parent.parent;
      const present = mapping.getChildren("Pair").filter((pair) => pair.from !== key.parent.from);
      return {
        path: pathOf(mapping, marked),
        keys: true,
        values: !present.length && mapping.parent.name !== "Document" && marked[mapping.from] !== "{",
        present: new Set(present.map((pair) => keyText(pair, marked))),
        colon,
        inFlow: mapping.name === "FlowMapping",
      };
    }
  }
  const marked = text.slice(0, from) + MARK + closing + text.slice(end);
  const literal = nodeAt(marked, from);
  return literal.name === "Literal" ? { path: pathOf(literal, marked), keys: false, values: true } : null;
}

// The brackets that are open before the cursor and not closed after it: only with them it is YAML.
function missing(before, after) {
  const open = [];
  for (const one of before) {
    if (one === "[" || one === "{") open.unshift(one === "[" ? "]" : "}");
    else if (one === "]" || one === "}") open.shift();
  }
  return /[\]}]/.test(after) ? "" : open.join("");
}

function nodeAt(text, pos) {
  return yamlLanguage.parser.parse(text).resolveInner(pos, 1);
}

function keyText(pair, text) {
  const key = pair.getChild("Key");
  return key ? text.slice(key.from, key.to).replaceAll(/^["']|["']$/g, "") : "";
}

function pathOf(node, text) {
  const path = [];
  for (let up = node.parent; up; up = up.parent) {
    if (up.name === "Item") path.unshift(ENTRY);
    if (up.name === "Pair") path.unshift(keyText(up, text));
  }
  return path;
}

// What the schema says of the values at a path: all alternatives.
function descend(schema, path) {
  let nodes = alternatives(schema, schema);
  for (const part of path) {
    nodes = nodes.flatMap((node) => {
      const next = part === ENTRY ? node.items : (node.properties?.[part] ?? node.additionalProperties);
      return next && typeof next === "object" ? alternatives(next, schema) : [];
    });
  }
  return nodes;
}

function alternatives(node, schema) {
  const found = [node];
  if (node.$ref) found.push(...alternatives(schema.$defs[node.$ref.split("/").at(-1)], schema));
  for (const one of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) found.push(...alternatives(one, schema));
  return found;
}

function keysOf(nodes, schema, { present, colon, inFlow }) {
  const options = new Map();
  for (const [key, value] of nodes.flatMap((node) => Object.entries(node.properties ?? {}))) {
    if (present.has(key) || options.has(key)) continue;
    const forms = alternatives(value, schema);
    const block = !inFlow && !forms.some((one) => one.enum || "const" in one || ["string", "integer", "number", "boolean"].includes(one.type));
    options.set(key, {
      label: key,
      type: "property",
      boost: -options.size, // in the order of the language
      apply: colon ? key : block ? `${key}:` : `${key}: `,
      info: forms.map((one) => one.description).find(Boolean)?.split("\n\n")[0].replaceAll("``", "").replaceAll(/\s+/g, " "),
    });
  }
  return [...options.values()];
}

function valuesOf(nodes) {
  const found = nodes.flatMap((node) => {
    if (node.type === "boolean") return ["true", "false"];
    return [...(node.enum ?? []), ...("const" in node ? [node.const] : [])].map(String);
  });
  return [...new Set(found)].map((label, at) => ({ label, type: "enum", boost: -at }));
}
