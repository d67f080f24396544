//! The sections of the page, in order.

use super::PAGE;
use super::table::{Cell, table};
use crate::plot::{PlotError, escape};
use crate::report::{ReplaySection, ReplayTotals, Report};
use crate::{ReplayPolicy, figures, numbers};

/// The page so far.
#[derive(Default)]
pub(super) struct Body {
    pub(super) html: String,
}

impl Body {
    fn section(&mut self, id: &str, title: &str) {
        self.html.push_str(&format!("<h2 id=\"{id}\">{}</h2>\n", escape(title)));
    }

    fn paragraph(&mut self, text: &str) {
        self.html.push_str(&format!("<p>{}</p>\n", escape(text)));
    }

    fn warning(&mut self, text: &str) {
        self.html.push_str(&format!("<p class=\"warning\">{}</p>\n", escape(text)));
    }

    fn table(&mut self, caption: &str, heads: &[&str], rows: &[Vec<Cell>]) {
        self.html.push_str(&table(caption, heads, rows));
    }
}

/// Writes the whole body.
pub(super) fn body(page: &mut Body, report: &Report) -> Result<(), PlotError> {
    summary(page, report);
    predictions(page, report);
    thresholds(page, report)?;
    match &report.replay {
        Some(replay) => replays(page, replay)?,
        None => no_replays(page, report),
    }
    scores(page, report)?;
    features(page, report)?;
    provenance(page, report);
    Ok(())
}

fn summary(page: &mut Body, report: &Report) {
    let (model, labels) = (&report.model, &report.labels);
    page.html.push_str("<header>\n<h1>How well drops are predicted</h1>\n");
    page.html.push_str(&format!(
        "<p class=\"faint\">{} on {}: {} packets, {} of them dropped by push-out LQD.</p>\n</header>\n<main>\n",
        escape(model.name.as_deref().unwrap_or("A model")),
        escape(&report.trace_names()),
        Cell::Count(Some(labels.rows)).html(),
        Cell::Count(Some(labels.drops)).html()
    ));
    if report.traces.iter().any(|trace| trace.in_training_data == Some(true)) {
        page.warning(
            "The model was trained on a file that is scored here. On rows it has not seen it will do worse.",
        );
    }
    if report.traces.iter().any(|trace| trace.held_out) {
        page.html.push_str(
            "<p>Scored are only the rows that the model's own split kept for testing.</p>\n",
        );
    }
    let total = report.replay.as_ref().map(|replay| &replay.total);
    let credence = total.and_then(|total| {
        total.policies.iter().find(|policy| policy.policy == ReplayPolicy::Credence)
    });
    let cards = [
        ("F1", report.prediction.f1),
        ("precision", report.prediction.precision),
        ("recall", report.prediction.recall),
        ("average precision", report.curve.average_precision),
        ("1/\u{3B7}, exact, packets", total.and_then(|total| total.eta.packets_inverse)),
        ("Credence's packets of LQD's", credence.and_then(|credence| credence.packets_to_lqd)),
    ];
    page.html.push_str("<ul class=\"cards\">\n");
    for (name, value) in cards {
        let value = Cell::Ratio(value, 4).html();
        page.html.push_str(&format!("<li><b>{value}</b>{}</li>\n", escape(name)));
    }
    page.html.push_str("</ul>\n");
}

fn predictions(page: &mut Body, report: &Report) {
    let prediction = &report.prediction;
    let confusion = prediction.confusion;
    page.section("predictions", "Predictions at the model's vote threshold");
    page.paragraph(&format!(
        "A drop is predicted when the sum of leaf weights is above {} (of at most {}).",
        report.model.vote_threshold, report.model.max_score
    ));
    page.html.push_str("<div class=\"tables\">\n");
    let counts = |name: &str, predicted, accepted| {
        vec![Cell::text(name), Cell::Count(Some(predicted)), Cell::Count(Some(accepted))]
    };
    page.table(
        "Packets by what LQD did and what was predicted.",
        &["", "predicted drop", "predicted accept"],
        &[
            counts("dropped by LQD", confusion.tp, confusion.fn_),
            counts("transmitted by LQD", confusion.fp, confusion.tn),
        ],
    );
    let score = |name: &str, formula: &str, value| {
        vec![Cell::text(name), Cell::text(formula), Cell::Ratio(value, 4)]
    };
    page.table(
        "Scores (Credence paper, appendix C). A score whose denominator is 0 is undefined.",
        &["score", "definition", "value"],
        &[
            score("accuracy", "(TP + TN) / all", prediction.accuracy),
            score("precision", "TP / (TP + FP)", prediction.precision),
            score("recall", "TP / (TP + FN)", prediction.recall),
            score("F1", "2 TP / (2 TP + FP + FN)", prediction.f1),
        ],
    );
    let labels = &report.labels;
    page.table(
        "Packets by what became of them at LQD.",
        &["outcome", "packets"],
        &[
            vec![Cell::text("all"), Cell::Count(Some(labels.rows))],
            vec![Cell::text("dropped"), Cell::Count(Some(labels.drops))],
            vec![
                Cell::text("of these pushed out after acceptance"),
                Cell::Count(labels.pushed_out),
            ],
            vec![Cell::text("of these rejected on arrival"), Cell::Count(labels.rejected)],
        ],
    );
    page.html.push_str("</div>\n");
}

