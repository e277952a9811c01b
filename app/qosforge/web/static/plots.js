// Reads the curves of a plot at a delay: under the pointer, or where the slider stands.

const SVG = "http://www.w3.org/2000/svg";
const language = document.documentElement.lang;
const delayText = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });

// Digits enough to tell what is missing to 100 %: 99.6 %, but 99.97 %.
function percent(share) {
  const missing = Math.min(share, 1 - share) * 100;
  const digits = missing > 0 && missing < 1 ? Math.min(4, Math.ceil(-Math.log10(missing)) + 1) : 1;
  return `${(share * 100).toLocaleString(language, { maximumFractionDigits: digits })} %`;
}

function arrived(curve, delay) {
  let low = 0;
  let high = curve.delays.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.delays[middle] <= delay) low = middle + 1;
    else high = middle;
  }
  return low ? curve.shares[low - 1] : 0;
}

function ready(panels) {
  const { panels: axes, curves } = JSON.parse(panels.dataset.readings);
  const reading = panels.parentElement.querySelector(".reading");
  if (!reading?.hidden) return; // it has no control, or is ready
  const slider = reading.querySelector("input");
  const output = reading.querySelector("output");
  const most = Number(slider.max);
  const pictures = [...panels.querySelectorAll("svg")];
  const lines = pictures.map((picture, number) => {
    const line = document.createElementNS(SVG, "line");
    line.setAttribute("class", "at");
    line.setAttribute("y1", axes[number].y[0]);
    line.setAttribute("y2", axes[number].y[1]);
    line.setAttribute("visibility", "hidden");
    picture.append(line);
    return line;
  });

  function show(part) {
    const [least, longest] = axes[0].delay;
    const delay = least * (longest / least) ** part;
    lines.forEach((line, number) => {
      const [left, right] = axes[number].x;
      for (const end of ["x1", "x2"]) line.setAttribute(end, left + part * (right - left));
      line.setAttribute("visibility", "visible");
    });
    const text = delayText.format(delay);
    const shares = curves.map((curve) => `${curve.name} ${percent(arrived(curve, delay))}`);
    output.textContent = `${output.dataset.text.replace("{}", text)} ${shares.join(", ")}`;
    slider.setAttribute("aria-valuetext", `${text} ms`);
  }

  slider.addEventListener("input", () => show(slider.value / most));
  pictures.forEach((picture, number) => {
    picture.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
      const [left, right] = axes[number].x;
      const part = Math.min(1, Math.max(0, (at.x - left) / (right - left)));
      slider.value = Math.round(part * most);
      show(part);
    });
  });
  reading.hidden = false;
}

function readyAll(within) {
  for (const panels of within.querySelectorAll("[data-readings]")) ready(panels);
}
readyAll(document);
document.body.addEventListener("htmx:load", (event) => readyAll(event.detail.elt));
