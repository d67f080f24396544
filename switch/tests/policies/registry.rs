//! Policies and AQMs by name.

use crate::traffic::switch_and_arrivals;
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::aqm::Aqm;
use dropcast_switch::policies::ndt::{NdtNetwork, NetworkShape};
use dropcast_switch::{
    AlwaysAccept, AqmSite, AqmSpec, Fit, LineRate, ModelKind, NoObserver, Policy, PolicyModel,
    PolicySite, PolicySpec, Switch,
};
use proptest::prelude::*;
use serde::Deserialize;

/// A part of a configuration.
#[derive(Debug, Deserialize)]
struct Config {
    policy: PolicySpec,
    aqm: AqmSpec,
}

fn spec() -> SwitchSpec {
    SwitchSpec::uniform(4, 8_000_000_000, 100_000, 20_000)
}

fn site<'a>(spec: &'a SwitchSpec, name: &str) -> PolicySite<'a> {
    let network = NdtNetwork::neutral(NetworkShape::default()).expect("valid");
    let model = (name == "ndt").then_some(PolicyModel::Network(network));
    PolicySite { model, ..PolicySite::new(spec, 1) }
}

#[test]
fn every_name_is_read_written_and_built() {
    for name in PolicySpec::NAMES {
        let policy: PolicySpec = name.parse().expect("a name");
        assert_eq!(policy.name(), *name);
        let text = toml::to_string(&policy).expect("a table");
        assert_eq!(toml::from_str::<PolicySpec>(&text).expect("own output"), policy);
        assert_eq!(policy.model(), None);
        assert!(policy.build(site(&spec(), name)).is_ok(), "{name}");
    }
    for name in AqmSpec::NAMES {
        let aqm: AqmSpec = name.parse().expect("a name");
        assert_eq!(aqm.name(), *name);
        let text = toml::to_string(&aqm).expect("a table");
        assert_eq!(toml::from_str::<AqmSpec>(&text).expect("own output"), aqm);
        assert!(aqm.build(AqmSite { spec: &spec(), seed: 1 }).is_ok(), "{name}");
    }
}

/// A parameter that a policy does not have is refused, its name among them.
#[test]
fn unknown_parameters_are_refused() {
    let settings = ["nonsense=1", "name=complete-sharing", "name = dt", "label=x"];
    for setting in settings {
        for name in PolicySpec::NAMES {
            let text = format!("{name}:{setting}");
            let refused = text.parse::<PolicySpec>().expect_err("unknown").to_string();
            let word = setting.split_once('=').expect("a setting").0.trim();
            assert!(refused.contains(word), "{refused}");
            let table = format!("name = '{name}'\nnonsense = 1");
            assert!(toml::from_str::<PolicySpec>(&table).is_err(), "{table}");
        }
        for name in AqmSpec::NAMES {
            let text = format!("{name}:{setting}");
            assert!(text.parse::<AqmSpec>().is_err(), "{text}");
            let table = format!("name = '{name}'\nnonsense = 1");
            assert!(toml::from_str::<AqmSpec>(&table).is_err(), "{table}");
        }
    }
}

