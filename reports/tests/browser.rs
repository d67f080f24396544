//! Pages in a real browser: every plot is drawn, shows the JSON's numbers, is accessible without a
//! mouse, and there are no errors or fetches.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

#[path = "browser/chromium.rs"]
mod chromium;
#[path = "browser/figures.rs"]
mod figures;
#[path = "browser/sweep_figures.rs"]
mod sweep_figures;
#[path = "../measure/tests/tiny/mod.rs"]
mod tiny;
#[path = "browser/tools.rs"]
mod tools;

use chromium::Chromium;
use dropcast_data::RowOrder;
use dropcast_measure::Report;
use dropcast_measure::verdict::{HourSection, TimelineSection, TraceDrops};
use dropcast_reports::{Exporter, Html, sweep_page, verdict_page, verdict_text};
use figures::{Shown, expected};
use serde_json::{Value, json};
use std::path::PathBuf;

struct PageFile {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn page_file(html: &str) -> PageFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    std::fs::write(&path, html).unwrap();
    PageFile { path, _folder: folder }
}

fn page(report: &Report) -> PageFile {
    page_file(&Html.export(report).unwrap())
}

/// Nothing was logged or thrown, and only the page itself was fetched.
fn check_quiet(browser: &Chromium) {
    for event in ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"] {
        let events = browser.events_named(event);
        assert!(events.is_empty(), "{event}: {events:?}");
    }
    let requests = browser.events_named("Network.requestWillBeSent");
    assert_eq!(requests.len(), 1, "only the page itself: {requests:?}");
}

/// Each figure: name, drawn shapes, and marks as `[series, x, y, text]`.
const FIGURES: &str = r#"[...document.querySelectorAll("figure")].map((figure) => {
  const svg = figure.querySelector(".plot svg");
  const frame = svg.getBoundingClientRect();
  const inside = (element) => {
    const box = element.getBoundingClientRect();
    return box.left >= frame.left - 20 && box.right <= frame.right + 20
      && box.top >= frame.top - 20 && box.bottom <= frame.bottom + 20;
  };
  const shapes = [...svg.querySelectorAll(":scope > :not(g, title, desc, text)")];
  const marks = [...svg.querySelectorAll(".marks > *")];
  return {
    name: figure.getAttribute("aria-label"),
    described: document.getElementById(figure.getAttribute("aria-describedby")).textContent,
    rows: figure.querySelectorAll("table.data tbody td").length,
    size: [frame.width, frame.height],
    shapes: shapes.filter((shape) => {
      const box = shape.getBoundingClientRect();
      const style = getComputedStyle(shape);
      const coloured = [style.fill, style.stroke].some((paint) => /rgb\((?!0, 0, 0)/.test(paint));
      return box.width + box.height > 0 && inside(shape) && coloured;
    }).length,
    outside: marks.filter((mark) => !inside(mark)).length,
    marks: marks.map((mark) => [mark.parentNode.dataset.series, mark.dataset.x, mark.dataset.y]),
  };
})"#;

fn check_figures(browser: &mut Chromium, expected: &Shown) {
    let figures = browser.evaluate(FIGURES);
    let figures = figures.as_array().unwrap();
    assert!(!figures.is_empty());
    for figure in figures {
        let name = figure["name"].as_str().unwrap();
        assert!(!name.is_empty() && figure["described"].as_str().unwrap().len() > 20);
        assert!(figure["size"][0].as_f64().unwrap() > 250.0, "{name}: {}", figure["size"]);
        assert!(figure["shapes"].as_u64().unwrap() > 0, "{name} is empty");
        assert_eq!(figure["outside"], 0, "{name} has marks outside");
        assert!(figure["rows"].as_u64().unwrap() > 0, "{name} has no table");
        let marks = figure["marks"].as_array().unwrap();
        assert!(!marks.is_empty(), "{name} has nothing to point at");
        for mark in marks {
            let [series, x, y] = [0, 1, 2].map(|at| mark[at].as_str().unwrap());
            let points = expected.get(&(name.to_owned(), series.to_owned()));
            let points = points.unwrap_or_else(|| panic!("nothing is known of {name}, {series}"));
            let y: f64 = y.parse().unwrap();
            let is_it = |point: &(String, f64)| point.0 == x && (point.1 - y).abs() < 1e-12;
            assert!(points.iter().any(is_it), "{name}, {series}: {x} {y} is not in {points:?}");
        }
    }
    let drawn = |title: &str| figures.iter().any(|figure| figure["name"] == title);
    for ((figure, series), points) in expected {
        let is_drawn = |mark: &Value| mark[0] == **series;
        let marks = figures.iter().filter(|f| f["name"] == **figure);
        let marks = marks.flat_map(|f| f["marks"].as_array().unwrap());
        let is_missing = drawn(figure) && !points.is_empty() && !marks.clone().any(is_drawn);
        assert!(!is_missing, "{series} of {figure} is not drawn");
    }
}

