//! What a reader does with a page: sort, filter, move the slider, save tables and figures.

use crate::chromium::Chromium;
use crate::{PageFile, page, page_file, tiny};
use dropcast_forest::Confusion;
use dropcast_replay::ReplayPolicy;
use dropcast_reports::numbers::count;
use dropcast_reports::sweep_page;
use serde_json::{Value, json};

/// Catches files that would be saved, as pairs of name and text.
const CATCH: &str = r#"(() => {
  window.saved = [];
  const texts = new Map();
  URL.createObjectURL = (blob) => {
    const url = `blob:${texts.size}`;
    texts.set(url, blob.text());
    return url;
  };
  HTMLAnchorElement.prototype.click = function () {
    if (this.download !== "") window.saved.push([this.download, texts.get(this.href)]);
  };
})()"#;

/// The table with this caption, or of this figure, and the button with this text below it.
const FIND: &str = r#"
  const table = (name) => [...document.querySelectorAll("table")].find((table) =>
    (table.caption?.textContent ?? table.closest("figure")?.getAttribute("aria-label") ?? "").startsWith(name));
  const press = (bar, text) =>
    [...bar.querySelectorAll("button")].find((button) => button.textContent === text).click();
  const column = (table, at) => [...table.tBodies[0].rows].filter((row) => !row.hidden)
    .map((row) => row.cells[at].querySelector("data")?.value ?? row.cells[at].textContent);
  const saved = async () => { const [name, text] = window.saved.pop(); return [name, await text]; };
"#;

pub(crate) fn open(browser: &mut Chromium, file: &PageFile) {
    browser.open(&file.path, 1300);
    browser.evaluate(CATCH);
}

pub(crate) fn run(browser: &mut Chromium, body: &str) -> Value {
    browser.evaluate(&format!("(async () => {{ {FIND} {body} }})()"))
}

#[test]
fn tables_are_sorted_filtered_and_saved() {
    let Some(mut browser) = Chromium::start() else { return };
    let report = tiny::leaf::report();
    let json = serde_json::to_value(&report).unwrap();
    open(&mut browser, &page(&report));
    let policies = "const policies = table('With and without'); \
                    const bar = policies.closest('.wide').nextElementSibling;";
    let saved = run(&mut browser, &format!("{policies} press(bar, 'CSV'); return saved();"));
    assert_eq!(saved[0], "with-and-without-an-oracle.csv");
    let lines: Vec<&str> = saved[1].as_str().unwrap().lines().collect();
    assert_eq!(lines[0], "policy,packets sent,of LQD's,bytes sent,of LQD's");
    let lqd = &json["replay"]["total"]["policies"][0];
    let sent = &lqd["sent"];
    assert_eq!(lines[1], format!("LQD,{},1.0,{},1.0", sent["packets"], sent["bytes"]));
    assert!(
        lines.iter().any(|line| line.starts_with("\"Credence, perfect oracle\",")),
        "{lines:?}"
    );
    let saved = run(&mut browser, &format!("{policies} press(bar, 'LaTeX'); return saved();"));
    assert_eq!(saved[0], "with-and-without-an-oracle.tex");
    let tex = saved[1].as_str().unwrap();
    assert!(
        tex.starts_with("\\begin{tabular}{lrrrr}\n  \\hline\n  policy & packets sent & of LQD's")
    );
    assert!(
        tex.contains("level\\_in\\_quarter\\_rtt $>$ ") && tex.ends_with("\\end{tabular}\n"),
        "{tex}"
    );

    for order in ["ascending", "descending"] {
        let sorted = run(
            &mut browser,
            &format!(
                "{policies} press(policies.tHead, 'packets sent'); \
                 return [policies.tHead.rows[0].cells[1].getAttribute('aria-sort'), column(policies, 1)];"
            ),
        );
        assert_eq!(sorted[0], order);
        let shown = sorted[1].as_array().unwrap().iter();
        let shown: Vec<u64> = shown.map(|value| value.as_str().unwrap().parse().unwrap()).collect();
        let mut expected = shown.clone();
        expected.sort_unstable();
        if order == "descending" {
            expected.reverse();
        }
        assert!(shown == expected && shown.first() != shown.last(), "{order}: {shown:?}");
    }

    open(&mut browser, &page_file(&sweep_page(&tiny::sweep::sweep()).unwrap()));
    let left = run(
        &mut browser,
        "const all = table('Means over seeds'); \
         const field = all.closest('.wide').nextElementSibling.querySelector('input'); \
         field.value = '8\u{D7}6 balanced'; field.dispatchEvent(new Event('input')); \
         const one = column(all, 0); \
         field.value = ''; field.dispatchEvent(new Event('input')); \
         return [one, column(all, 0).length];",
    );
    assert_eq!(left, json!([["8\u{D7}6"], 24]));
}