fn thresholds(page: &mut Body, report: &Report) -> Result<(), PlotError> {
    page.section("thresholds", "Other vote thresholds");
    let own = report.prediction.f1;
    if let Some(best) = report.curve.best_f1.filter(|best| own.is_none_or(|own| own < best.f1)) {
        page.paragraph(&format!(
            "The highest F1 on these packets is {}, at vote threshold {}. It was found with these \
             packets' labels; a model may only use its training data's.",
            numbers::ratio(best.f1, 4),
            best.vote_threshold
        ));
    } else if own.is_some() {
        page.paragraph("No other vote threshold has a higher F1 on these packets.");
    }
    page.html.push_str("<div class=\"figures\">\n");
    page.figure(
        &figures::precision_recall(report).to_svg(PAGE)?,
        &format!(
            "Each point is a vote threshold. Up and to the right is better: more of the drops \
             found, with fewer false alarms. Average precision, the area under the steps, is {}.",
            numbers::optional(report.curve.average_precision, 4)
        ),
    );
    page.figure(
        &figures::by_threshold(report).to_svg(PAGE)?,
        "Further right, fewer drops are predicted: recall falls, precision mostly rises. The \
         dotted line is the model's own threshold; F1 that is flat around it means that the \
         choice matters little.",
    );
    page.html.push_str("</div>\n");
    Ok(())
}

fn no_replays(page: &mut Body, report: &Report) {
    page.section("eta", "Error \u{3B7} and throughput");
    let reason = report.replay_omitted.as_deref().unwrap_or("no reason was given");
    page.warning(&format!("Not replayed, because {reason}."));
}

fn replays(page: &mut Body, replay: &ReplaySection) -> Result<(), PlotError> {
    page.section("eta", "Error \u{3B7}");
    page.paragraph(
        "\u{3B7} is what push-out LQD transmits divided by what FollowLQD transmits of the \
         arrivals without those predicted to be dropped (Credence paper, Definition 1). 1 is \
         perfect. It is counted in a replay in continuous time with packets of any size, where \
         the paper's model has slots and unit packets; the bound is that of its Theorem 2.",
    );
    let eta = &replay.total.eta;
    page.table(
        "The error of the predictions, all switches together.",
        &["", "\u{3B7}", "1/\u{3B7}", "LQD", "FollowLQD without predicted drops"],
        &[
            vec![
                Cell::text("exact, packets"),
                Cell::Ratio(eta.packets, 4),
                Cell::Ratio(eta.packets_inverse, 4),
                Cell::Count(Some(eta.lqd.packets)),
                Cell::Count(Some(eta.follow_lqd.packets)),
            ],
            vec![
                Cell::text("exact, bytes"),
                Cell::Ratio(eta.bytes, 4),
                Cell::Ratio(eta.bytes_inverse, 4),
                Cell::Count(Some(eta.lqd.bytes)),
                Cell::Count(Some(eta.follow_lqd.bytes)),
            ],
            vec![
                Cell::text("upper bound from the counts, packets"),
                Cell::Ratio(eta.bound, 4),
                Cell::Ratio(eta.bound_inverse, 4),
                Cell::text(""),
                Cell::text(""),
            ],
        ],
    );
    let agreement = &replay.total.lqd_agreement;
    page.table(
        "How far the replay's own LQD drops what the labels say. They differ where labels were \
         made with observed departures.",
        &["", "both drop", "only the label", "only the replay", "neither", "share alike", "F1"],
        &[vec![
            Cell::text("packets"),
            Cell::Count(Some(agreement.confusion.tp)),
            Cell::Count(Some(agreement.confusion.fn_)),
            Cell::Count(Some(agreement.confusion.fp)),
            Cell::Count(Some(agreement.confusion.tn)),
            Cell::Ratio(agreement.share, 6),
            Cell::Ratio(agreement.f1, 4),
        ]],
    );
    throughput(page, replay)
}

