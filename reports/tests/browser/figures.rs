//! What the figures of a report's page must show, computed from its JSON alone.

use serde_json::Value;
use std::collections::BTreeMap;

/// By figure and series, the points: where along the axis (a number or a name), and the value.
pub(crate) type Shown = BTreeMap<(String, String), Vec<(String, f64)>>;

/// A number in the page's format: the shortest text that reads back exactly.
pub(crate) fn number(value: &Value) -> Option<String> {
    value.as_f64().map(|value| value.to_string())
}

/// Every point that a figure may show.
pub(crate) fn expected(report: &Value) -> Shown {
    let mut shown = Shown::new();
    let mut add = |figure: &str, series: &str, points: Vec<(String, f64)>| {
        shown.insert((figure.to_owned(), series.to_owned()), points);
    };
    let points = list(&report["curve"]["points"]);
    let pairs = |x: &str, y: &str, of: &[Value]| -> Vec<(String, f64)> {
        of.iter().filter_map(|point| Some((number(&point[x])?, point[y].as_f64()?))).collect()
    };
    let pr = "Precision and recall";
    add(pr, "every vote threshold", pairs("recall", "precision", points));
    let chosen = &report["model"]["vote_threshold"];
    let own = std::slice::from_ref(&report["prediction"]);
    add(pr, &format!("this model's, {chosen}"), pairs("recall", "precision", own));
    for (name, field) in [("F1", "f1"), ("precision", "precision"), ("recall", "recall")] {
        let mut steps = pairs("vote_threshold", field, points);
        // The last value holds to the end, or to where it is no longer defined.
        let end = points.iter().find(|point| point[field].is_null());
        let end = end.map_or(&report["model"]["max_score"], |point| &point["vote_threshold"]);
        if let (Some((_, last)), Some(end)) = (steps.last().cloned(), number(end)) {
            steps.push((end, last));
        }
        add("Scores by vote threshold", name, steps);
    }
    let ranges = list(&report["calibration"]["ranges"]);
    add("Reliability of scores", "this model", pairs("mean_score", "drop_share", ranges));
    for label in ["transmitted", "dropped"] {
        let bins = list(&report["score_histogram"]);
        let all: f64 = bins.iter().filter_map(|bin| bin[label].as_f64()).sum();
        let share = |bin: &Value| {
            let middle = (bin["from"].as_f64()? + bin["to"].as_f64()?) / 2.0;
            let rows = bin[label].as_f64().filter(|&rows| rows > 0.0)?;
            Some((middle.to_string(), rows / all))
        };
        let shares = bins.iter().filter_map(share).collect();
        add("Forest scores by what LQD did", &format!("{label} by LQD"), shares);
    }
    importance(report, &mut add);
    distributions(report, &mut add);
    against_now(&report["verdict"], &mut add);
    verdict(&report["verdict"], &mut add);
    shown
}

/// Every point of a verdict's own page.
pub(crate) fn expected_of_verdict(json: &Value) -> Shown {
    let mut shown = Shown::new();
    let mut add = |figure: &str, series: &str, points: Vec<(String, f64)>| {
        shown.insert((figure.to_owned(), series.to_owned()), points);
    };
    against_now(json, &mut add);
    verdict(json, &mut add);
    shown
}

type Add<'a> = dyn FnMut(&str, &str, Vec<(String, f64)>) + 'a;

fn importance(report: &Value, add: &mut Add<'_>) {
    let features = list(&report["importance"]["features"]);
    let by_name = |value: &dyn Fn(&Value) -> Option<f64>| -> Vec<(String, f64)> {
        features.iter().filter_map(|f| Some((f["name"].as_str()?.to_owned(), value(f)?))).collect()
    };
    let loss = |field: &'static str| by_name(&|feature| feature[field]["mean"].as_f64());
    add("Permutation importance", "average precision", loss("average_precision_loss"));
    add("Permutation importance", "F1", loss("f1_loss"));
    let shares = by_name(&|feature| feature["gini_share"].as_f64());
    add("Gini importance", "share", shares);
}

fn distributions(report: &Value, add: &mut Add<'_>) {
    for feature in list(&report["features"]) {
        let name = feature["name"].as_str().unwrap_or_default().replace('_', " ");
        let most =
            ["transmitted", "dropped"].iter().filter_map(|label| feature[label]["max"].as_f64());
        let most = most.fold(1.0, f64::max);
        for label in ["transmitted", "dropped"] {
            let cdf = list(&feature[label]["cdf"]);
            let point = |point: &Value| Some((number(&point[0])?, point[1].as_f64()?));
            let mut points: Vec<_> = cdf.iter().filter_map(point).collect();
            points.insert(0, ("0".to_owned(), 0.0));
            points.push((most.to_string(), 1.0));
            add(&format!("Distribution of {name}"), &format!("{label} by LQD"), points);
        }
    }
}

