//! Figures saved as PDF, as other programs read and draw them: qpdf and poppler.

use crate::chromium::Chromium;
use crate::tools::{open, run};
use crate::{PageFile, page, page_file, tiny};
use dropcast_reports::{sweep_page, verdict_page};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pixels of a figure's width at 192 dots per inch, at which a unit of the drawing is a pixel.
const WIDE: usize = 1440;
/// Share of pixels that may look otherwise: the browser kerns letters, and finds Greek ones in another font.
const TOLERANCE: f64 = 0.002;
/// What is the same tint, of 255.
const SLACK: u8 = 16;

type Pixels = Vec<[u8; 3]>;

/// A figure as both its buttons save it, and its texts in drawing order.
struct Saved {
    name: String,
    svg: String,
    pdf: String,
    texts: Vec<String>,
}

/// Pixels of the height of a drawing: figures of many bars are higher than others.
fn high(svg: &str) -> usize {
    let (_, size) = svg.split_once(&format!("viewBox=\"0 0 {WIDE} ")).expect("a size");
    size.split('"').next().and_then(|high| high.parse().ok()).expect("a height")
}

/// Every figure of the open page.
fn saved(browser: &mut Chromium) -> Vec<Saved> {
    let figures = run(
        browser,
        "const all = []; \
         for (const figure of document.querySelectorAll('figure')) { \
           press(figure, 'SVG'); const [, svg] = await saved(); \
           press(figure, 'PDF'); const [name, pdf] = await saved(); \
           const texts = [...figure.querySelectorAll('.plot svg > text')].map((text) => text.textContent); \
           all.push([figure.getAttribute('aria-label'), svg, pdf, name, texts]); \
         } return all;",
    );
    let figures = figures.as_array().unwrap().iter().map(|figure| {
        let text = |at: usize| figure[at].as_str().unwrap().to_owned();
        assert!(text(3).ends_with(".pdf"), "{}", text(3));
        let texts = figure[4].as_array().unwrap().iter();
        let texts = texts.map(|text| text.as_str().unwrap().to_owned()).collect();
        Saved { name: text(0), svg: text(1), pdf: text(2), texts }
    });
    let figures: Vec<Saved> = figures.collect();
    assert!(!figures.is_empty());
    figures
}

/// A browser, if it and the programs are installed.
///
/// # Panics
/// If one is not, although `CI` is set.
fn start() -> Option<Chromium> {
    for (program, package) in [("qpdf", "qpdf"), ("pdftoppm", "poppler-utils")] {
        if Command::new(program).arg("--version").output().is_err() {
            let why = format!("{program} is missing: install {package}");
            assert!(std::env::var_os("CI").is_none(), "{why}");
            // Bypasses the test harness, which captures a passing test's output.
            let why = format!("skipped: {why}; PDFs were not read");
            writeln!(std::io::stderr(), "{why}").expect("stderr is writable");
            return None;
        }
    }
    Chromium::start()
}

/// What a program prints about a file, without complaint.
fn printed(program: &str, options: &[&str], file: &Path, more: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(options).arg(file).args(more).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{program}: {errors}");
    output.stdout
}

fn text(program: &str, options: &[&str], file: &Path, more: &[&str]) -> String {
    String::from_utf8(printed(program, options, file, more)).unwrap()
}

fn write(folder: &tempfile::TempDir, pdf: &str) -> PathBuf {
    let file = folder.path().join("figure.pdf");
    std::fs::write(&file, pdf).unwrap();
    file
}

/// The file is sound, has one page of the figure's size, its name and its texts, and no date.
fn check_file(figure: &Saved, file: &Path) {
    let name = &figure.name;
    let sound = text("qpdf", &["--check"], file, &[]);
    assert!(sound.contains("No syntax or stream encoding errors found"), "{name}: {sound}");
    let info = text("pdfinfo", &["-enc", "UTF-8"], file, &[]);
    let told = |key: &str| info.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    assert_eq!(told("Title:"), Some(name.as_str()));
    assert_eq!([told("Pages:"), told("PDF version:")], [Some("1"), Some("1.4")]);
    let size = format!("540 x {} pts", high(&figure.svg) as f64 * 72.0 / 192.0);
    assert!(told("Page size:") == Some(&size) && !info.contains("Date"), "{info}");
    let fonts = text("pdffonts", &[], file, &[]);
    let fonts = fonts.lines().skip(2).map(|line| line.split(' ').next().unwrap());
    let known = ["Helvetica", "Helvetica-Bold", "Symbol"];
    assert_eq!(fonts.collect::<BTreeSet<_>>(), known.into(), "{name}");
    let read = text("pdftotext", &["-raw", "-enc", "UTF-8"], file, &["-"]);
    let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(without_spaces(&read), without_spaces(&figure.texts.concat()), "{name}");
}

fn drawn(file: &Path, high: usize) -> Pixels {
    let picture = printed("pdftoppm", &["-r", "192"], file, &[]);
    let head = format!("P6\n{WIDE} {high}\n255\n");
    let pixels = picture.strip_prefix(head.as_bytes()).expect("a picture of this size");
    pixels.as_chunks().0.to_vec()
}

