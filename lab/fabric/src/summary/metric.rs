//! The metrics of a run: the one table of their names, words, units and directions.
//!
//! A new metric is a field of [`RunSummary`] and a row here; everything that names, prints, draws,
//! compares or optimizes metrics reads this table. `lab/notes/fabric.md` lists them, held to it by a
//! test.

use super::bootstrap::Interval;
use super::flow_kind::FlowKind;
use super::percentiles::Percentiles;
use super::run_summary::{ClassSummary, RunSummary};
use super::size_buckets::{SizeBucket, SizeBuckets};
use crate::fabric::FabricDropReason;
use crate::transport::Transport;
use Better::{Less, More, Neither};
use MetricUnit::{BitsPerSecond, Count, Nanoseconds, Ratio, Share};

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// A count.
    Count,
    /// A share, 0 to 1.
    Share,
    /// A ratio of times.
    Ratio,
    /// Bits per second.
    BitsPerSecond,
    /// Gbit/s.
    GigabitsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Packets.
    Packets,
}

impl MetricUnit {
    /// As pages write it.
    pub fn name(self) -> &'static str {
        match self {
            MetricUnit::Count => "count",
            MetricUnit::Share => "share",
            MetricUnit::Ratio => "ratio",
            MetricUnit::BitsPerSecond => "bit/s",
            MetricUnit::GigabitsPerSecond => "Gbit/s",
            MetricUnit::Nanoseconds => "ns",
            MetricUnit::Microseconds => "us",
            MetricUnit::Packets => "packets",
        }
    }
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Smaller is better.
    Less,
    /// Larger is better.
    More,
    /// Neither: it says how much there was.
    Neither,
}

/// What a number of a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name: `incast_slowdown_p95`.
    pub name: String,
    /// Its name in words, without the unit: `p95 slowdown of incast flows`.
    pub words: String,
    /// Its unit.
    pub unit: MetricUnit,
    /// Which way it is better.
    pub better: Better,
    /// The class of flows that it is of, or its whole name.
    pub subject: String,
}

/// A row of the table: name, words, unit, direction, and the number.
struct Row<T: 'static> {
    name: &'static str,
    words: &'static str,
    unit: MetricUnit,
    better: Better,
    value: fn(&T) -> Option<f64>,
}

const fn row<T>(
    (name, words): (&'static str, &'static str),
    unit: MetricUnit,
    better: Better,
    value: fn(&T) -> Option<f64>,
) -> Row<T> {
    Row { name, words, unit, better, value }
}

/// Of a class: the name follows that of the class, `FLOWS` are its flows in words.
const OF_CLASS: [Row<ClassSummary>; 10] = [
    row(("flows", "FLOWS"), Count, Neither, |of| Some(of.flows as f64)),
    row(("completed", "completed FLOWS"), Count, Neither, |of| Some(of.completed as f64)),
    row(("slowdown_p50", "p50 slowdown of FLOWS"), Ratio, Less, |of| p50(of.slowdown)),
    row(("slowdown_p95", "p95 slowdown of FLOWS"), Ratio, Less, |of| p95(of.slowdown)),
    row(("slowdown_p99", "p99 slowdown of FLOWS"), Ratio, Less, |of| p99(of.slowdown)),
    row(("slowdown_mean", "mean slowdown of FLOWS"), Ratio, Less, |of| mean(of.slowdown)),
    row(("over_10_ms", "share of FLOWS of 10 ms or more"), Share, Less, |of| of.over_10_ms),
    row(("over_20_ms", "share of FLOWS of 20 ms or more"), Share, Less, |of| of.over_20_ms),
    row(("timeouts", "timeouts of FLOWS"), Count, Less, |of| Some(of.timeouts as f64)),
    row(("retransmissions", "retransmissions of FLOWS"), Count, Less, |of| {
        Some(of.retransmissions as f64)
    }),
];

