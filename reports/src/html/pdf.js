// A picture as a PDF file (PDF 1.4, ISO 32000-1) of its size: shapes as shapes, text as text. It knows the elements
// and attributes that our pictures are made of, and no others: jsPDF with svg2pdf.js, which know them all, would make
// every page 500 KB larger. The file has no date, so that the same picture gives the same bytes, and is all ASCII, so
// that characters count as bytes.
const pdf = (() => {
  "use strict";
  // What every reader has: the characters of windows-1252 in Helvetica, others in Symbol. A character's width, in
  // thousandths of the text's size (Adobe's font metrics), is written as one letter.
  const widths = [
    191, 222, 238, 260, 278, 280, 333, 334, 350, 355, 365, 370, 389, 400, 469, 474,
    500, 537, 556, 584, 611, 667, 722, 737, 778, 833, 834, 889, 944, 975, 1000, 1015,
  ];
  const windows = new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 224 }, (_, at) => at + 32));
  const latin = windows.replace("\x7F", "\u2212"); // Helvetica has a minus sign, windows-1252 a free place
  const regular =
    "449iirl066cj4644iiiiiiiiii44jjjivllmmlkom4glipmolomlkmlsllk444ei6iigii4ii11g1piiii6g4igmggg737jji81i6uii6ul6u8k8" +
    "811668iu6ug6s8gl46iiii3i6nbij6n6dj666ih466aiqqqkllllllumllll4444mmooooojommmmllkiiiiiirgiiii4444iiiiiiijkiiiigig";
  const bold =
    "46fiirm266cj4644iiiiiiiiii66jjjktmmmmlkom4imkpmolomlkmlsllk646ji6ikiki6kk44i4rkkkkci6kioiigc5cjji84iguii6ul6u8k8" +
    "844gg8iu6ui6s8gl46iiii5i6nbij6n6dj666ki466aiqqqkmmmmmmumllll4444mmooooojommmmllkiiiiiiriiiii4444kkkkkkkjkkkkkiki";
  // Small Greek letters from alpha on, and signs: codes and widths in Symbol.
  const greek = "abgdezhqiklmnxoprVstufcyw";
  const greekWidths = [
    631, 549, 411, 494, 439, 494, 603, 521, 329, 549, 549, 576, 521,
    493, 549, 549, 549, 439, 603, 439, 576, 521, 549, 686, 686,
  ];
  const signs = { "\u2264": [0xA3, 549], "\u2265": [0xB3, 549] };
  const raised = /[\u00B2\u00B3\u00B9\u2070-\u207F]/;

  const number = (value) => String(Number(Number(value).toFixed(3)));
  const join = (...parts) => parts.map((part) => (typeof part === "string" ? part : number(part))).join(" ");
  const hex = (code, digits) => code.toString(16).toUpperCase().padStart(digits, "0");
  const unicode = (text) => `<FEFF${text.split("").map((unit) => hex(unit.charCodeAt(0), 4)).join("")}>`;

  // Font, code and width of a character; nothing where no font has it.
  const glyph = (c, isBold) => {
    const at = latin.indexOf(c);
    if (at >= 0) return [isBold ? "/Bold" : "/Regular", at + 32, widths[parseInt((isBold ? bold : regular)[at], 36)]];
    const letter = c.codePointAt(0) - 0x3B1;
    if (letter in greekWidths) return ["/Symbol", greek.charCodeAt(letter), greekWidths[letter]];
    return c in signs ? ["/Symbol", ...signs[c]] : undefined;
  };
  // A character as those that stand for it: "\u2076" is a raised "6", "\u0151" an "o", and what no font has a "?".
  const glyphs = (c, isBold) => {
    const plain = raised.test(c) ? undefined : glyph(c, isBold);
    if (plain !== undefined) return [plain];
    const known = [...c.normalize("NFKD")].map((part) => glyph(part, isBold)).filter((part) => part !== undefined);
    return known.length > 0 ? known : [glyph("?", isBold)];
  };
  // What shows a text, and its width. Whoever copies or searches it gets the characters that it had.
  const lettering = (text, size, isBold) => {
    const runs = [];
    let wide = 0;
    for (const c of text) {
      const isRaised = raised.test(c);
      const [own, rise] = isRaised ? [0.65 * size, 0.35 * size] : [size, 0];
      for (const [font, code, width] of glyphs(c, isBold)) {
        const style = join(font, own, "Tf", rise, "Ts");
        if (runs.at(-1)?.style !== style) runs.push({ style, codes: "", said: "", isOther: false });
        runs.at(-1).codes += hex(code, 2);
        wide += width / 1000 * own;
      }
      const run = runs.at(-1);
      run.said += c;
      run.isOther ||= isRaised || glyph(c, isBold) === undefined;
    }
    const shown = runs.map(({ style, codes, said, isOther }) => {
      const show = `${style} <${codes}> Tj`;
      return isOther ? `/Span <</ActualText ${unicode(said)}>> BDC ${show} EMC` : show;
    });
    return { wide, shown: shown.join(" ") };
  };

  const lines = (points) => points.trim().split(/[\s,]+/).map(number)
    .reduce((path, value, at) => path + value + (at % 2 === 0 ? " " : at === 1 ? " m " : " l "), "");
  const shapes = {
    rect: (read) => join(...["x", "y", "width", "height"].map((name) => Number(read(name))), "re"),
    polyline: (read) => lines(read("points")),
    polygon: (read) => `${lines(read("points"))}h`,
    circle: (read) => {
      const [x, y, r] = ["cx", "cy", "r"].map((name) => Number(read(name)));
      const k = 0.5523 * r; // four curves nearest to a circle
      return join(
        x + r, y, "m", x + r, y + k, x + k, y + r, x, y + r, "c", x - k, y + r, x - r, y + k, x - r, y, "c",
        x - r, y - k, x - k, y - r, x, y - r, "c", x + k, y - r, x + r, y - k, x + r, y, "c h",
      );
    },
  };

  return (svg) => {
    const states = new Map();
    const state = (key, opacity) => {
      const value = `<</${key} ${number(opacity)}>>`;
      if (!states.has(value)) states.set(value, `/S${states.size}`);
      return `${states.get(value)} gs`;
    };
    const ink = svg.getAttribute("color");
    const colour = (paint) => {
      const value = parseInt((paint === "currentColor" ? ink : paint).slice(1), 16);
      return join(...[16, 8, 0].map((bits) => (value >> bits & 255) / 255));
    };
    const written = (element, read) => {
      const size = Number(read("font-size") ?? svg.getAttribute("font-size"));
      const { wide, shown } = lettering(element.textContent, size, read("font-weight") === "bold");
      const left = { start: 0, middle: wide / 2, end: wide }[read("text-anchor") ?? "start"];
      const down = parseFloat(read("dy")) * size;
      return join("BT 1 0 0 -1", Number(read("x")) - left, Number(read("y")) + down, "Tm", shown, "ET");
    };
    const drawn = (element) => {
      const read = (name) => element.getAttribute(name) ?? undefined;
      const has = (name) => (read(name) ?? "none") !== "none";
      const matrix = element.transform.baseVal.consolidate()?.matrix;
      const style = [
        matrix && join(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f, "cm"),
        has("fill") && `${colour(read("fill"))} rg`,
        has("fill-opacity") && state("ca", read("fill-opacity")),
        has("stroke") && `${colour(read("stroke"))} RG ${number(read("stroke-width"))} w`,
        has("stroke-dasharray") && `[${read("stroke-dasharray")}] 0 d`,
        has("stroke-opacity") && state("CA", read("stroke-opacity")),
      ];
      const shape = element.localName === "text"
        ? written(element, read)
        : `${shapes[element.localName](read)} ${has("stroke") ? (has("fill") ? "B" : "S") : "f"}`;
      return ["q", ...style.filter(Boolean), shape, "Q"].join(" ");
    };

    const { width, height } = svg.viewBox.baseVal;
    const [wide, high] = ["width", "height"].map((name) => Number(svg.getAttribute(name)) * 0.75); // points of pixels
    const elements = [...svg.children].filter(({ localName }) => localName !== "title" && localName !== "desc");
    const content = [join(wide / width, 0, 0, -high / height, 0, high, "cm 4 M"), ...elements.map(drawn)].join("\n");
    const font = (name, more) => `<</Type /Font /Subtype /Type1 /BaseFont /${name}${more}>>`;
    const encoding = " /Encoding <</BaseEncoding /WinAnsiEncoding /Differences [127 /minus]>>";
    const objects = [
      "<</Type /Catalog /Pages 2 0 R>>",
      "<</Type /Pages /Kids [3 0 R] /Count 1>>",
      `<</Type /Page /Parent 2 0 R /MediaBox [${join(0, 0, wide, high)}] /Contents 4 0 R /Resources <<
/Font <</Regular 5 0 R /Bold 6 0 R /Symbol 7 0 R>>
/ExtGState <<${[...states].map(([value, name]) => `${name} ${value}`).join(" ")}>> >> >>`,
      `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
      font("Helvetica", encoding),
      font("Helvetica-Bold", encoding),
      font("Symbol", ""),
      `<</Title ${unicode(svg.querySelector("title").textContent)}>>`,
    ];
    let file = "%PDF-1.4\n";
    const places = objects.map((object, at) => {
      const place = file.length;
      file += `${at + 1} 0 obj\n${object}\nendobj\n`;
      return `${String(place).padStart(10, "0")} 00000 n \n`;
    });
    const all = objects.length + 1;
    return `${file}xref\n0 ${all}\n0000000000 65535 f \n${places.join("")}` +
      `trailer\n<</Size ${all} /Root 1 0 R /Info ${all - 1} 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  };
})();
