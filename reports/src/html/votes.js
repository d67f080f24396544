// The vote slider: what Credence would transmit and the model would predict at another vote threshold, from the curve in the JSON.
(() => {
  "use strict";
  const place = document.getElementById("votes");
  if (place === null) return;
  const { curve, gain, model } = JSON.parse(document.getElementById("report").textContent);
  const replayed = curve.points.filter((point) => point.sent_bytes !== null);
  const points = replayed.length > 1 ? replayed : curve.points;
  if (points.length < 2) return;
  const own = Math.max(0, points.findLastIndex((point) => point.vote_threshold <= model.vote_threshold));

  const make = (name, parent, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const label = make("label", place, "Try another vote threshold: ");
  const chosen = make("output", label);
  const slider = make("input", label);
  slider.type = "range";
  slider.min = "0";
  slider.max = String(points.length - 1);
  const back = make("button", place, "the model\u2019s");
  back.type = "button";
  const list = make("ul", place);
  list.className = "cards";
  const count = (value) => value.toLocaleString("en-US");
  const ratio = (value) => (value === null ? "undefined" : value.toFixed(4));
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + count(Math.abs(value));
  // What is transmitted more than by the rival: as much as the model does, and what differs from the model.
  const more = (rival) => (point) => signed(rival.bytes + point.sent_bytes - points[own].sent_bytes);
  const best = gain && gain.best_alpha;
  const sent = replayed.length > 1 && gain ? [
    ...(best ? [[`bytes sent more than by ${best.alpha === null ? "Complete Sharing" : `alpha ${best.alpha}`}`, more(best)]] : []),
    ["bytes sent more than without an oracle", more(gain.always_accept)],
  ] : [];
  const shown = [
    ...sent,
    ["F1", (point) => ratio(point.f1)],
    ["drops predicted (TP)", (point) => count(point.confusion.tp)],
    ["drops missed (FN)", (point) => count(point.confusion.fn)],
    ["false positives (FP)", (point) => count(point.confusion.fp)],
    ["precision", (point) => ratio(point.precision)],
    ["recall", (point) => ratio(point.recall)],
  ].map(([name, of]) => {
    const item = make("li", list);
    const value = make("b", item);
    item.append(name);
    return (point) => { value.textContent = of(point); };
  });
  const show = () => {
    const at = Number(slider.value);
    const threshold = at === own ? model.vote_threshold : points[at].vote_threshold;
    chosen.textContent = count(threshold) + (at === own ? " (the model\u2019s)" : "");
    slider.setAttribute("aria-valuetext", `vote threshold ${threshold}`);
    for (const update of shown) update(points[at]);
  };
  slider.addEventListener("input", show);
  back.addEventListener("click", () => { slider.value = String(own); show(); });
  slider.value = String(own);
  show();
})();
