//! Each figure of the paper is made completely at a small size, with the settings on its page.

use crate::room::{Room, skipped};
use std::process::Command;

/// The page that says how the figures were made.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/notes/figures.md");

/// A file's text with one space for each run of white space.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn page() -> String {
    words(&std::fs::read_to_string(PAGE).unwrap())
}

/// What a page says, and its pictures with their captions.
fn pages(text: &str) -> (String, String) {
    let at = text.find("![").unwrap();
    (text[..at].to_owned(), text[at..].to_owned())
}

/// The texts of a picture, in one line.
fn texts(svg: Vec<u8>) -> String {
    let svg = String::from_utf8(svg).unwrap();
    let texts =
        svg.split("<text").skip(1).filter_map(|rest| rest.split_once('>')?.1.split('<').next());
    words(&texts.collect::<Vec<_>>().join(" "))
}

/// The tables of three figures on their pages are what is measured. The others take longer: `lab/benches/figures.py --check`.
#[test]
#[ignore = "slow"]
fn tables_of_pages_are_what_is_measured() {
    let room = Room::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/figures.py");
    let dropcast = env!("CARGO_BIN_EXE_dropcast-lab");
    let mut check = Command::new("python3");
    check.args([script, "--check", dropcast]).arg(room.path("figures"));
    let figures = ["pred-fig19", "pred-fig27", "smartbuf-fig4"];
    match check.args(figures).output() {
        Err(error) => return skipped(&format!("python3: {error}")),
        Ok(said) => assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr)),
    }
    for figure in figures {
        let paper = figure.split('-').next().unwrap();
        assert!(room.path(&format!("figures/{paper}/{figure}.md")).exists(), "{figure}");
    }
}

#[test]
fn figure_14_is_made_with_the_switch_that_its_page_says() {
    let room = Room::new();
    room.good("reproduce fig14 --slots 2000 --repetitions 1 -o fig14");
    let written = String::from_utf8(room.read("fig14/fig14.md")).unwrap();
    let case = "16 ports, a buffer of 160 packets and 0.004 bursts per slot";
    assert!(written.contains(case) && written.contains("](fig14.svg)"), "{written}");
    // The caption is the page's, not the picture's.
    let drawn = texts(room.read("fig14/fig14.svg"));
    assert!(drawn.contains("Credence") && !drawn.contains("160 packets"), "{drawn}");
    assert!(page().contains("16 ports, buffer 160, 0.004 bursts per slot"));
    // Without flips Credence equals LQD.
    let csv = String::from_utf8(room.read("fig14/fig14.csv")).unwrap();
    assert!(csv.contains("\nCredence,0,1,"), "{csv}");
    let cases = String::from_utf8(room.read("fig14/fig14-cases.csv")).unwrap();
    assert_eq!(cases.lines().count(), 1 + 36);
    assert!(page().contains("36 cases"));
}

#[test]
fn figure_15_is_made_with_the_features_and_splits_that_its_page_says() {
    let room = Room::with_a_run();
    room.good("reproduce fig15 --data runs/small/trace.parquet -o fig15");
    let features = "queue_length, avg_queue_length, occupancy, avg_occupancy";
    assert!(page().contains(features));
    let share = "60 % of the rows train";
    assert!(page().contains("60%"));
    for (name, recipe) in
        [("paper", "random split, vote 0.5"), ("ours", "split by time, vote chosen for F1")]
    {
        let written = words(&String::from_utf8(room.read("fig15/fig15.md")).unwrap());
        let (_, caption) = written.split_once(&format!("](fig15-{name}.svg)")).unwrap();
        let caption = caption.split("![").next().unwrap();
        for fact in [features, share, recipe, "depth 4"] {
            assert!(caption.contains(fact), "{fact} is not in {caption}");
        }
        let drawn = texts(room.read(&format!("fig15/fig15-{name}.svg")));
        assert!(drawn.contains("recall") && !drawn.contains(recipe), "{drawn}");
        let csv = String::from_utf8(room.read(&format!("fig15/fig15-{name}.csv"))).unwrap();
        let trees =
            csv.lines().filter_map(|line| line.strip_prefix("accuracy,")?.split(',').next());
        let trees: Vec<&str> = trees.collect();
        assert_eq!(trees, ["1", "2", "4", "8", "16", "32", "64", "128"], "{csv}");
    }
    assert!(page().contains("Forests of 1 to 128 trees of depth 4"));
}