/// Of a bucket of sizes, beside those of a class.
const OF_BUCKET: [Row<Option<Percentiles>>; 4] = [
    row(("fct_ns_p50", "p50 completion time of FLOWS"), Nanoseconds, Less, |of| p50(*of)),
    row(("fct_ns_p95", "p95 completion time of FLOWS"), Nanoseconds, Less, |of| p95(*of)),
    row(("fct_ns_p99", "p99 completion time of FLOWS"), Nanoseconds, Less, |of| p99(*of)),
    row(("fct_ns_mean", "mean completion time of FLOWS"), Nanoseconds, Less, |of| mean(*of)),
];

/// Of the whole run.
const OF_RUN: [Row<RunSummary>; 16] = [
    row(("leaf_occupancy_p50", "p50 occupancy of a leaf's buffer"), Share, Less, |of| {
        p50(of.leaf_occupancy)
    }),
    row(("leaf_occupancy_p95", "p95 occupancy of a leaf's buffer"), Share, Less, |of| {
        p95(of.leaf_occupancy)
    }),
    row(("leaf_occupancy_p99", "p99 occupancy of a leaf's buffer"), Share, Less, |of| {
        p99(of.leaf_occupancy)
    }),
    row(("leaf_occupancy_mean", "mean occupancy of a leaf's buffer"), Share, Less, |of| {
        mean(of.leaf_occupancy)
    }),
    row(("leaf_occupancy_p9999", "p99.99 occupancy of a leaf's buffer"), Share, Less, |of| {
        of.leaf_occupancy_p9999
    }),
    row(("drops_full", "drops full"), Count, Less, |of| drops(of, FabricDropReason::Full)),
    row(("drops_policy", "drops policy"), Count, Less, |of| drops(of, FabricDropReason::Policy)),
    row(("drops_push-out", "drops push-out"), Count, Less, |of| {
        drops(of, FabricDropReason::PushOut)
    }),
    row(("drops_aqm", "drops aqm"), Count, Less, |of| drops(of, FabricDropReason::Aqm)),
    row(("drop_share", "drop share"), Share, Less, |of| of.drop_share),
    row(("goodput_bps", "goodput"), BitsPerSecond, More, |of| of.goodput_bps),
    row(("goodput_while_starting_bps", "goodput while flows start"), BitsPerSecond, More, |of| {
        of.goodput_while_starting_bps
    }),
    row(("innocent_drops", "innocent drops"), Count, Less, |of| Some(of.innocents.drops as f64)),
    row(("innocent_share_of_drops", "innocent share of drops"), Share, Less, |of| {
        of.innocents.share_of_drops
    }),
    row(("innocent_timeouts", "timeouts of innocent short flows"), Count, Less, |of| {
        Some(of.innocents.timeouts as f64)
    }),
    row(("innocent_timed_out", "innocent timed out"), Share, Less, |of| of.innocents.timed_out),
];

/// What innocents are.
const INNOCENT: &str = "innocent";

fn p50(of: Option<Percentiles>) -> Option<f64> {
    of.map(|all| all.p50)
}

fn p95(of: Option<Percentiles>) -> Option<f64> {
    of.map(|all| all.p95)
}

fn p99(of: Option<Percentiles>) -> Option<f64> {
    of.map(|all| all.p99)
}

fn mean(of: Option<Percentiles>) -> Option<f64> {
    of.map(|all| all.mean)
}

fn drops(of: &RunSummary, reason: FabricDropReason) -> Option<f64> {
    of.drops.get(&reason).map(|&count| count as f64)
}

impl<T> Row<T> {
    /// The metric of flows with this name, called so in words.
    fn of_flows(&self, name: &str, flows: &str, subject: &str) -> Metric {
        Metric {
            name: format!("{name}_{}", self.name),
            words: self.words.replace("FLOWS", flows),
            unit: self.unit,
            better: self.better,
            subject: subject.to_owned(),
        }
    }
}

impl Row<RunSummary> {
    fn of_run(&self) -> Metric {
        Metric {
            name: self.name.to_owned(),
            words: self.words.to_owned(),
            unit: self.unit,
            better: self.better,
            subject: match self.name.split('_').next() {
                Some(INNOCENT) => FlowKind::Short.name().to_owned(),
                _ => self.name.to_owned(),
            },
        }
    }
}