/// The numbers of the tables, shown and exact, in the order of the page.
fn check_tables(browser: &mut Chromium) {
    let wrong = browser.evaluate(
        r#"(() => {
  const known = new Set();
  const walk = (value) => {
    if (typeof value === "number") known.add(value);
    else if (value !== null && typeof value === "object") Object.values(value).forEach(walk);
  };
  walk(JSON.parse(document.getElementById("report").textContent));
  const cells = [...document.querySelectorAll("data")];
  const number = (text) => Number(text.replaceAll(",", "").replace("\u2212", "-"));
  const wrong = cells.filter((cell) => {
    const decimals = (cell.textContent.split(".")[1] ?? "").length;
    const off = Math.abs(number(cell.textContent) - Number(cell.value));
    return !known.has(Number(cell.value)) || off > 0.5000001 * 10 ** -decimals;
  });
  return [cells.length, wrong.map((cell) => cell.outerHTML)];
})()"#,
    );
    assert!(wrong[0].as_u64().unwrap() > 50, "{wrong}");
    assert_eq!(wrong[1], json!([]), "numbers that are not those of the JSON");
}

/// Tab reaches every plot in the order of the page; keys then step through its points, and a screen
/// reader announces them.
fn check_keyboard(browser: &mut Chromium) {
    browser.evaluate("document.activeElement.blur()");
    let plots = browser.evaluate("document.querySelectorAll('.plot').length").as_u64().unwrap();
    let mut reached = 0;
    let here = "[...document.querySelectorAll('.plot')].indexOf(document.activeElement)";
    for _ in 0..3_000 {
        browser.press("Tab");
        if browser.evaluate(here) == json!(reached) {
            check_plot_keys(browser);
            reached += 1;
        }
        if reached == plots {
            return;
        }
    }
    panic!("Tab reached {reached} of {plots} plots");
}

fn check_plot_keys(browser: &mut Chromium) {
    let said = |browser: &mut Chromium| {
        let text = browser.evaluate(
            "[document.getElementById('live').textContent, \
              document.querySelector('.tip.shown')?.textContent, \
              document.querySelectorAll('.now').length, \
              document.querySelectorAll('.now')[0]?.dataset.y]",
        );
        assert_eq!(text[2], 1, "one point is pointed out: {text}");
        let (announced, shown) = (text[0].as_str().unwrap(), text[1].as_str().unwrap());
        assert!(announced.starts_with(shown) && announced.contains(". Point "), "{text}");
        announced.to_owned()
    };
    let first = said(browser);
    assert!(first.contains(". Point 1 of "), "{first}");
    browser.press("End");
    let last = said(browser);
    let (_, place) = last.split_once(". Point ").unwrap();
    let (at, of) = place.trim_end_matches('.').split_once(" of ").unwrap();
    assert_eq!(at, of, "{last}");
    browser.press("Home");
    assert_eq!(said(browser), first);
    browser.press("ArrowRight");
    assert!(of == "1" || said(browser).contains(". Point 2 of "));
    browser.press("ArrowDown");
    said(browser);
    browser.press("Escape");
    assert_eq!(browser.evaluate("document.querySelectorAll('.tip.shown, .now').length"), json!(0));
}

