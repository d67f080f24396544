use super::*;

/// Full-buffer bursts, one every `gap` slots, that spill over slots of `N` packets.
fn bursts(ports: u16, buffer_packets: u32, gap: usize, bursts: u64) -> Fig14Case {
    let per_slot = usize::from(ports);
    let mut slots: Vec<Vec<u16>> = Vec::new();
    let mut waiting: Vec<u16> = Vec::new();
    for burst in 0..bursts {
        let port = (mix(burst) % u64::from(ports)) as u16;
        waiting.extend(std::iter::repeat_n(port, buffer_packets as usize));
        for _ in 0..gap {
            let rest = waiting.split_off(per_slot.min(waiting.len()));
            slots.push(std::mem::replace(&mut waiting, rest));
        }
    }
    Fig14Case { ports, buffer_packets, bursts_per_slot: 1.0 / gap as f64, slots }
}

fn small() -> Fig14Case {
    bursts(8, 40, 10, 200)
}

#[test]
fn without_flips_credence_is_lqd() {
    let figure = measure(&small(), &Fig14Options::default()).expect("valid");
    assert!(figure.lqd_transmitted < figure.arrived, "LQD drops some");
    let row = &figure.rows[0];
    let credence = Fig14Algorithm::Policy("credence".parse().expect("a policy"));
    assert_eq!((row.flip_probability, &row.algorithm), (0.0, &credence));
    assert_eq!(row.ratio, Some(MeanAndRange { mean: 1.0, min: 1.0, max: 1.0 }));
    assert_eq!(row.transmitted.mean, figure.lqd_transmitted as f64);
}

#[test]
fn flips_cost_credence_and_nobody_else() {
    let figure = measure(&small(), &Fig14Options::default()).expect("valid");
    assert_eq!(figure.rows.len(), 8 * FLIP_PROBABILITIES.len());
    let (first, last) = (&figure.rows[..8], &figure.rows[80..]);
    let mean = |row: &Fig14Row| row.ratio.expect("some transmitted").mean;
    assert!(mean(&last[0]) > 1.2, "{}", mean(&last[0]));
    // The others with predictions, too.
    for predicted in [4, 5] {
        assert!(mean(&last[predicted]) > mean(&first[predicted]), "{predicted}");
    }
    // Paying back keeps Lemma 1: without flips it transmits at least what LQD does. FollowMax does not.
    assert!(first[4].transmitted.mean >= figure.lqd_transmitted as f64);
    assert!(first[5].transmitted.mean < figure.lqd_transmitted as f64);
    for other in [1, 2, 3, 6] {
        assert_eq!(first[other].transmitted, last[other].transmitted);
        assert!(mean(&first[other]) > 1.0);
    }
}

#[test]
fn nobody_transmits_more_than_opt() {
    let figure = measure(&small(), &Fig14Options::default()).expect("valid");
    let is_optimum = |row: &&Fig14Row| row.algorithm == Fig14Algorithm::Optimum;
    let optima: Vec<&Fig14Row> = figure.rows.iter().filter(is_optimum).collect();
    assert_eq!(optima.len(), FLIP_PROBABILITIES.len());
    let most = optima[0].transmitted.max;
    assert!(figure.rows.iter().all(|row| row.transmitted.max <= most));
    assert!(most >= figure.lqd_transmitted as f64 && most <= figure.arrived as f64);
    assert_eq!(
        optima[0].ratio.expect("some transmitted").mean,
        figure.lqd_transmitted as f64 / most
    );
}

#[test]
fn any_policy_of_the_registry_is_a_row() {
    let policies = ["edt", "dt", "dt:alpha=[8,1]", "oracle:base=dt:alpha=8"];
    let policies = policies.map(|name| name.parse().expect("a policy")).to_vec();
    let options = Fig14Options { policies, flip_probabilities: vec![0.0], ..Default::default() };
    let figure = measure(&small(), &options).expect("valid");
    let names: Vec<String> = figure.rows.iter().map(|row| row.algorithm.to_string()).collect();
    assert_eq!(names, ["EDT", "Dynamic Thresholds", "DT with alpha 8, 1", "Oracle", "OPT"]);
}

#[test]
fn a_seed_is_a_figure() {
    let of = |seed| measure(&small(), &Fig14Options { seed, ..Fig14Options::default() });
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_sweep_says_up_to_where_credence_beats_dt() {
    let rows = sweep([small()], &Fig14Options::default()).expect("valid");
    let row = &rows[0];
    assert_eq!((row.ports, row.buffer_packets), (8, 40));
    let figure = measure(&small(), &Fig14Options::default()).expect("valid");
    let dt = figure.rows[1].transmitted.mean;
    let wins = figure.rows.iter().step_by(8).take_while(|row| row.transmitted.mean > dt);
    assert_eq!(row.beats_dt_up_to, wins.last().map(|row| row.flip_probability));
    assert_eq!(row.beats_dt_at_0_7, Some(figure.rows[56].transmitted.mean > dt));
    assert!(row.credence_ratio_at_1 > row.credence_ratio_at_0_7);
}

#[test]
fn nothing_arrives() {
    let case = Fig14Case { slots: vec![vec![]; 3], ..small() };
    let figure = measure(&case, &Fig14Options::default()).expect("valid");
    assert!(figure.rows.iter().all(|row| row.ratio.is_none()));
    assert_eq!(figure.against_dynamic_thresholds(&case).lqd_drop_share, None);
}

#[test]
fn mistakes_are_named() {
    let check = |case: Fig14Case, change: fn(&mut Fig14Options), says: &str| {
        let mut options = Fig14Options::default();
        change(&mut options);
        let error = measure(&case, &options).expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    check(small(), |o| o.flip_probabilities.push(1.5), "flip probability 1.5");
    check(small(), |o| o.repetitions = 0, "repetitions is 0");
    let no_model = |o: &mut Fig14Options| o.policies.push("ndt:model=n".parse().expect("a policy"));
    check(small(), no_model, "ndt");
    check(Fig14Case { ports: 0, ..small() }, |_| (), "ports is 0");
    let slots = vec![vec![0], vec![8]];
    check(Fig14Case { slots, ..small() }, |_| (), "slot 1 has a packet for port 8");
}
