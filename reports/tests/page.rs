//! The HTML page: well formed, complete, and with the numbers of the JSON.

#[path = "../measure/tests/tiny/mod.rs"]
mod tiny;

use dropcast_data::RowOrder;
use dropcast_measure::{CurvePoint, MOST_POINTS, Report};
use dropcast_reports::{Exporter, Html, Json, sweep_page};
use serde_json::Value;

fn page(report: &Report) -> String {
    Html.export(report).expect("a page")
}

/// Elements that have no end tag.
const VOID: [&str; 2] = ["meta", "br"];

/// Walks over all tags: every element is closed, in order, and attributes are quoted.
fn check_well_formed(html: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}> closes another element");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in <{tag}>");
        let mut outside_quotes = tag.split('"').step_by(2);
        assert!(outside_quotes.all(|text| text.find('=').is_none_or(|at| at + 1 == text.len())));
        if tag.ends_with('/') || VOID.contains(&name) {
            continue;
        }
        open.push(name.to_owned());
        if ["style", "script"].contains(&name) {
            let close = rest.find(&format!("</{name}>")).expect("it ends");
            rest = &rest[close..];
        }
    }
    assert!(open.is_empty(), "{open:?} are left open");
}

fn embedded(html: &str) -> Value {
    let (_, from) = html.split_once("id=\"report\">").expect("JSON inside");
    let (json, _) = from.split_once("</script>").expect("it ends");
    serde_json::from_str(json).expect("sound JSON")
}

fn numbers_of(json: &Value, out: &mut Vec<String>) {
    match json {
        Value::Number(number) => out.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| numbers_of(value, out)),
        Value::Object(fields) => fields.values().for_each(|value| numbers_of(value, out)),
        _ => {}
    }
}

#[test]
fn every_element_is_closed() {
    check_well_formed(&page(&tiny::report(RowOrder::Arrival)));
    check_well_formed(&page(&tiny::report(RowOrder::Departure)));
    check_well_formed(&sweep_page(&tiny::sweep::sweep()).unwrap());
}

#[test]
fn every_section_and_figure_is_there() {
    let html = page(&tiny::report(RowOrder::Arrival));
    for id in
        ["forest", "policies", "ports", "timeline", "features", "resources", "checks", "provenance"]
    {
        assert_eq!(html.matches(&format!("<h2 id=\"{id}\">")).count(), 1, "{id}");
        assert_eq!(html.matches(&format!("<a href=\"#{id}\">")).count(), 1, "{id}");
    }
    let titles = [
        "Bytes lost, against now",
        "Drops by port",
        "Drops over time",
        "Occupancy and drops over time",
        "Episode 1",
        "Drops and errors by port",
        "Precision and recall",
        "Scores by vote threshold",
        "Reliability of scores",
        "Permutation importance",
        "Gini importance",
        "Forest scores by what LQD did",
        "Distribution of queue length",
        "Distribution of occupancy",
    ];
    for title in titles {
        assert!(html.contains(&format!("role=\"img\" aria-label=\"{title}\"")), "{title}");
    }
    for each in ["<figure ", "<figcaption ", "<desc>", "<details class=\"numbers\">"] {
        assert_eq!(html.matches(each).count(), titles.len(), "{each}");
    }
}

/// Hit areas inherit from their group, which hides them without the page's style sheet.
#[test]
fn hit_areas_are_unseen_without_a_style_sheet() {
    let report = page(&tiny::leaf::report());
    let sweep = sweep_page(&tiny::sweep::sweep()).unwrap();
    for html in [report, sweep] {
        let groups: Vec<&str> = html.split("<g ").skip(1).collect();
        let areas = groups.iter().map(|group| group.matches("<title>").count());
        assert!(areas.sum::<usize>() > 100);
        assert_eq!(groups.len(), html.matches("class=\"marks\"").count());
        for group in groups {
            let (open, rest) = group.split_once('>').unwrap();
            assert!(open.contains(" fill=\"none\"") && open.contains(" pointer-events=\"all\""));
            let (inside, _) = rest.split_once("</g>").unwrap();
            for other in ["fill=", "stroke=", "style=", "pointer-events="] {
                assert!(!inside.contains(other), "{other} in {inside}");
            }
        }
    }
}

#[test]
fn nothing_is_fetched() {
    let html = page(&tiny::report(RowOrder::Arrival));
    for text in ["src=", "url(", "@import", "https://", "fetch(", "import("] {
        assert!(!html.contains(text), "{text}");
    }
    assert_eq!(html.matches("href=").count(), html.matches("href=\"#").count());
    assert!(html.contains("content=\"default-src 'none'; "), "the browser would not allow it");
    assert_eq!(html.matches("http://").count(), html.matches("xmlns=\"http://").count());
}

#[test]
fn the_json_inside_is_the_report() {
    let report = tiny::report(RowOrder::Arrival);
    let json: Value = serde_json::from_str(&Json.export(&report).unwrap()).unwrap();
    assert_eq!(embedded(&page(&report)), json);
}

