//! The error of the predictions.

use super::body::Body;
use super::table::Cell;
use dropcast_measure::{ReplaySection, Report};

/// Why eta is unknown.
pub(super) fn omitted(page: &mut Body, report: &Report) {
    page.heading("Error \u{3B7}");
    let reason = report.replay_omitted.as_deref().unwrap_or("no reason was given");
    page.warning(&format!("Not replayed, because {reason}."));
}

pub(super) fn write(page: &mut Body, replay: &ReplaySection) {
    page.heading("Error \u{3B7}");
    page.paragraph(
        "\u{3B7} is what push-out LQD transmits divided by what FollowLQD transmits of the \
         arrivals without those predicted to be dropped (Credence paper, Definition 1). Right \
         predictions have 1; wrong ones can have 1, too, or less. It is counted in a replay in \
         continuous time with packets of any size, where the paper's model has slots and unit \
         packets. \u{3B7} can exceed the formula of its Theorem 2.",
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
                Cell::text("Theorem 2's formula, packets"),
                Cell::Ratio(eta.bound, 4),
                Cell::Ratio(eta.bound_inverse, 4),
                Cell::text(""),
                Cell::text(""),
            ],
        ],
    );
    let agreement = &replay.total.lqd_agreement;
    page.table(
        "Drops of the replay's own LQD against the labels. They differ if the labels were made \
         with observed departures.",
        &[
            "",
            "both drop",
            "only the label",
            "only the replay",
            "neither",
            "share that agrees",
            "F1",
        ],
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
}