/// All figures of the fabric take the same way; lab/src/pages/fabric_figure/tests.rs measures each.
#[test]
fn a_figure_of_the_fabric_is_a_table_a_page_and_pictures() {
    let room = Room::new();
    let said = room.good_with_notes("reproduce fig10 --runs 1 --duration-ms 2 -o fig10");
    assert!(said.starts_with("## Figure 10. "), "{said}");
    let text = |file: &str| String::from_utf8(room.read(&format!("fig10/{file}"))).unwrap();
    let (page, captions) = pages(&text("fig10.md"));
    assert!(said.starts_with(&page), "{said}");
    assert_eq!(captions.matches("*Figure 10: ").count(), 5, "{captions}");
    let csv = text("fig10.csv");
    // Probabilities, policies and metrics.
    assert_eq!(csv.lines().count(), 1 + 6 * 8 * 5);
    let row = |start: &str| csv.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    // What does not flip is the same everywhere.
    let lqd = row("0,\"LQD\",incast_slowdown_p95,");
    assert_eq!(row("0.1,\"LQD\",incast_slowdown_p95,"), lqd.replacen('0', "0.1", 1));
    let panel = texts(room.read("fig10/fig10-incast_slowdown_p95.svg"));
    assert!(!panel.contains("Figure 10") && !panel.contains("Paper: "), "{panel}");
    assert!(panel.contains("Complete Sharing") && panel.contains("DT, alpha 8"), "{panel}");
}

/// Nothing of it is measured in a fabric.
#[test]
fn a_figure_of_equations_is_a_table_a_page_and_pictures() {
    let room = Room::new();
    let said = room.good_with_notes("reproduce abm-fig4 -o abm");
    let text = |file: &str| String::from_utf8(room.read(&format!("abm/{file}"))).unwrap();
    assert!(said.starts_with(&pages(&text("abm-fig4.md")).0), "{said}");
    // Panels, curves and points.
    assert_eq!(text("abm-fig4.csv").lines().count(), 1 + 2 * 2 * 6);
    for name in ["free", "loss-sensitive"] {
        let panel = texts(room.read(&format!("abm/abm-fig4-{name}.svg")));
        assert!(panel.contains("ABM") && panel.contains("share of the buffer"), "{panel}");
    }
}

/// A figure with a panel for each of two transports is two figures.
#[test]
fn a_figure_of_abm_is_a_table_and_a_page_for_each_panel() {
    let room = Room::new();
    let said = room.good_with_notes("reproduce abm-fig11 --runs 1 --duration-ms 1 -o abm");
    assert!(said.starts_with("## ABM, figure 11a. "), "{said}");
    let text = |file: &str| String::from_utf8(room.read(&format!("abm/{file}"))).unwrap();
    let both = ["abm-fig11a.md", "abm-fig11b.md"].map(|name| pages(&text(name)).0);
    assert!(said.starts_with(&both.concat()), "{said}");
    for name in ["abm-fig11a", "abm-fig11b"] {
        // Buffers, policies and metrics.
        assert_eq!(text(&format!("{name}.csv")).lines().count(), 1 + 6 * 7 * 2);
        let panel = texts(room.read(&format!("abm/{name}-incast_slowdown_p99.svg")));
        assert!(panel.contains("Complete Sharing") && panel.contains("DT, alpha 8"), "{panel}");
    }
}