fn throughput(page: &mut Body, replay: &ReplaySection) -> Result<(), PlotError> {
    page.section("throughput", "Throughput by policy");
    page.figure(
        &figures::throughput(&replay.total.policies).to_svg(PAGE)?,
        &format!(
            "The same arrivals through every policy. A bar is what the policy loses against \
             push-out LQD, so no bar means as good; a bar to the left, better. Credence asks this \
             model; Dynamic Thresholds has \u{3B1} = {}.",
            replay.dynamic_thresholds_alpha
        ),
    );
    page.html.push_str(&policies("All switches together.", &replay.total));
    if let [only] = replay.switches.as_slice() {
        page.paragraph(&format!(
            "There is one switch, number {}, with {} ports.",
            only.switch_id, only.ports
        ));
        return Ok(());
    }
    for switch in &replay.switches {
        let name = format!(
            "Trace {}, switch {} ({} ports): \u{3B7} {} in packets, bound {}.",
            switch.trace + 1,
            switch.switch_id,
            switch.ports,
            numbers::optional(switch.results.eta.packets, 4),
            numbers::optional(switch.results.eta.bound, 4)
        );
        page.html.push_str(&policies(&name, &switch.results));
    }
    Ok(())
}

fn policies(caption: &str, results: &ReplayTotals) -> String {
    let rows: Vec<Vec<Cell>> = results
        .policies
        .iter()
        .map(|policy| {
            vec![
                Cell::text(policy.policy.name()),
                Cell::Count(Some(policy.sent.packets)),
                Cell::Ratio(policy.packets_to_lqd, 5),
                Cell::Count(Some(policy.sent.bytes)),
                Cell::Ratio(policy.bytes_to_lqd, 5),
            ]
        })
        .collect();
    let arrived = results.arrived;
    let caption = format!(
        "{caption} {} packets, {} bytes arrived.",
        numbers::count(arrived.packets),
        numbers::count(arrived.bytes)
    );
    table(&caption, &["policy", "packets sent", "of LQD's", "bytes sent", "of LQD's"], &rows)
}

fn scores(page: &mut Body, report: &Report) -> Result<(), PlotError> {
    page.section("scores", "Scores");
    page.figure(
        &figures::scores(report).to_svg(PAGE)?,
        "How the forest scores packets of each class, each class by itself, on a logarithmic \
         scale. Drops right of the vote threshold and transmitted packets left of it are predicted \
         rightly. A range of scores that no packet of a class got has no point.",
    );
    Ok(())
}

fn features(page: &mut Body, report: &Report) -> Result<(), PlotError> {
    page.section("features", "Features");
    page.html.push_str("<div class=\"figures\">\n");
    for feature in &report.features {
        let about = feature.definition.as_deref().unwrap_or("a feature of the trace");
        page.figure(
            &figures::feature(feature).to_svg(PAGE)?,
            &format!(
                "{}. The height of a line is the share of packets with at most this value. \
                 Lines far apart mean that the feature tells drops from others.",
                figures::capitalised(about)
            ),
        );
    }
    page.html.push_str("</div>\n");
    let rows: Vec<Vec<Cell>> = report
        .features
        .iter()
        .flat_map(|feature| {
            [("transmitted", &feature.transmitted), ("dropped", &feature.dropped)].map(
                |(label, values)| {
                    let count = |value: Option<u32>| Cell::Count(value.map(u64::from));
                    vec![
                        Cell::text(format!("{}, {label}", feature.name)),
                        count(values.min),
                        Cell::Ratio(values.mean, 1),
                        count(values.p50),
                        count(values.p90),
                        count(values.p99),
                        count(values.max),
                    ]
                },
            )
        })
        .collect();
    page.table(
        "Features on arrival, by what LQD did. Percentiles are rounded up by at most 1/64.",
        &["feature, packets", "least", "mean", "half", "90 %", "99 %", "most"],
        &rows,
    );
    Ok(())
}

fn provenance(page: &mut Body, report: &Report) {
    page.section("provenance", "Where this comes from");
    let model = &report.model;
    page.paragraph(&format!(
        "Written by {}. The forest has {} trees, {} splits deep, over {}.",
        report.tool,
        model.trees,
        model.depth,
        model.features.join(", ")
    ));
    let hash = |sha256: &Option<String>| Cell::text(sha256.clone().unwrap_or_default());
    let mut rows = vec![vec![
        Cell::text(model.name.clone().unwrap_or_else(|| "model".to_owned())),
        hash(&model.sha256),
        Cell::text("model"),
    ]];
    rows.extend(report.traces.iter().map(|trace| {
        let collect = trace.meta.collect.map_or_else(String::new, |collect| {
            format!(", {} departures, {} victim", collect.departures, collect.victim)
        });
        let rows = numbers::count(trace.rows);
        vec![
            Cell::text(trace.name.clone()),
            hash(&trace.input.as_ref().map(|input| input.sha256.clone())),
            Cell::text(format!("{rows} rows{collect}")),
        ]
    }));
    page.table("Files, with the SHA-256 of their bytes.", &["file", "SHA-256", "what"], &rows);
    page.paragraph(
        "All numbers of this page are in the JSON inside it, element \u{201C}report\u{201D}; \
         docs/report.md explains each.",
    );
    page.html.push_str("</main>\n");
}