/// The verdict comes first; what only a developer of models needs is folded away.
#[test]
fn the_page_begins_with_the_verdict_and_folds_away_what_few_read() {
    let report = tiny::leaf::report();
    let html = page(&report);
    let advice = "<h2 id=\"verdict\" class=\"lead warning\">DO NOT TRUST these numbers";
    let screen = html.split("<details class=\"more\">").next().expect("the first screen");
    assert!(screen.contains(advice) && !screen.contains("Bytes lost, against now"));
    for id in ["forest", "policies", "ports", "timeline", "features", "resources", "checks"] {
        assert!(html.contains(&format!("<summary><h2 id=\"{id}\">")), "{id} is not folded");
    }
    let real =
        report.verdict.as_ref().and_then(|verdict| verdict.counts.only_real).expect("real drops");
    assert!(real.packets > 0 && html.contains("The real switch drops "));
    let plain = page(&tiny::report(RowOrder::Arrival));
    let screen = plain.split("<details class=\"more\">").next().expect("the first screen");
    for words in ["<li><b>", "Drops over time", "Drops by port", "<b>Trust</b>", "<b>Assumed</b>"] {
        assert!(screen.contains(words), "{words}");
    }
    assert!(!screen.contains(">0.99"), "a ratio without a unit");
    assert!(!plain.contains("The real switch drops "), "that trace has no real drops");
}

#[test]
fn numbers_of_the_page_are_those_of_the_json() {
    for report in [tiny::report(RowOrder::Arrival), tiny::leaf::report()] {
        check_numbers(&page(&report));
    }
    let verdict = tiny::leaf::report().verdict.expect("replayed");
    check_numbers(&dropcast_reports::verdict_page(&verdict).expect("a page"));
}

fn check_numbers(html: &str) {
    let mut known = Vec::new();
    numbers_of(&embedded(html), &mut known);
    let shown: Vec<&str> =
        html.split("<data value=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(shown.len() > 50, "{} numbers", shown.len());
    for number in shown {
        assert!(known.iter().any(|known| known == number), "{number} is not in the JSON");
    }
}

#[test]
fn a_sweeps_page_has_its_json_and_its_sections() {
    let sweep = tiny::sweep::sweep();
    let html = sweep_page(&sweep).unwrap();
    assert_eq!(embedded(&html), serde_json::to_value(&sweep).unwrap());
    assert!(html.contains("<p class=\"lead\">Proposed: "), "one is proposed");
    assert!(
        html.contains("class=\"key\"") && html.contains(">weights balanced<"),
        "recipes have names"
    );
    for id in ["summary", "front", "shapes", "paper", "forests", "provenance"] {
        assert_eq!(html.matches(&format!("<h2 id=\"{id}\">")).count(), 1, "{id}");
    }
    // Of each of two recipes: F1 and eta, against trees, depth and both; Figure 15; the front.
    assert_eq!(html.matches("<figure ").count(), 2 * 6 + 2 + 1);
}

#[test]
fn a_sweep_of_one_forest_or_none_has_a_page() {
    let mut sweep = tiny::sweep::sweep();
    sweep.rows.truncate(1);
    sweep.summary.truncate(1);
    check_well_formed(&sweep_page(&sweep).unwrap());
    sweep.rows.clear();
    sweep.summary.clear();
    let html = sweep_page(&sweep).unwrap();
    check_well_formed(&html);
    assert!(html.contains("there is no Pareto front"));
}

#[test]
fn names_cannot_break_out_of_their_place() {
    let mut report = tiny::report(RowOrder::Arrival);
    report.traces[0].name = "</script><script>\"&".to_owned();
    let html = page(&report);
    check_well_formed(&html);
    assert_eq!(html.matches("<script").count(), 2, "data and ours");
    assert_eq!(embedded(&html)["traces"][0]["name"], "</script><script>\"&");
}

/// A page is bounded in size for any length of the traces.
#[test]
fn the_largest_page_of_eight_features_is_small() {
    let mut report = tiny::leaf::report();
    let point = report.curve.points[1];
    let share = |at: u32| f64::from(at) / 511.7;
    report.curve.points = (0..MOST_POINTS as u32)
        .map(|at| CurvePoint {
            vote_threshold: 2 * at,
            precision: Some(share(at)),
            recall: Some(1.0 - share(at)),
            f1: Some(share(at) / 2.0),
            ..point
        })
        .collect();
    let mut feature = report.features[0].clone();
    for values in [&mut feature.transmitted, &mut feature.dropped] {
        values.cdf = (0..128).map(|at| (at * 8_191, share(4 * at))).collect();
        values.max = Some(1_048_576);
    }
    report.features = vec![feature; 8];
    let bytes = page(&report).len();
    assert!((500_000..1_500_000).contains(&bytes), "{bytes} bytes");
}
