//! Policies written as expressions.

use crate::log::{Moment, Watched, try_random};
use crate::traffic::{accepted, run, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_switch::{Policy, PolicySite, PolicySpec};
use proptest::prelude::*;

fn build(text: &str, spec: &SwitchSpec) -> Box<dyn Policy + Send> {
    let policy: PolicySpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
    policy.build(PolicySite::new(spec, 1)).expect("valid")
}

/// Policies by expressions, and the same ones in Rust.
const SAME: [[&str; 2]; 6] = [
    ["expression", "dt:alpha=0.5"],
    ["expression:accept=queue < alpha * (buffer - occupancy),alpha=2", "dt:alpha=2"],
    [
        "expression:accept=queue < if(class == 0, 8, if(class == 1, a, 1)) * free,a=4",
        "dt:alpha=[8,4,1]",
    ],
    [
        "expression:accept=0 <= size and not (free < size or false_one > 0),false_one=0",
        "complete-sharing",
    ],
    ["expression:accept=(queue + size) * ports * queues <= buffer", "complete-partitioning"],
    ["expression:accept=queue < if(first_rtt, 64, 0.5) * free", "fab:first_alpha=64"],
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn decides_as_the_same_policy_in_rust((spec, mut arrivals) in switch_and_arrivals()) {
        // FAB goes by the flag only where it knows no flow.
        arrivals.iter_mut().for_each(|(_, packet)| packet.flow_hash = 0);
        for [expression, policy] in SAME {
            let [one, other] = [expression, policy]
                .map(|text| accepted(&spec, &arrivals, build(text, &spec)));
            prop_assert_eq!(one, other, "{}", expression);
        }
    }

    #[test]
    fn no_text_panics(text in "([a-z<>=+*/%().,0-9 _-]|queue|free|min\\(|if\\(|not |é){0,40}") {
        let _ = format!("expression:accept={text}").parse::<PolicySpec>();
        let _ = text.parse::<PolicySpec>();
    }
}

/// A number or a comparison, as a tree.
#[derive(Clone, Debug)]
enum Tree {
    Number(u16),
    Name(usize),
    Of(&'static str, Vec<Tree>),
}

const NAMES: [&str; 15] = [
    "queue",
    "occupancy",
    "buffer",
    "free",
    "size",
    "longest",
    "active",
    "port_bytes",
    "port_active",
    "ports",
    "queues",
    "port",
    "class",
    "rate_bps",
    "base_rtt_ns",
];

/// By adding up the log.
fn value_of(name: &str, moment: &Moment<'_>, spec: &SwitchSpec) -> f64 {
    let (lengths, per_port) =
        (moment.lengths_after(moment.log.len()), usize::from(spec.queues_per_port));
    let own = moment.packet.queue;
    let port = own / per_port;
    let sum = |lengths: &[u32]| f64::from(lengths.iter().sum::<u32>());
    let mut with_packet = lengths.clone();
    with_packet[own] += moment.packet.size_bytes;
    let held = |lengths: &[u32]| lengths.iter().filter(|&&bytes| bytes > 0).count() as f64;
    let of_port = port * per_port..(port + 1) * per_port;
    match name {
        "queue" => f64::from(lengths[own]),
        "occupancy" => sum(&lengths),
        "buffer" => f64::from(spec.buffer_bytes),
        "free" => f64::from(spec.buffer_bytes) - sum(&lengths),
        "size" => f64::from(moment.packet.size_bytes),
        "longest" => lengths.iter().copied().max().map_or(0.0, f64::from),
        "active" => held(&with_packet),
        "port_bytes" => sum(&lengths[of_port]),
        "port_active" => held(&with_packet[of_port]),
        "ports" => spec.line_rate_bps.len() as f64,
        "queues" => per_port as f64,
        "port" => port as f64,
        "class" => (own % per_port) as f64,
        "rate_bps" => spec.line_rate_bps[port] as f64,
        "base_rtt_ns" => spec.base_rtt_ns as f64,
        other => panic!("{other}"),
    }
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Number(number) => number.to_string(),
            Tree::Name(name) => NAMES[*name].to_owned(),
            Tree::Of(of, values) => {
                let values: Vec<String> = values.iter().map(Tree::text).collect();
                match (*of, &values[..]) {
                    ("-", [value]) => format!("(-{value})"),
                    ("not", [value]) => format!("(not {value})"),
                    (of, [left, right]) if !["min", "max"].contains(&of) => {
                        format!("({left} {of} {right})")
                    }
                    (of, _) => format!("{of}({})", values.join(", ")),
                }
            }
        }
    }

    fn value(&self, moment: &Moment<'_>, spec: &SwitchSpec) -> f64 {
        let (of, values) = match self {
            Tree::Number(number) => return f64::from(*number),
            Tree::Name(name) => return value_of(NAMES[*name], moment, spec),
            Tree::Of(of, values) => (*of, values),
        };
        let values: Vec<f64> = values.iter().map(|tree| tree.value(moment, spec)).collect();
        let truth = |holds: bool| f64::from(u8::from(holds));
        match (of, &values[..]) {
            ("-", &[value]) => -value,
            ("sqrt", &[value]) => value.sqrt(),
            ("abs", &[value]) => value.abs(),
            ("floor", &[value]) => value.floor(),
            ("not", &[value]) => truth(value == 0.0),
            ("+", &[left, right]) => left + right,
            ("-", &[left, right]) => left - right,
            ("*", &[left, right]) => left * right,
            ("/", &[left, right]) => left / right,
            ("%", &[left, right]) => left % right,
            ("min", &[left, right]) => {
                if left < right {
                    left
                } else {
                    right
                }
            }
            ("max", &[left, right]) => {
                if left > right {
                    left
                } else {
                    right
                }
            }
            ("<", &[left, right]) => truth(left < right),
            (">=", &[left, right]) => truth(left >= right),
            ("!=", &[left, right]) => truth(left != right),
            ("and", &[left, right]) => truth(left == 1.0 && right == 1.0),
            ("or", &[left, right]) => truth(left == 1.0 || right == 1.0),
            ("if", &[condition, one, other]) => {
                if condition == 1.0 {
                    one
                } else {
                    other
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

fn numbers() -> impl Strategy<Value = Tree> {
    let leaf =
        prop_oneof![(0_u16..30_000).prop_map(Tree::Number), (0..NAMES.len()).prop_map(Tree::Name)];
    leaf.prop_recursive(4, 24, 2, |tree| {
        let one = prop::sample::select(vec!["-", "sqrt", "abs", "floor"]);
        let two = prop::sample::select(vec!["+", "-", "*", "/", "%", "min", "max"]);
        let compared =
            (tree.clone(), tree.clone()).prop_map(|(one, other)| Tree::Of("<", vec![one, other]));
        prop_oneof![
            (one, tree.clone()).prop_map(|(of, tree)| Tree::Of(of, vec![tree])),
            (two, tree.clone(), tree.clone())
                .prop_map(|(of, one, two)| Tree::Of(of, vec![one, two])),
            (compared, tree.clone(), tree)
                .prop_map(|(of, one, two)| Tree::Of("if", vec![of, one, two])),
        ]
    })
}

fn truths() -> impl Strategy<Value = Tree> {
    let compare = prop::sample::select(vec!["<", ">=", "!="]);
    let leaf =
        (compare, numbers(), numbers()).prop_map(|(of, one, two)| Tree::Of(of, vec![one, two]));
    leaf.prop_recursive(3, 8, 2, |tree| {
        let two = prop::sample::select(vec!["and", "or"]);
        prop_oneof![
            tree.clone().prop_map(|tree| Tree::Of("not", vec![tree])),
            (two, tree.clone(), tree).prop_map(|(of, one, two)| Tree::Of(of, vec![one, two])),
        ]
    })
}

#[test]
fn random_expressions_mean_what_their_trees_do() {
    try_random(400, (switch_and_arrivals(), truths()), |((spec, arrivals), tree)| {
        let policy = build(&format!("expression:accept={}", tree.text()), &spec);
        let expected = |moment: &Moment<'_>| {
            moment.buffer.fits(moment.packet.size_bytes) && tree.value(moment, &spec) == 1.0
        };
        run(&spec, &arrivals, Watched::new(policy, expected)).policy().counts
    });
}

#[test]
fn operators_bind_as_usual() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 1_000_000, 20_000);
    let arrivals = vec![(0, dropcast_switch::Packet::new(0, 0, 100))];
    let check = |text: &str, holds: bool| {
        let policy = build(&format!("expression:accept={text}"), &spec);
        assert_eq!(accepted(&spec, &arrivals, policy), [holds], "{text}");
    };
    check("2 + 3 * 4 == 14 and 10 - 3 - 2 == 5 and 100 / 10 / 2 == 5", true);
    check("-2 * -3 == 6 and - - 2 == 2 and 2 - -1 == 3 and 7 % 4 * 2 == 6", true);
    check("1 < 0 and 1 < 0 or 1 > 0", true);
    check("not 1 < 0 and 1 < 0", false);
    check("not not 1 > 0", true);
    check(".5 + 5e-1 == 1 and 1e3 == 1000 and 2.5E+1 == 25", true);
    check("max(1, 5, 3) == 5 and min(4, 2, 3) == 2 and floor(-1.5) == -2 and abs(-3) == 3", true);
    // Undefined: accepted neither way.
    check("sqrt(-1) > 0 or sqrt(-1) <= 0 or 0 / 0 == 0 / 0", false);
    check("queue < 1 / 0", true);
}

#[test]
fn constants_are_parameters() {
    let text = "expression:accept=queue < min(alpha / sqrt(active), 4) * free,alpha=0.5";
    let policy: PolicySpec = text.parse().expect("valid");
    assert_eq!(policy.to_string(), text);
    let table =
        "name = 'expression'\naccept = 'queue < min(alpha / sqrt(active), 4) * free'\nalpha = 0.5";
    assert_eq!(toml::from_str(table), Ok(policy.clone()));
    assert_eq!(toml::from_str(&toml::to_string(&policy).expect("a table")), Ok(policy));
    let base = "reserve:base=expression:accept=queue < 2 * free";
    assert_eq!(base.parse::<PolicySpec>().expect("valid").to_string(), base);
    let table =
        "name = 'oracle'\nbase = { name = 'expression', accept = 'queue < a * free', a = 3 }";
    let policy: PolicySpec = toml::from_str(table).expect("valid");
    assert_eq!(policy.to_string().parse(), Ok(policy));
}

#[test]
fn mistakes_are_reported_with_their_place_when_the_text_is_read() {
    let check = |text: &str, says: &str| {
        let text = format!("expression:accept={text}");
        let error = text.parse::<PolicySpec>().expect_err(&text).to_string();
        assert!(error.contains(&format!("accept: {says}")), "{error}");
    };
    check("queue < alhpa * free,alpha=1", "column 9: unknown name \"alhpa\"; did you mean alpha?");
    check("é", "column 1: a value is expected, not \"é\"");
    check("ocupancy < 3", "column 1: unknown name \"ocupancy\"; did you mean occupancy?");
    check("xyzzy < 3", "column 1: unknown name \"xyzzy\"; known are queue, occupancy, buffer");
    check("squrt(4) < 3", "column 1: unknown function \"squrt\"; did you mean sqrt?");
    check("queue(4) < 3", "column 1: unknown function \"queue\"; known are sqrt");
    check("sqrt < 3", "column 6: ( is expected, sqrt is a function");
    check("queue", "column 1: what accepts is a number, expected a comparison");
    check("0 < queue < free", "column 1: the left of < is true or false, expected a number");
    check("first_rtt + 1 < 2", "column 1: the left of + is true or false");
    check("queue < (free > 1)", "column 9: the right of < is true or false");
    check("not queue", "column 5: what follows not is a number");
    check("-first_rtt", "column 2: what follows - is true or false");
    check("queue = 1", "column 7: \"=\" is not expected here");
    check("queue < ", "column 8: a value is expected, the text ends");
    check("queue < (free", "column 14: ) is expected for column 9, the text ends");
    check("queue < 1.2.3", "column 9: \"1.2.3\" is no number");
    check("queue < 1e999", "column 9: \"1e999\" is no number");
    check("queue < 12MB", "column 9: \"12MB\" is no number");
    check("min(1) < 2", "column 1: min has 1 values, expected two values or more");
    check("sqrt(1, 2) < 2", "column 1: sqrt has 2 values, expected one value");
    check("if(1, 2, 3) < 2", "column 4: the condition of if is a number");
    check("if(first_rtt, 2) < 2", "column 1: if has 2 values, expected three values");
    check("if(first_rtt, 2, 1 < 2) < 2", "column 18: the last value of if is true or false");
    check("queue < free,queue=1", "\"queue\" cannot be a constant; known are queue");
    check("queue < free,and=1", "\"and\" cannot be a constant");
    check("queue < free,alpha=1", "alpha is given, but the expression does not name it");
    check("queue < alpha,alpha=inf", "alpha is inf, expected a finite number");
    check(&"(".repeat(1_000), "column 65: is nested deeper than 64");
    let error = "expression:acept=queue < free".parse::<PolicySpec>().expect_err("misspelt");
    let says = "constant: acept is \"queue < free\", expected a number; the text is accept=...";
    assert!(error.to_string().contains(says), "{error}");
}
