// Shows the values of the point under the pointer or reached by the keyboard: a plot is one tab stop,
// and arrow keys step through its points. Without this script, browsers show the same texts as tooltips.
(() => {
  "use strict";
  // The browser knows when the file was written; the page itself is the same each time.
  const written = document.getElementById("written");
  if (written !== null) written.textContent = `, written ${new Date(document.lastModified).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}`;
  const make = (className) => {
    const element = document.createElement("div");
    element.className = className;
    document.body.append(element);
    return element;
  };
  const tip = make("tip");
  tip.setAttribute("aria-hidden", "true");
  const live = make("hidden");
  live.setAttribute("aria-live", "polite");
  live.id = "live";
  const reach = 60; // how near the pointer must be to a mark, units of the drawing

  // A mark's box in units of the drawing, and its text, which the browser must not show as well.
  const read = (mark) => {
    const title = mark.querySelector("title");
    title.remove();
    const number = (name) => Number(mark.getAttribute(name));
    const box = mark.localName === "rect"
      ? { x: number("x"), y: number("y"), w: number("width"), h: number("height") }
      : { x: number("cx"), y: number("cy"), w: 0, h: 0 };
    return { mark, text: title.textContent, ...box };
  };
  const distance = (box, x, y) =>
    Math.hypot(Math.max(box.x - x, 0, x - box.x - box.w), Math.max(box.y - y, 0, y - box.y - box.h));
  const nearest = (boxes, x, y) => {
    let best = 0;
    boxes.forEach((box, at) => { if (distance(box, x, y) < distance(boxes[best], x, y)) best = at; });
    return best;
  };

  for (const plot of document.querySelectorAll(".plot")) {
    const svg = plot.querySelector("svg");
    const name = svg.getAttribute("aria-label");
    svg.querySelector("title").remove();
    const series = [...svg.querySelectorAll(".marks")]
      .map((group) => [...group.children].map(read))
      .filter((marks) => marks.length > 0);
    if (series.length === 0) continue;
    plot.tabIndex = 0;
    plot.setAttribute("role", "application");
    plot.setAttribute("aria-roledescription", "plot");
    plot.setAttribute("aria-label", `${name}. Arrow keys step through its points.`);
    const all = series.flat();
    let [row, at] = [0, 0];

    const hide = () => {
      tip.classList.remove("shown");
      for (const mark of svg.querySelectorAll(".now")) mark.classList.remove("now");
    };
    const show = (box) => {
      hide();
      box.mark.classList.add("now");
      const frame = svg.getBoundingClientRect();
      const scale = frame.width / svg.viewBox.baseVal.width;
      tip.textContent = box.text;
      tip.classList.add("shown");
      const wide = document.documentElement.clientWidth;
      const left = frame.left + (box.x + box.w / 2) * scale - tip.offsetWidth / 2;
      const above = frame.top + box.y * scale - tip.offsetHeight - 12;
      const below = frame.top + (box.y + box.h) * scale + 12;
      tip.style.left = `${Math.max(4, Math.min(left, wide - tip.offsetWidth - 4))}px`;
      tip.style.top = `${above < 4 ? below : above}px`;
    };
    const step = (key) => {
      const marks = series[row];
      const moves = {
        ArrowRight: at + 1, ArrowLeft: at - 1, PageDown: at + 10, PageUp: at - 10,
        Home: 0, End: marks.length - 1,
      };
      if (key in moves) {
        at = Math.max(0, Math.min(moves[key], marks.length - 1));
      } else if (key === "ArrowDown" || key === "ArrowUp") {
        row = (row + (key === "ArrowDown" ? 1 : series.length - 1)) % series.length;
        at = nearest(series[row], marks[at].x, marks[at].y);
      } else {
        return false;
      }
      return true;
    };
    const tell = () => {
      const box = series[row][at];
      box.mark.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(box);
      live.textContent = `${box.text}. Point ${at + 1} of ${series[row].length}.`;
    };

    svg.addEventListener("pointermove", (event) => {
      const frame = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / frame.width;
      const [x, y] = [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
      const box = all[nearest(all, x, y)];
      if (distance(box, x, y) <= reach) show(box); else hide();
    });
    svg.addEventListener("pointerleave", hide);
    plot.addEventListener("focus", () => { if (plot.matches(":focus-visible")) tell(); });
    plot.addEventListener("blur", () => { hide(); live.textContent = ""; });
    plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Escape") { hide(); return; }
      if (!step(event.key)) return;
      event.preventDefault();
      tell();
    });
  }
})();