/// The classes of a summary, in their order.
const CLASSES: [&str; 6] = ["incast", "short", "middle", "long", "single", "collective"];

impl Metric {
    /// Those of every run, in the order of [`RunSummary::metrics`].
    pub fn all() -> Vec<Metric> {
        Metric::of_classes("", "").chain(OF_RUN.iter().map(Row::of_run)).collect()
    }

    /// One of [`Metric::all`], or of a bucket of sizes.
    pub fn named(name: &str) -> Option<Metric> {
        let of_class = |class: &'static str| {
            let rest = name.strip_prefix(class)?.strip_prefix('_')?;
            let row = OF_CLASS.iter().find(|row| row.name == rest)?;
            Some(row.of_flows(class, &format!("{class} flows"), class))
        };
        let of_run = || OF_RUN.iter().find(|row| row.name == name).map(Row::of_run);
        let of_bucket = || {
            let (sizes, _) = name.split_once("-bytes_")?;
            let bucket = SizeBucket::named(&format!("{sizes}-bytes"))?;
            Metric::of_bucket(&bucket).into_iter().find(|metric| metric.name == name)
        };
        CLASSES.into_iter().find_map(of_class).or_else(of_run).or_else(of_bucket)
    }

    /// Those of the classes of one transport's flows: `cubic_short_slowdown_p99`.
    pub fn of_transport(transport: Transport) -> Vec<Metric> {
        let name = transport.name();
        Metric::of_classes(&format!("{name}_"), &format!("{name} ")).collect()
    }

    /// Those of buckets of sizes: `10001-100000-bytes_slowdown_p99`.
    pub fn of_buckets(buckets: &SizeBuckets) -> Vec<Metric> {
        buckets.all().iter().flat_map(Metric::of_bucket).collect()
    }

    fn of_bucket(bucket: &SizeBucket) -> Vec<Metric> {
        let (name, words) = (bucket.name(), bucket.words());
        let of_class = OF_CLASS.iter().map(|row| row.of_flows(&name, &words, &name));
        let of_times = OF_BUCKET.iter().map(|row| row.of_flows(&name, &words, &name));
        of_class.chain(of_times).collect()
    }

    fn of_classes(prefix: &str, words: &str) -> impl Iterator<Item = Metric> {
        CLASSES.into_iter().flat_map(move |class| {
            let (name, flows) = (format!("{prefix}{class}"), format!("{words}{class} flows"));
            OF_CLASS.iter().map(move |row| row.of_flows(&name, &flows, class))
        })
    }
}

impl RunSummary {
    /// Every number by name, in a fixed order; `None` if undefined.
    pub fn metrics(&self) -> Vec<(String, Option<f64>)> {
        let classes =
            [&self.incast, &self.short, &self.middle, &self.long, &self.single, &self.collective];
        let mut metrics = Vec::new();
        for (class, summary) in CLASSES.into_iter().zip(classes) {
            add(&mut metrics, class, &OF_CLASS, summary);
        }
        metrics.extend(OF_RUN.iter().map(|row| (row.name.to_owned(), (row.value)(self))));
        for bucket in &self.size_buckets {
            let name = bucket.bytes.name();
            add(&mut metrics, &name, &OF_CLASS, &bucket.class);
            add(&mut metrics, &name, &OF_BUCKET, &bucket.fct_ns);
        }
        metrics
    }

    /// Every number by name over runs with different seeds, with its 95% interval
    /// ([`Interval::bootstrap`]). Runs in which a number is undefined are left out.
    pub fn over_seeds(runs: &[RunSummary], seed: u64) -> Vec<(String, Option<Interval>)> {
        let runs: Vec<_> = runs.iter().map(RunSummary::metrics).collect();
        let Some(first) = runs.first() else { return Vec::new() };
        let interval = |nth: usize| {
            let values: Vec<f64> = runs.iter().filter_map(|run| run[nth].1).collect();
            Interval::bootstrap(&values, seed)
        };
        first.iter().enumerate().map(|(nth, (name, _))| (name.clone(), interval(nth))).collect()
    }
}