/// The pointer over a mark shows its text.
fn check_pointer(browser: &mut Chromium) {
    let place = browser.evaluate(
        "(() => { const mark = document.querySelector('.marks > *'); \
         mark.scrollIntoView({block: 'center'}); const box = mark.getBoundingClientRect(); \
         return [box.x + box.width / 2, box.y + box.height / 2]; })()",
    );
    let mouse = json!({"type": "mouseMoved", "x": place[0], "y": place[1]});
    browser.ask("Input.dispatchMouseEvent", mouse);
    let shown = browser.evaluate("document.querySelector('.tip.shown')?.textContent");
    assert!(shown.as_str().is_some_and(|text| !text.is_empty()), "{shown} at {place}");
}

/// Every element that a screen reader stops at has a name.
fn check_names(browser: &mut Chromium) {
    let tree = browser.ask("Accessibility.getFullAXTree", json!({}));
    let mut plots = 0;
    for node in tree["nodes"].as_array().unwrap() {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let name = node["name"]["value"].as_str().unwrap_or_default();
        let needs = ["application", "figure", "image", "img", "link", "region", "navigation"];
        let needs_one = needs.contains(&role) && node["ignored"] != json!(true);
        assert!(!needs_one || !name.is_empty(), "a {role} without a name: {node}");
        plots += usize::from(role == "application");
    }
    let all = browser.evaluate("document.querySelectorAll('.plot').length");
    assert_eq!(json!(plots), all, "every plot is in the accessibility tree");
}

/// On paper and in a narrow window nothing is cut off or overlaps; in dark mode the page is dark.
fn check_media(browser: &mut Chromium, file: &PageFile) {
    let media = |browser: &mut Chromium, media: &str, scheme: &str| {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let params = json!({"media": media, "features": features});
        browser.ask("Emulation.setEmulatedMedia", params);
    };
    let ground = "getComputedStyle(document.body).backgroundColor";
    media(browser, "", "dark");
    assert_eq!(browser.evaluate(ground), "rgb(21, 24, 28)");
    media(browser, "print", "dark");
    assert_eq!(browser.evaluate(ground), "rgb(255, 255, 255)", "paper is white");
    let hidden = "[...document.querySelectorAll('nav, details.numbers, .tip, .marks, .tools, .unfold, #votes')] \
                  .every((element) => getComputedStyle(element).display === 'none')";
    assert_eq!(browser.evaluate(hidden), true);
    let bare = "[...document.querySelectorAll('.folds')].filter((folds) => \
                folds.querySelector('details[open]') === null && folds.offsetHeight > 0).length";
    assert_eq!(browser.evaluate(bare), 0, "a heading is printed over nothing");
    // A4 between its margins. What is wider makes the browser shrink everything.
    let wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let metrics = json!({"width": 688, "height": 900, "deviceScaleFactor": 1, "mobile": false});
    browser.ask("Emulation.setDeviceMetricsOverride", metrics);
    assert_eq!(browser.evaluate(wide), 0, "something is wider than the paper");
    let pdf = browser.ask("Page.printToPDF", json!({"preferCSSPageSize": true}));
    assert!(pdf["data"].as_str().unwrap().len() > 10_000);
    media(browser, "", "light");
    browser.open(&file.path, 400);
    check_narrow(browser);
    browser.open(&file.path, 1300);
}

/// In a narrow window all sections but the first are folded, until they are opened, and on paper none is.
fn check_narrow(browser: &mut Chromium) {
    let beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let high = "document.documentElement.scrollHeight";
    assert_eq!(browser.evaluate(beyond), 0, "the page is wider than the window");
    let folded = browser.evaluate(high).as_u64().unwrap();
    assert!(folded <= 5 * 800, "{folded} pixels are more than five screens of a phone");
    if browser.evaluate("document.getElementById('verdict') !== null") == json!(true) {
        // Everything behind the first section is folded away.
        assert!(folded <= 2 * 900, "{folded} pixels are more than two screens of a phone");
        return;
    }
    let shown = "[...document.querySelectorAll('main > section > h2')].slice(1).map((head) => \
                 [...head.parentElement.children].some((part) => \
                 !part.matches('h2, .unfold') && part.offsetHeight > 0))";
    let all_are = |browser: &mut Chromium, expected: bool| {
        let shown = browser.evaluate(shown);
        let shown = shown.as_array().unwrap();
        assert!(!shown.is_empty() && shown.iter().all(|is| *is == expected), "{shown:?}");
    };
    all_are(browser, false);
    browser.ask("Emulation.setEmulatedMedia", json!({"media": "print"}));
    all_are(browser, true);
    browser.ask("Emulation.setEmulatedMedia", json!({"media": ""}));
    let linked = "location.hash = document.querySelector('main > section + section > h2').id; \
                  new Promise((done) => setTimeout(done, 50))";
    browser.evaluate(linked);
    assert_eq!(browser.evaluate(shown)[0], true, "a link opens its section");
    let press = "document.querySelectorAll('.unfold[aria-expanded=false]').forEach((press) => press.click())";
    browser.evaluate(press);
    all_are(browser, true);
    assert_eq!(browser.evaluate(beyond), 0, "an open section is wider than the window");
}