/// One trace, one switch: drops over time, in episodes, by port.
fn verdict(verdict: &Value, add: &mut Add<'_>) {
    let Some(whole) = verdict["timelines"].get(0) else { return };
    let rivals = &verdict["rivals"];
    let best = rivals["best_alpha"].as_u64().map(|at| &rivals["policies"][at as usize]["policy"]);
    // The best alpha is not drawn where it is what the switch does by itself.
    let add: &mut Add<'_> = &mut |figure: &str, series: &str, points: Vec<(String, f64)>| {
        let is_by_port = figure == "Drops and errors by port";
        if series != "best alpha" || is_by_port || best != Some(&verdict["own_policy"]) {
            add(figure, series, points);
        }
    };
    timeline("Occupancy and drops over time", whole, add);
    timeline("Drops over time", whole, &mut |figure, series, points| {
        if series != "LQD's buffer" && !series.starts_with("false ") {
            add(figure, series, points);
        }
    });
    for (rank, episode) in list(&verdict["episodes"]).iter().enumerate() {
        timeline(&format!("Episode {}", rank + 1), &episode["timeline"], add);
    }
    hours(verdict, add);
    let queues = list(&verdict["queues"]);
    for (name, kind) in [("own drops", "own"), ("real drops", "real")] {
        let mut ports: BTreeMap<String, f64> = BTreeMap::new();
        for queue in queues {
            let port = format!("port {}", queue["port"]);
            let drops = queue["counts"][kind]["packets"].as_f64().unwrap_or(0.0);
            *ports.entry(port).or_default() += drops;
        }
        let has_real = verdict["counts"]["real"].is_object();
        if has_real == (kind == "real") {
            add("Drops by port", name, ports.into_iter().collect());
        }
    }
    let kinds: [(&str, &[&str]); 8] = [
        ("own drops", &["own", "packets"]),
        ("best alpha", &["best_alpha", "packets"]),
        ("LQD drops", &["lqd", "packets"]),
        ("real drops", &["real", "packets"]),
        ("only real", &["only_real", "packets"]),
        ("only LQD", &["only_lqd", "packets"]),
        ("false positives", &["confusion", "fp"]),
        ("false negatives", &["confusion", "fn"]),
    ];
    for (name, path) in kinds {
        let of = |queue: &Value| {
            let value = path.iter().fold(&queue["counts"], |value, field| &value[*field]);
            Some((queue["port"].to_string(), value.as_f64()?))
        };
        let points: Vec<(String, f64)> = queues.iter().filter_map(of).collect();
        if points.iter().any(|point| point.1 > 0.0) {
            add("Drops and errors by port", name, points);
        }
    }
}

/// Drops of all traces by the hour, each of which holds to its end.
fn hours(verdict: &Value, add: &mut Add<'_>) {
    let begin = |hour: &Value| hour["begin_ns"].as_str()?.parse::<u64>().ok();
    let hours = list(&verdict["hours"]);
    let Some(first) = hours.first().and_then(begin) else { return };
    for (name, kind) in [
        ("own drops", "own"),
        ("best alpha", "best_alpha"),
        ("LQD drops", "lqd"),
        ("real drops", "real"),
    ] {
        let points = hours.iter().flat_map(|hour| {
            let at = (begin(hour).unwrap() - first) / 3_600_000_000_000;
            let packets = hour["counts"][kind]["packets"].as_f64().filter(|&packets| packets > 0.0);
            let ends = [at, at + hour["hours"].as_u64().unwrap()];
            packets.into_iter().flat_map(move |packets| ends.map(|at| (at.to_string(), packets)))
        });
        add("Drops by the hour", name, points.collect());
    }
}

fn timeline(figure: &str, timeline: &Value, add: &mut Add<'_>) {
    let bin_ns = timeline["bin_ns"].as_f64().unwrap();
    // Both the trace and its episodes last less than 10 s: their times are in ms, us or ns.
    let span_ns = bin_ns * list(&timeline["arrived_packets"]).len() as f64;
    let unit_ns = match span_ns {
        ..1e3 => 1.0,
        ..1e7 => 1e3,
        _ => 1e6,
    };
    let time = |at: usize| (at as f64 * (bin_ns / unit_ns)).to_string();
    let columns = [
        ("LQD's buffer", &timeline["peak_occupancy"]),
        ("own drops", &timeline["own_packets"]),
        ("best alpha", &timeline["best_alpha_packets"]),
        ("LQD drops", &timeline["lqd_packets"]),
        ("real drops", &timeline["real"]["packets"]),
        ("false positives", &timeline["errors"]["false_positives"]),
        ("false negatives", &timeline["errors"]["false_negatives"]),
    ];
    for (name, column) in columns {
        let values = list(column);
        let mut points: Vec<(usize, f64)> = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let Some(value) = value.as_f64() else { continue };
            points.push((at, value));
            // A value holds to the end of its bin, behind which is a gap or nothing.
            if values.get(at + 1).is_none_or(Value::is_null) {
                points.push((at + 1, value));
            }
        }
        let shown = points.into_iter().filter(|point| point.1 != 0.0);
        add(figure, name, shown.map(|(at, value)| (time(at), value)).collect());
    }
}

/// What policies lose more than the switch now. Those that lose more than twice what can be saved may be left out.
fn against_now(verdict: &Value, add: &mut Add<'_>) {
    let point = |row: &Value| {
        let policy = row["policy"].as_str().unwrap_or_default();
        let alpha = policy.trim_start_matches("dt:alpha=");
        let own = match policy {
            "complete-sharing" => "Complete Sharing".to_owned(),
            "" => "Each switch's own policy".to_owned(),
            _ => format!("alpha {alpha}"),
        };
        let name = match row["needs"].as_str()? {
            "nothing" => format!("{own} (now)"),
            "setting" => own,
            "queue_settings" => format!("Alpha by queue, {alpha}"),
            "table" => "Credence, this forest".to_owned(),
            "other_chip" => "LQD".to_owned(),
            "labels" => "Credence, perfect oracle".to_owned(),
            "future" => "Any policy, at the least".to_owned(),
            _ => policy.to_owned(),
        };
        Some((name, row["against_now_bytes"].as_f64()?))
    };
    let points = list(&verdict["against_now"]).iter().filter_map(point).collect();
    add("Bytes lost, against now", "against now", points);
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