fn add<T>(metrics: &mut Vec<(String, Option<f64>)>, name: &str, rows: &[Row<T>], of: &T) {
    metrics.extend(rows.iter().map(|row| (format!("{name}_{}", row.name), (row.value)(of))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn metrics_have_words_and_units() {
        let described = |name: &str| {
            let Metric { words, unit, better, subject, .. } = Metric::named(name).expect(name);
            (words, unit.name(), better, subject)
        };
        let expected = |words: &str, unit, better, subject: &str| {
            (words.to_owned(), unit, better, subject.to_owned())
        };
        assert_eq!(
            described("incast_slowdown_p95"),
            expected("p95 slowdown of incast flows", "ratio", Less, "incast")
        );
        assert_eq!(
            described("innocent_timeouts"),
            expected("timeouts of innocent short flows", "count", Less, "short")
        );
        assert_eq!(described("goodput_bps"), expected("goodput", "bit/s", More, "goodput_bps"));
        assert_eq!(described("long_flows"), expected("long flows", "count", Neither, "long"));
        assert_eq!(Metric::named("slowdown"), None);
        let cubic = Metric::of_transport(Transport::Cubic);
        let metric = cubic.iter().find(|metric| metric.name == "cubic_short_slowdown_p99");
        assert_eq!(metric.expect("a class").words, "p99 slowdown of cubic short flows");
    }

    #[test]
    fn every_number_of_a_run_is_in_the_table() {
        for metric in Metric::all() {
            assert_eq!(Metric::named(&metric.name).as_ref(), Some(&metric));
        }
        let named = |metrics: Vec<Metric>| metrics.into_iter().map(|metric| metric.name);
        let buckets = SizeBuckets::new(&[10]).expect("ascending");
        for metric in Metric::of_buckets(&buckets) {
            assert_eq!(Metric::named(&metric.name).as_ref(), Some(&metric));
        }
        let size_buckets = buckets.all().iter().map(|&bytes| crate::BucketSummary {
            bytes,
            class: ClassSummary::default(),
            fct_ns: None,
        });
        let run = RunSummary { size_buckets: size_buckets.collect(), ..RunSummary::default() };
        let names: Vec<String> = run.metrics().into_iter().map(|(name, _)| name).collect();
        let expected = named(Metric::all()).chain(named(Metric::of_buckets(&buckets)));
        assert_eq!(names, expected.collect::<Vec<_>>());
    }

    /// The rows of a table of a page, as (name, unit, direction): `CLASS` is each class, `_p95` replaces the end of the name
    /// before.
    #[test]
    fn the_page_lists_every_metric() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../notes/fabric.md");
        let page = std::fs::read_to_string(path).expect("the page");
        let table = page.split("| metric | unit | better |").nth(1).expect("a table");
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let mut listed = BTreeSet::new();
        for line in rows {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, names, unit, better, ..] = cells[..] else { panic!("{line}") };
            let mut last = String::new();
            for name in names.split(", ").map(|name| name.trim_matches('`')) {
                if let Some((start, _)) = last.rsplit_once('_').filter(|_| name.starts_with('_')) {
                    last = format!("{start}{name}");
                } else {
                    last = name.to_owned();
                }
                for class in CLASSES {
                    let name = last.replace("CLASS", class);
                    listed.insert((name, unit.to_owned(), better.to_owned()));
                }
            }
        }
        let better = |better| match better {
            Less => "less",
            More => "more",
            Neither => "",
        };
        let own = Metric::all().into_iter().map(|metric| {
            (metric.name, metric.unit.name().to_owned(), better(metric.better).to_owned())
        });
        let own: BTreeSet<_> = own.collect();
        let differ: Vec<_> = own.symmetric_difference(&listed).collect();
        assert!(differ.is_empty(), "lab/notes/fabric.md or the table lacks {differ:?}");
    }
}