#[test]
fn the_slider_moves_over_the_curve_of_the_json() {
    let Some(mut browser) = Chromium::start() else { return };
    let mut report = tiny::leaf::report();
    let sent = report.replay.as_ref().unwrap().total.policies.iter();
    let sent = sent.clone().find(|policy| policy.policy == ReplayPolicy::Credence).unwrap().sent;
    let own_at = report.model.vote_threshold;
    let points = &mut report.curve.points;
    let own = points.iter().rposition(|point| point.vote_threshold <= own_at).unwrap();
    // Another byte at each threshold.
    for (at, point) in points.iter_mut().enumerate() {
        point.sent_bytes = Some(sent.bytes + at as u64 - own as u64);
    }
    open(&mut browser, &page(&report));
    let read = "const slider = document.querySelector('#votes input'); \
                const read = () => [...document.querySelectorAll('#votes b')].map((b) => b.textContent);";
    let first = run(&mut browser, &format!("{read} return read();"));
    let ratio =
        |value: Option<f64>| value.map_or("undefined".to_owned(), |value| format!("{value:.4}"));
    let signed = |bytes: i64| match bytes {
        0 => "0".to_owned(),
        bytes if bytes > 0 => format!("+{}", count(bytes.unsigned_abs())),
        bytes => format!("\u{2212}{}", count(bytes.unsigned_abs())),
    };
    let gain = report.gain.unwrap();
    let best = gain.best_alpha.unwrap();
    for (at, point) in report.curve.points.iter().enumerate() {
        let moved = run(
            &mut browser,
            &format!(
                "{read} slider.value = '{at}'; slider.dispatchEvent(new Event('input')); return read();"
            ),
        );
        let more = at as i64 - own as i64;
        let Confusion { tp, fp, fn_, .. } = point.confusion;
        let expected = [
            signed(best.gain.bytes + more),
            signed(gain.always_accept.bytes + more),
            ratio(point.f1),
            count(tp),
            count(fn_),
            count(fp),
            ratio(point.precision),
            ratio(point.recall),
        ];
        assert_eq!(moved, json!(expected));
        assert!(at != own || moved == first);
    }
    let back = run(
        &mut browser,
        &format!(
            "{read} press(document.getElementById('votes'), 'the model\u{2019}s'); return read();"
        ),
    );
    assert_eq!(back, first);
}

#[test]
fn a_figure_is_saved_as_svg() {
    let Some(mut browser) = Chromium::start() else { return };
    open(&mut browser, &page(&tiny::leaf::report()));
    let figures = browser.evaluate("document.querySelectorAll('figure').length").as_u64().unwrap();
    for at in 0..figures {
        let saved = run(
            &mut browser,
            &format!(
                "const figure = document.querySelectorAll('figure')[{at}]; press(figure, 'SVG'); \
                 const [name, text] = await saved(); \
                 const svg = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement; \
                 return [name, svg.localName, svg.querySelectorAll('.marks').length, \
                   svg.querySelector('title').textContent === figure.getAttribute('aria-label'), \
                   svg.querySelector('desc + rect').getAttribute('fill')];"
            ),
        );
        assert!(saved[0].as_str().unwrap().ends_with(".svg"), "{saved}");
        assert_eq!(
            saved.as_array().unwrap()[1..],
            json!(["svg", 0, true, "#FFFFFF"]).as_array().unwrap()[..]
        );
    }
}

#[test]
fn on_a_phone_nothing_is_cut_off() {
    let Some(mut browser) = Chromium::start() else { return };
    for html in
        [page(&tiny::leaf::report()), page_file(&sweep_page(&tiny::sweep::sweep()).unwrap())]
    {
        browser.open(&html.path, 360);
        let beyond = browser.evaluate(
            "(() => { document.querySelectorAll('details').forEach((more) => more.open = true); \
             const wide = document.documentElement.clientWidth; \
             const seen = 'h1, h2, h3, p, summary, button, input, .cards li, .plot svg, figcaption'; \
             const outside = [...document.querySelectorAll(seen)].filter((part) => \
               !part.closest('.wide') && part.getBoundingClientRect().right > wide + 0.5); \
             return [outside.map((part) => part.outerHTML.slice(0, 80)), \
               document.documentElement.scrollWidth - wide]; })()",
        );
        assert_eq!(beyond, json!([[], 0]));
        // But for the numbers of figures, no table needs to be scrolled; its rows are lists.
        let scrolled = "[...document.querySelectorAll('.wide:has(> table:not(.data))')]
            .filter((wide) => wide.scrollWidth > wide.clientWidth).map((wide) => wide.innerText)";
        assert_eq!(browser.evaluate(scrolled), json!([]));
        let unnamed = "[...document.querySelectorAll('.fields tbody td')].filter((cell) => \
            getComputedStyle(cell, '::before').content === 'none' || !('head' in cell.dataset)).length";
        assert_eq!(browser.evaluate(unnamed), 0);
        let lists = "document.querySelectorAll('.fields').length > 0";
        assert_eq!(browser.evaluate(lists), true);
    }
}

#[test]
fn a_link_to_what_is_folded_away_opens_it() {
    let Some(mut browser) = Chromium::start() else { return };
    open(&mut browser, &page(&tiny::leaf::report()));
    let is_open = "document.getElementById('provenance').closest('details').open";
    assert_eq!(browser.evaluate(is_open), false);
    let opened = run(
        &mut browser,
        &format!(
            "const changed = new Promise((done) => addEventListener('hashchange', () => done())); \
             location.hash = '#provenance'; await changed; return {is_open};"
        ),
    );
    assert_eq!(opened, true);
}
