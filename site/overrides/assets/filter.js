// A field above the tables of a page, which leaves the rows that have all words of it. Without scripts there is none,
// and nothing is hidden. `data-filter` is what the field is called.
(() => {
  const place = document.querySelector("[data-filter]");
  if (!place) return;
  // It is for the tables of its own section, with those of the sections below that one.
  const parts = [...place.parentElement.children];
  const levelOf = (part) => (/^H[1-6]$/.test(part.tagName) ? Number(part.tagName[1]) : 0);
  const at = parts.indexOf(place);
  const level = parts.slice(0, at).map(levelOf).filter(Boolean).at(-1) ?? 1;
  const ends = parts.findIndex((part, index) => index > at && levelOf(part) > 0 && levelOf(part) <= level);
  const own = parts.slice(at + 1, ends < 0 ? undefined : ends);
  const tables = own.flatMap((part) => (part.matches("table") ? [part] : [...part.querySelectorAll("table")]));
  const rows = tables.flatMap((table) => [...table.tBodies].flatMap((body) => [...body.rows]));
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const label = document.createElement("label");
  const field = document.createElement("input");
  const said = document.createElement("span");
  label.textContent = place.dataset.filter;
  field.type = "search";
  field.autocomplete = "off";
  field.spellcheck = false;
  said.setAttribute("role", "status");
  label.append(field);
  place.append(label, said);

  // A table goes with its heading: all from this to the table.
  const sectionOf = (table) => {
    const frame = table.closest(".md-typeset__scrollwrap") ?? table;
    const section = [frame];
    for (let above = frame.previousElementSibling; above && above !== place; above = above.previousElementSibling) {
      section.push(above);
      if (/^H[1-6]$/.test(above.tagName)) break;
    }
    return section;
  };

  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const table of tables) {
      let found = 0;
      for (const body of table.tBodies) {
        for (const row of body.rows) {
          row.hidden = !words.every((word) => texts.get(row).includes(word));
          found += row.hidden ? 0 : 1;
        }
      }
      for (const part of sectionOf(table)) part.hidden = found === 0;
      left += found;
    }
    said.textContent = words.length ? `${left} of ${rows.length}` : "";
  };
  field.addEventListener("input", filter);
  // Who comes for a row is to see it, whatever the browser has kept in the field.
  window.addEventListener("hashchange", () => {
    field.value = "";
    filter();
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  });
  filter();
})();