/// Without scripts the texts of points and the tables are still present.
fn check_without_script(browser: &mut Chromium, file: &PageFile) {
    browser.ask("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&file.path, 1300);
    let root = browser.ask("DOM.getDocument", json!({}))["root"]["nodeId"].take();
    for selector in [".marks title", "table.data td"] {
        let query = json!({"nodeId": root, "selector": selector});
        let found = browser.ask("DOM.querySelectorAll", query);
        assert!(found["nodeIds"].as_array().unwrap().len() > 10, "{selector}");
    }
    browser.ask("Emulation.setScriptExecutionDisabled", json!({"value": false}));
}

fn check_page(browser: &mut Chromium, file: &PageFile, expected: &Shown) {
    browser.open(&file.path, 1300);
    browser
        .evaluate("document.querySelectorAll('details.more').forEach((more) => more.open = true)");
    let end =
        "document.getElementById('verdict')?.parentElement.getBoundingClientRect().bottom ?? 0";
    let end = browser.evaluate(end).as_f64().unwrap();
    assert!(end <= 800.0, "the first section ends at {end}");
    check_figures(browser, expected);
    check_tables(browser);
    check_names(browser);
    check_keyboard(browser);
    check_pointer(browser);
    check_media(browser, file);
    check_quiet(browser);
    check_without_script(browser, file);
}

#[test]
fn a_report_in_a_browser() {
    let Some(mut browser) = Chromium::start() else { return };
    let reports =
        [tiny::leaf::report(), tiny::report(RowOrder::Arrival), tiny::report(RowOrder::Departure)];
    for report in reports {
        let json = serde_json::to_value(&report).unwrap();
        check_page(&mut browser, &page(&report), &expected(&json));
    }
}

#[test]
fn a_sweep_in_a_browser() {
    let Some(mut browser) = Chromium::start() else { return };
    let sweep = tiny::sweep::sweep();
    let json = serde_json::to_value(&sweep).unwrap();
    let file = page_file(&sweep_page(&sweep).unwrap());
    check_page(&mut browser, &file, &sweep_figures::expected(&json));
}

#[test]
fn a_verdict_in_a_browser() {
    let Some(mut browser) = Chromium::start() else { return };
    let verdict = tiny::leaf::report().verdict.unwrap();
    let json = serde_json::to_value(&verdict).unwrap();
    let file = page_file(&verdict_page(&verdict).unwrap());
    check_page(&mut browser, &file, &figures::expected_of_verdict(&json));
}

/// Three traces of two days: all of them in a row each, and by the hour.
#[test]
fn a_folder_of_traces_in_a_browser() {
    let Some(mut browser) = Chromium::start() else { return };
    let mut verdict = tiny::leaf::report().verdict.unwrap();
    let (whole, timeline) = (verdict.by_trace[0].clone(), verdict.timelines[0].clone());
    verdict.traces = ["monday", "tuesday", "empty"].map(str::to_owned).to_vec();
    verdict.by_trace = vec![whole.clone(), whole, TraceDrops::default()];
    verdict.timelines = vec![timeline.clone(), timeline, TimelineSection::default()];
    let row = verdict.hours[0].clone();
    let hour = |hours: u64| HourSection {
        begin_ns: 1_700_000_000_000_000_000 / HOUR_NS * HOUR_NS + hours * HOUR_NS,
        begin_utc: Some("2023-11-14T22:00:00.000000000Z".to_owned()),
        ..row.clone()
    };
    verdict.hours = [0, 1, 24].map(hour).to_vec();
    let json = serde_json::to_value(&verdict).unwrap();
    let file = page_file(&verdict_page(&verdict).unwrap());
    let mut expected = figures::expected_of_verdict(&json);
    let whole = |name: &String| name.ends_with("rops over time");
    for (name, points) in expected.clone().into_iter().filter(|((figure, _), _)| whole(figure)) {
        for trace in ["monday", "tuesday"] {
            expected.insert((format!("{} of {trace}", name.0), name.1.clone()), points.clone());
        }
    }
    check_page(&mut browser, &file, &expected);
    let text = verdict_text(&verdict);
    for row in ["\n2023-11-14 22:00 ", "\n2023-11-15 22:00 ", "\nmonday ", "\nempty "] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

const HOUR_NS: u64 = 3_600_000_000_000;

/// For a picture alone: its hit areas, their effect on its pixels, and its drawn shapes. An image
/// does not see the page's style sheet.
const ALONE: &str = r#"(async (text) => {
  const [width, height] = [720, 480];
  const pixels = async (text) => {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.fillStyle = "white";
    context.fillRect(0, 0, width, height);
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  };
  const svg = new DOMParser().parseFromString(text, "image/svg+xml");
  const groups = [...svg.querySelectorAll(".marks")];
  groups.forEach((group) => group.remove());
  const [whole, bare] = [await pixels(text), await pixels(new XMLSerializer().serializeToString(svg))];
  return {
    hit_areas: groups.reduce((sum, group) => sum + group.children.length, 0),
    changed: whole.reduce((sum, value, at) => sum + (value !== bare[at]), 0),
    drawn: whole.reduce((sum, value) => sum + (value !== 255), 0),
  };
})"#;