/// An SVG drawn by the browser, its letters in the font of the PDF.
fn drawn_by_browser(browser: &mut Chromium, svg: &str) -> Pixels {
    let high = high(svg);
    let svg = svg.replace("font-family=\"sans-serif\"", "font-family=\"Helvetica\"");
    let runs = browser.evaluate(&format!(
        "(async (text) => {{ \
           const image = new Image(); \
           image.src = `data:image/svg+xml;charset=utf-8,${{encodeURIComponent(text)}}`; \
           await image.decode(); \
           const canvas = document.createElement('canvas'); \
           [canvas.width, canvas.height] = [{WIDE}, {high}]; \
           const context = canvas.getContext('2d'); \
           context.drawImage(image, 0, 0, {WIDE}, {high}); \
           const pixels = new Uint32Array(context.getImageData(0, 0, {WIDE}, {high}).data.buffer); \
           const runs = []; \
           pixels.forEach((pixel, at) => {{ \
             if (pixel === pixels[at - 1]) runs.at(-1)[1] += 1; else runs.push([pixel, 1]); \
           }}); \
           return runs; \
         }})({})",
        json!(svg)
    ));
    let runs: Vec<(u32, usize)> = serde_json::from_value(runs).unwrap();
    let pixels = runs.into_iter().flat_map(|(pixel, count)| {
        let [r, g, b, _] = pixel.to_le_bytes();
        std::iter::repeat_n([r, g, b], count)
    });
    pixels.collect()
}

/// The share of pixels of either picture that are darker or lighter than all near them in the other.
fn difference(one: &Pixels, other: &Pixels) -> f64 {
    let misses = |from: &Pixels, to: &Pixels| {
        let near = |at: usize| {
            let rows = [0, WIDE, 2 * WIDE].into_iter();
            let places = rows.flat_map(move |row| (at + row)..=(at + row + 2));
            places.filter_map(|place| to.get(place.checked_sub(WIDE + 1)?))
        };
        let is_missed = |&at: &usize| {
            (0..3).any(|part| {
                let value = from[at][part];
                value.abs_diff(to[at][part]) > SLACK
                    && (near(at).all(|there| there[part].saturating_add(SLACK) < value)
                        || near(at).all(|there| there[part].saturating_sub(SLACK) > value))
            })
        };
        (0..from.len()).filter(is_missed).count()
    };
    misses(one, other).max(misses(other, one)) as f64 / one.len() as f64
}

fn empty_page() -> PageFile {
    page_file("<!DOCTYPE html><title>empty</title>")
}

#[test]
fn every_figure_is_saved_as_pdf() {
    let Some(mut browser) = start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let empty = empty_page();
    let report = tiny::leaf::report();
    let pages = [
        page(&report),
        page_file(&verdict_page(report.verdict.as_ref().unwrap()).unwrap()),
        page_file(&sweep_page(&tiny::sweep::sweep()).unwrap()),
    ];
    for page in &pages {
        open(&mut browser, page);
        let figures = saved(&mut browser);
        browser.open(&empty.path, 800);
        for figure in &figures {
            let file = write(&folder, &figure.pdf);
            check_file(figure, &file);
            let svg = drawn_by_browser(&mut browser, &figure.svg);
            let share = difference(&drawn(&file, high(&figure.svg)), &svg);
            assert!(share <= TOLERANCE, "{}: {share} of its pixels differ", figure.name);
        }
    }
}

#[test]
fn a_wrong_pdf_is_seen() {
    let Some(mut browser) = start() else { return };
    let folder = tempfile::tempdir().unwrap();
    open(&mut browser, &page(&tiny::leaf::report()));
    let figures = saved(&mut browser);
    let figure = figures.iter().find(|figure| figure.name == "Scores by vote threshold").unwrap();
    browser.open(&empty_page().path, 800);
    let svg = drawn_by_browser(&mut browser, &figure.svg);
    let mistakes = [
        ("0 360 cm", "2 360 cm"),
        ("BT 1 0 0 -1 ", "BT 1 0 0 +1 "),
        (" 0.447 0.698 RG", " 0.698 0.447 RG"),
        ("[6 8] 0 d", "[6 0] 0 d"),
    ];
    for (right, wrong) in mistakes {
        assert!(figure.pdf.contains(right), "{right} is not in {}", figure.pdf);
        let file = write(&folder, &figure.pdf.replace(right, wrong));
        let share = difference(&drawn(&file, high(&figure.svg)), &svg);
        assert!(share > TOLERANCE, "{wrong}: {share}");
    }
}

#[test]
fn a_figure_gives_the_same_pdf_on_any_page() {
    let Some(mut browser) = start() else { return };
    let report = page(&tiny::leaf::report());
    let mut files = |scheme: &str, width: u32| -> Vec<String> {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        browser.ask("Emulation.setEmulatedMedia", json!({"features": features}));
        open(&mut browser, &report);
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        browser.ask("Emulation.setDeviceMetricsOverride", metrics);
        saved(&mut browser).into_iter().map(|figure| figure.pdf).collect()
    };
    assert_eq!(files("light", 1300), files("dark", 400));
}

#[test]
fn any_text_and_many_points_are_saved_as_pdf() {
    let Some(mut browser) = start() else { return };
    let folder = tempfile::tempdir().unwrap();
    open(&mut browser, &page(&tiny::leaf::report()));
    let any = "gr\u{F6}\u{DF}e (a\\b) \u{3BB} \u{2265} \u{2212}10\u{207B}\u{B9}\u{2076} \u{151}\u{6F22}\u{1F600}";
    let points: Vec<String> = (0..20_000).map(|x| format!("{},{}", x % 1440, x % 960)).collect();
    run(
        &mut browser,
        &format!(
            "const svg = document.querySelector('figure .plot svg'); \
             svg.querySelector('text').textContent = {}; \
             svg.querySelector('polyline').setAttribute('points', {});",
            json!(any),
            json!(points.join(" "))
        ),
    );
    let figure = &saved(&mut browser)[0];
    assert_eq!(figure.texts[0], any);
    assert!(figure.pdf.matches(" l ").count() > 19_990);
    let file = write(&folder, &figure.pdf);
    check_file(figure, &file);
    drawn(&file, high(&figure.svg));
}