#[test]
fn texts_and_tables_say_the_same() {
    let read = |text: &str| toml::from_str::<Config>(text).expect("valid");
    let texts =
        read("policy = 'abm:alpha=[64,0.5],first_rtt_alpha=1024,counting=artifact'\naqm = 'ecn'");
    let tables = read(
        "aqm = { name = 'ecn' }
        [policy]
        name = 'abm'
        alpha = [64, 0.5]
        first_rtt_alpha = 1024
        counting = 'artifact'",
    );
    assert_eq!(texts.policy, tables.policy);
    assert_eq!(texts.aqm, tables.aqm);
    let text = toml::to_string(&texts.policy).expect("a table");
    assert!(
        text.contains("alpha = [64.0, 0.5]") && text.contains("counting = \"artifact\""),
        "{text}"
    );
    let credence: PolicySpec =
        "credence:model=models/leaf.dct,features=real-queues,flip_probability=0.01,fallback=true,\
         slack_bytes=1500"
            .parse()
            .expect("valid");
    assert_eq!(credence.model(), Some("models/leaf.dct"));
    for text in [
        "payback-credence:model=leaf.json,flip_probability=0.5",
        "follow-max:model=leaf.json,flip_probability=0.5,harmonic_share=0.5",
    ] {
        let policy: PolicySpec = text.parse().expect("valid");
        assert_eq!(policy.model_kind(), Some(ModelKind::Oracle));
        assert_eq!(policy.model(), Some("leaf.json"));
        let table = toml::to_string(&policy).expect("a table");
        assert!(table.contains("flip_probability = 0.5"), "{table}");
        let spec = spec();
        let model = Some(PolicyModel::Predictor(Box::new(AlwaysAccept)));
        assert!(policy.build(PolicySite { model, ..PolicySite::new(&spec, 1) }).is_ok());
    }
    let over: PolicySpec = "oracle:base=dt:alpha=8,model=leaf.json".parse().expect("valid");
    let table = "[policy]\nname = 'oracle'\nmodel = 'leaf.json'\nbase = { name = 'dt', alpha = 8 }";
    assert_eq!(over, read(&format!("aqm = 'none'\n{table}")).policy);
    assert_eq!(over.model(), Some("leaf.json"));
    let text = toml::to_string(&credence).expect("a table");
    assert!(text.contains("fallback = true") && text.contains("slack_bytes = 1500"), "{text}");
}

#[test]
fn a_text_is_written_as_it_is_read() {
    for name in PolicySpec::NAMES {
        let policy: PolicySpec = name.parse().expect("a name");
        assert_eq!(policy.to_string().parse(), Ok(policy), "{name}");
    }
    for text in [
        "follow-lqd",
        "lqd",
        "lqd:end=head",
        "dt:alpha=16",
        "dt:alpha=[64,0.5]",
        "oracle:base=dt:alpha=16",
        "oracle:base=complete-sharing",
        "oracle:base=dt:alpha=[64,16],model=leaf.json",
        "credence:fallback=true,features=real-queues,flip_probability=0.01,model=a/leaf.dct",
        "abm:alpha=[64,0.5],counting=artifact,first_rtt_alpha=1024",
        "dt:alpha=0.5",
        "occamy",
        "harmonic",
    ] {
        let policy: PolicySpec = text.parse().expect("valid");
        assert_eq!(policy.to_string(), text);
    }
    // Two settings of a base would end where the first does.
    let table = "name = 'oracle'\nbase = { name = 'abm', alpha = [64, 8], first_rtt_alpha = 3.5 }";
    let policy: PolicySpec = toml::from_str(table).expect("valid");
    assert_eq!(policy.to_string().parse(), Ok(policy));
}

#[test]
fn a_model_is_given_to_policies_that_can_have_one() {
    for name in PolicySpec::NAMES {
        let policy: PolicySpec = name.parse().expect("a name");
        let with = policy.clone().with_model("leaf.json");
        assert_eq!(with.model(), policy.model_kind().map(|_| "leaf.json"), "{name}");
    }
}

