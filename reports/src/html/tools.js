// Sorting, filtering and saving of tables, and saving of figures: all from what the page shows. Without
// this script the tables and figures are there as they are.
(() => {
  "use strict";
  const button = (text, title, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = title;
    made.addEventListener("click", act);
    return made;
  };
  const tools = (...parts) => {
    const bar = document.createElement("div");
    bar.className = "tools";
    bar.append(...parts);
    return bar;
  };
  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.download = name;
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const fileName = (title, end) =>
    `${title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "table"}.${end}`;

  // A cell's exact value; nothing where a number is undefined.
  const exact = (cell) => {
    const data = cell.querySelector("data");
    if (data !== null) return data.value;
    return cell.querySelector(".none") === null ? cell.textContent.trim() : "";
  };
  // Heads and shown rows as cells, each row with the name of its group, if it has one.
  const content = (table) => {
    const bodies = [...table.tBodies].map((body) => {
      const name = body.querySelector("th[scope=rowgroup]");
      const rows = [...body.rows].filter((row) => !row.hidden && !row.contains(name));
      return rows.map((row) => ({ group: name?.textContent, cells: [...row.cells] }));
    });
    const rows = bodies.flat();
    const hasGroups = rows.some((row) => row.group !== undefined);
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    return { heads: hasGroups ? ["series", ...heads] : heads, rows, hasGroups };
  };
  const csv = (table) => {
    const { heads, rows, hasGroups } = content(table);
    const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = rows.map(({ group, cells }) => [...(hasGroups ? [group ?? ""] : []), ...cells.map(exact)]);
    return [heads, ...lines].map((line) => line.map(quote).join(",")).join("\n") + "\n";
  };
  const special = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    "\u00D7": "$\\times$", "\u03B7": "$\\eta$", "\u03B1": "$\\alpha$", "\u2212": "$-$", "\u2013": "--",
    "\u00B2": "$^2$", "<": "$<$", ">": "$>$", "\u2264": "$\\le$",
  };
  const tex = (text) =>
    text.replace(/[\\~^\u00D7\u03B7\u03B1\u2212\u2013\u00B2<>\u2264&%$#_{}]/g, (c) => special[c] ?? `\\${c}`);
  const latex = (table) => {
    const { heads, rows, hasGroups } = content(table);
    const cells = rows.map(({ group, cells }) =>
      [...(hasGroups ? [group ?? ""] : []), ...cells.map((cell) => cell.textContent.trim())]);
    const isNumber = (at) => rows.some((row) => row.cells[at - (hasGroups ? 1 : 0)]?.querySelector("data"));
    const line = (texts) => `  ${texts.map(tex).join(" & ")} \\\\`;
    return [
      `\\begin{tabular}{${heads.map((_, at) => (isNumber(at) ? "r" : "l")).join("")}}`,
      "  \\hline", line(heads), "  \\hline", ...cells.map(line), "  \\hline", "\\end{tabular}", "",
    ].join("\n");
  };

  const sort = (table, column, head) => {
    const body = table.tBodies[0];
    const isDown = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const keyed = [...body.rows].map((row) => ({ row, key: exact(row.cells[column]) }));
    const isNumber = keyed.every(({ key }) => key === "" || Number.isFinite(Number(key)));
    const order = (a, b) => {
      if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
      const by = isNumber ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true });
      return isDown ? -by : by;
    };
    body.append(...keyed.sort(order).map(({ row }) => row));
  };

  for (const table of document.querySelectorAll("table")) {
    if (table.tHead === null) continue;
    const title = table.caption?.textContent ?? table.closest("figure")?.getAttribute("aria-label") ?? "table";
    const rows = table.tBodies.length === 1 ? [...table.tBodies[0].rows] : [];
    const isFlat = rows.length > 2 && rows.every((row) => row.cells.length === rows[0].cells.length);
    if (isFlat) {
      [...table.tHead.rows[0].cells].forEach((head, column) => {
        const name = head.textContent;
        head.textContent = "";
        const press = button(name, `Sort by ${name}`, () => sort(table, column, head));
        press.className = "sort";
        if (name !== "") head.append(press);
      });
    }
    const bar = tools(
      button("CSV", "Save this table as CSV, with exact values", () =>
        save(fileName(title, "csv"), "text/csv", csv(table))),
      button("LaTeX", "Save this table as a LaTeX tabular", () =>
        save(fileName(title, "tex"), "text/x-tex", latex(table))),
    );
    if (isFlat && rows.length > 10) {
      const field = document.createElement("input");
      field.type = "search";
      field.placeholder = "Filter rows";
      field.setAttribute("aria-label", `Filter the rows of: ${title}`);
      field.addEventListener("input", () => {
        const words = field.value.toLowerCase().split(/\s+/);
        for (const row of rows) {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
        }
      });
      bar.append(field);
    }
    // On a narrow screen a row of many cells becomes a list, each value beside its head (page.css).
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    if (heads.length > 1 && !table.classList.contains("data")) {
      table.classList.add("fields");
      for (const body of table.tBodies) {
        for (const row of body.rows) {
          [...row.cells].forEach((cell, at) => { cell.dataset.head = heads[at]; });
        }
      }
    }
    const wide = table.closest(".wide");
    const box = document.createElement("div");
    box.className = "with-tools";
    wide.replaceWith(box);
    box.append(wide, bar);
  }

  // On a narrow screen each section but the first is folded until it is opened (page.css); not on a wide one, nor on paper.
  const folds = new Map();
  for (const section of [...document.querySelectorAll("main > section")].slice(1)) {
    const head = section.querySelector(":scope > h2");
    if (head === null) continue;
    const fold = (isFolded) => {
      section.classList.toggle("folded", isFolded);
      press.textContent = isFolded ? "Show" : "Hide";
      press.setAttribute("aria-expanded", String(!isFolded));
    };
    const press = button("", "", () => fold(!section.classList.contains("folded")));
    press.className = "unfold";
    press.setAttribute("aria-label", `Show: ${head.textContent}`);
    head.after(press);
    folds.set(section, fold);
    fold(true);
  }

  // A link to what is folded away opens it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at instanceof Element; at = at.parentElement) {
      if (at.localName === "details") at.open = true;
      folds.get(at)?.(false);
    }
    target?.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  if (location.hash !== "") unfold();

  // The picture alone: without hit areas, on white, with its name.
  const alone = (svg) => {
    const copy = svg.cloneNode(true);
    for (const marks of copy.querySelectorAll(".marks")) marks.remove();
    copy.setAttribute("color", "#1b1f24");
    const make = (name, attributes) => {
      const made = document.createElementNS(svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const { width, height } = svg.viewBox.baseVal;
    const name = make("title", {});
    name.textContent = svg.getAttribute("aria-label");
    copy.querySelector("desc").after(make("rect", { x: 0, y: 0, width, height, fill: "#FFFFFF" }));
    copy.prepend(name);
    return copy;
  };
  for (const figure of document.querySelectorAll("figure")) {
    const plot = figure.querySelector(".plot");
    const svg = plot.querySelector("svg");
    const name = svg.getAttribute("aria-label");
    const enlarge = button("Enlarge", "Show this figure larger than the screen", () => {
      const isLarge = plot.classList.toggle("large");
      enlarge.textContent = isLarge ? "Fit" : "Enlarge";
    });
    enlarge.className = "enlarge";
    plot.after(enlarge);
    figure.querySelector("details.numbers").append(tools(
      button("SVG", "Save this figure as SVG", () =>
        save(fileName(name, "svg"), "image/svg+xml", new XMLSerializer().serializeToString(alone(svg)))),
    ));
  }
})();