/// Every picture of these pages, as if saved to its own file.
fn pictures(pages: &[String]) -> Vec<&str> {
    let pictures = pages.iter().flat_map(|html| html.split("<svg ").skip(1));
    pictures.map(|rest| rest.split_once("</svg>").unwrap().0).collect()
}

#[test]
fn a_picture_taken_out_of_its_page_looks_the_same() {
    let Some(mut browser) = Chromium::start() else { return };
    let empty = page_file("<!DOCTYPE html><title>empty</title>");
    browser.open(&empty.path, 800);
    let mut look = |svg: &str| browser.evaluate(&format!("{ALONE}({})", json!(svg)));
    let pages = [
        Html.export(&tiny::leaf::report()).unwrap(),
        Html.export(&tiny::report(RowOrder::Arrival)).unwrap(),
        sweep_page(&tiny::sweep::sweep()).unwrap(),
    ];
    let pictures = pictures(&pages);
    assert!(pictures.len() > 30, "{} pictures", pictures.len());
    for inside in pictures {
        let svg = format!("<svg {inside}</svg>");
        let seen = look(&svg);
        assert!(seen["hit_areas"].as_u64() > Some(0), "{seen}: {svg}");
        assert!(seen["drawn"].as_u64() > Some(5_000), "{seen}: {svg}");
        assert_eq!(seen["changed"], 0, "hit areas are seen in {svg}");
        let blobs = look(&svg.replace(" fill=\"none\" pointer-events=\"all\"", ""));
        assert!(blobs["changed"].as_u64() > Some(100), "blobs would not be seen: {blobs}");
    }
}

#[test]
fn a_mistake_of_a_page_is_seen() {
    let Some(mut browser) = Chromium::start() else { return };
    let html = Html.export(&tiny::leaf::report()).unwrap();
    let wrong = html.replace("</body>", "<script>console.error('x')</script></body>");
    browser.open(&page_file(&wrong).path, 1300);
    browser.evaluate("1");
    assert_eq!(browser.events_named("Runtime.consoleAPICalled").len(), 1);
    // A forbidden fetch is blocked and reported.
    let wrong = html.replace("</body>", "<img src=\"http://example.org/x.png\"></body>");
    browser.open(&page_file(&wrong).path, 1300);
    browser.evaluate("1");
    assert!(!browser.events_named("Log.entryAdded").is_empty());
}