#[test]
fn mistakes_are_named() {
    let check = |text: &str, says: &str| {
        let error = text.parse::<PolicySpec>().expect_err("has a mistake").to_string();
        assert!(error.contains(says) && error.contains(text), "{error:?} should say {says:?}");
    };
    check("lqdd", "unknown variant `lqdd`; did you mean `lqd`?");
    check("queue", "unknown variant `queue`, expected one of `lqd`, `follow-lqd`");
    check("abm:alhpa=1", "unknown field `alhpa`; did you mean `alpha`?");
    check("lqd:alpha=1", "unknown field `alpha`");
    check("abm:alpha", "\"alpha\" is not key=value");
    check("dt:alpha=1, alpha=2", "alpha is given twice");
    check("dt:alpha=-1", "alpha: -1 is not a positive number");
    check("dt:alpha=[]", "alpha: the list is empty");
    check(
        "credence:features=real",
        "unknown variant `real`, expected `virtual-lqd` or `real-queues`",
    );

    let check = |text: &str, says: &str| {
        let policy: PolicySpec = text.parse().expect("readable");
        let error = policy.build(PolicySite::new(&spec(), 1)).err().expect("a mistake").to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    check("ndt", "ndt: no model is given, expected the name of a file with a network");
    check("credence:model=a.dct", "credence: no model is given");
    check("oracle:model=a.dct", "oracle: no model is given");
    check("payback-credence:model=a.dct", "payback-credence: no model is given");
    check("payback-credence:flip_probability=-1", "flip_probability: expected 0 to 1");
    check("follow-max:model=a.dct", "follow-max: no model is given");
    check("follow-max:flip_probability=nan", "flip_probability: expected 0 to 1");
    for share in ["0", "1", "-0.5", "nan"] {
        check(&format!("follow-max:harmonic_share={share}"), "expected a number between 0 and 1");
    }
    check("oracle:base=oracle", "base: oracle asks an oracle of its own");
    check(
        "oracle:base={name=\"credence\",model=\"a.dct\"}",
        "base: credence asks an oracle of its own",
    );
    check("oracle:features=virtual-lqd", "features: virtual-lqd, but the untrained rule is of");
    check("credence:features=real-queues,fallback=true", "fallback: is of predictions with");
    check("oracle:base=lqd", "base: lqd pushes packets out");
    check("oracle:horizon_ns=0", "horizon_ns: is 0");
    check("credence:flip_probability=1.5", "flip_probability: expected 0 to 1");
    check("abm:update_ns=0,counting=artifact", "update_ns: is 0");
    check("fab:flows=1000", "flows: is 1000, expected a power of two");
    check("edt:burst_bytes=0", "burst_bytes: is 0");
    check("smartbuf:beta=1", "beta: expected a number between 0 and 1");

    let check = |text: &str, says: &str| {
        let aqm: AqmSpec = text.parse().expect("readable");
        let spec = spec();
        let error =
            aqm.build(AqmSite { spec: &spec, seed: 1 }).err().expect("a mistake").to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    check("red:min_bytes=300000", "min_bytes: is 300000, more than max_bytes, 200000");
    check("red:max_probability=2", "max_probability: expected 0 to 1");
    check("pred:lambda_min=0", "lambda_min: expected a positive number");
    check("pred:max_bytes=10000", "max_bytes: expected more than min_bytes and left_bytes");
}

/// Credence uses its predictor, flipped or not.
#[test]
fn credence_takes_its_predictor() {
    let credence: PolicySpec = "credence:model=a.dct,flip_probability=0.5".parse().expect("valid");
    let spec = spec();
    let model = Some(PolicyModel::Predictor(Box::new(AlwaysAccept)));
    assert!(credence.build(PolicySite { model, ..PolicySite::new(&spec, 1) }).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With every policy, the buffer never overflows, and the same seed decides the same.
    #[test]
    fn every_policy_keeps_to_the_buffer_and_its_seed((spec, arrivals) in switch_and_arrivals()) {
        for name in PolicySpec::NAMES {
            let parameters = match *name {
                "credence" => ":flip_probability=0.3,fallback=true",
                "payback-credence" | "follow-max" => ":flip_probability=0.3",
                _ => "",
            };
            let policy: PolicySpec = format!("{name}{parameters}").parse().expect("a name");
            let decide = || -> Vec<bool> {
                let policy = policy.build(site(&spec, name)).expect("valid");
                let mut switch = Switch::new(&spec, Fit::Exact, policy, LineRate::new(&spec));
                let admit = |(now, packet): &(u64, dropcast_switch::Packet)| {
                    switch.advance(*now, &mut NoObserver);
                    let accepted = switch.admit(packet, *now, &mut NoObserver);
                    assert!(switch.buffer().occupancy_bytes() <= spec.buffer_bytes);
                    accepted
                };
                arrivals.iter().map(admit).collect()
            };
            prop_assert_eq!(decide(), decide(), "{}", name);
        }
    }
}

/// Policies are `Send`: switches of one simulation may run on several threads.
#[test]
fn what_is_built_is_send() {
    fn is_send(_: impl Send) {}
    let spec = spec();
    let policy: Box<dyn Policy + Send> = PolicySpec::NAMES[0]
        .parse::<PolicySpec>()
        .expect("a name")
        .build(site(&spec, "lqd"))
        .expect("valid");
    let aqm: Box<dyn Aqm + Send> = "pred"
        .parse::<AqmSpec>()
        .expect("a name")
        .build(AqmSite { spec: &spec, seed: 1 })
        .expect("valid");
    is_send((policy, aqm));
}
