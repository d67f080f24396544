//! The colours of series and pages, seen with every kind of sight.

use super::*;

/// How red-, green- and blue-blind people see linear light (Machado, Oliveira and Fernandes, "A
/// physiologically-based model for simulation of color vision deficiency", 2009, severity 1).
const SIGHTS: [(&str, [[f64; 3]; 3]); 4] = [
    ("full", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// Where red, green and blue of linear light are in CIE L*a*b* (D65).
fn lab([r, g, b]: [f64; 3]) -> [f64; 3] {
    let x = 0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b;
    let y = 0.212_672_9 * r + 0.715_152_2 * g + 0.072_175_0 * b;
    let z = 0.019_333_9 * r + 0.119_192_0 * g + 0.950_304_1 * b;
    let f = |t: f64| {
        if t > 216.0 / 24_389.0 { t.cbrt() } else { (24_389.0 / 27.0 * t + 16.0) / 116.0 }
    };
    let (x, y, z) = (f(x / 0.950_47), f(y), f(z / 1.088_83));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn seen(colour: Rgb, sight: &[[f64; 3]; 3]) -> [f64; 3] {
    let light = linear(colour);
    let see = |row: &[f64; 3]| row.iter().zip(light).map(|(a, b)| a * b).sum::<f64>();
    lab([see(&sight[0]), see(&sight[1]), see(&sight[2])].map(|part| part.clamp(0.0, 1.0)))
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn hex(text: &str) -> Rgb {
    let part = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    Rgb(part(1), part(3), part(5))
}

/// The value of a custom property in the light (first) or dark (second) part of the style.
fn style(name: &str, place: usize) -> Rgb {
    let css = include_str!("../../html/page.css");
    let values: Vec<&str> = css.split(&format!("{name}: ")).skip(1).collect();
    hex(&values[place][..7])
}

#[test]
fn a_ruler_of_colours_is_right() {
    // White, black and a difference of CIE 76 worked out elsewhere.
    assert!((contrast(Rgb(255, 255, 255), Rgb(0, 0, 0)) - 21.0).abs() < 1e-9);
    let [l, a, b] = lab(linear(Rgb(255, 0, 0)));
    assert!((l - 53.24).abs() < 0.01 && (a - 80.09).abs() < 0.02 && (b - 67.20).abs() < 0.02);
}

#[test]
fn series_are_distinguishable_with_every_kind_of_sight() {
    for (name, sight) in &SIGHTS {
        for (at, &a) in COLOURS.iter().enumerate() {
            for &b in &COLOURS[at + 1..] {
                let apart = distance(seen(a, sight), seen(b, sight));
                // 2.3 is what can just be seen side by side.
                assert!(apart >= 15.0, "{a:?} and {b:?} are {apart:.1} apart in {name} sight");
            }
        }
    }
}

#[test]
fn series_differ_without_colour_too() {
    let looks: Vec<_> = (0..18).map(|at| (look(at).dash, look(at).marker)).collect();
    for (at, one) in looks.iter().enumerate() {
        assert!(!looks[..at].contains(one), "series {at} has the dash and marker of another");
    }
}

#[test]
fn eight_series_have_colours_of_their_own_and_the_next_eight_other_dashes() {
    for at in 0..8 {
        assert!((0..at).all(|other| look(other).colour != look(at).colour), "{at}");
        assert_ne!(look(at).dash, look(at + 8).dash, "{at}");
    }
}

#[test]
fn series_and_bars_stand_out_from_the_page() {
    for place in [0, 1] {
        let paper = style("--paper", place);
        for colour in COLOURS {
            let stands_out = contrast(colour, paper);
            assert!(stands_out >= 3.0, "{colour:?} on {paper:?}: {stands_out:.2}");
        }
    }
}

#[test]
fn text_can_be_read() {
    for place in [0, 1] {
        for ink in ["--ink", "--faint", "--link"] {
            for ground in ["--paper", "--tint", "--warn"] {
                let of = contrast(style(ink, place), style(ground, place));
                assert!(of >= 4.5, "{ink} on {ground} ({place}): {of:.2}");
            }
        }
    }
    for step in 0..=100 {
        let tile = ramp(f64::from(step) / 100.0);
        assert!(contrast(on_tile(tile), tile) >= 4.5, "letters on {tile:?}");
    }
}

#[test]
fn deeper_tiles_are_darker_in_every_kind_of_sight() {
    for (name, sight) in &SIGHTS {
        let light: Vec<f64> =
            (0..=20).map(|at| seen(ramp(f64::from(at) / 20.0), sight)[0]).collect();
        assert!(light.windows(2).all(|pair| pair[1] < pair[0] - 0.5), "{name}: {light:?}");
    }
}
