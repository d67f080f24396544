//! The ticks of an axis and their texts.

use super::figure::{Axis, AxisScale, Clock};
use super::svg::{TEXT, WIDTH_UNITS, width};
use crate::numbers;
use dropcast_pipeline::wall_clock::utc;

/// Ticks of a horizontal axis, about, at most.
const MOST_ACROSS: usize = 8;
/// A horizontal axis is at least about this long, units.
const ROOM_ACROSS: i32 = WIDTH_UNITS * 4 / 5;
/// Texts of ticks are apart at least so much, units.
const APART: i32 = TEXT / 2;

/// An axis ready to draw: positions are in drawing units, the logarithm on a logarithmic scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ruler {
    pub(super) scale: AxisScale,
    /// The factor applied to values before layout.
    pub(super) factor: f64,
    /// Ends, drawing units; `low < high`.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Ticks in ascending order, drawing units, each with its text.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Ruler {
    /// The ruler of `axis` for these values, with about `most` ticks at most.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, most: usize) -> Self {
        let factor = axis.unit.factor();
        let (low, high) = axis.range.unwrap_or_else(|| extent(axis.scale, values));
        let (low, high) = (low * factor, high * factor);
        let ruler = match (axis.scale, &axis.clock) {
            (AxisScale::Linear, Some(clock)) => by_clock(clock, low, high, most),
            (AxisScale::Linear, None) => linear(axis, low, high, most),
            (AxisScale::Log2 | AxisScale::Log10, _) => logarithmic(axis.scale, low, high, most),
        };
        let ruler = Ruler { factor, ..ruler };
        if axis.has_zero && axis.scale != AxisScale::Linear { ruler.with_zero() } else { ruler }
    }

    /// The same with a place for 0 below the lowest value. What is not positive is held there.
    fn with_zero(mut self) -> Self {
        self.low -= 1.0;
        self.ticks.insert(0, (self.low, "0".to_owned()));
        self
    }

    /// The ruler of a horizontal axis: as many ticks as have room for their texts.
    pub(super) fn across(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let ruler = |most| Ruler::new(axis, values.iter().copied(), most);
        (1..MOST_ACROSS)
            .rev()
            .map(ruler)
            .fold(ruler(MOST_ACROSS), |most, fewer| if most.texts_fit() { most } else { fewer })
    }

    /// Whether texts below their ticks stay apart.
    fn texts_fit(&self) -> bool {
        let ends = self.ticks.iter().map(|(place, text)| {
            let (middle, half) = (self.position(*place, 0, ROOM_ACROSS), width(text, TEXT) / 2);
            (middle - half, middle + half)
        });
        let ends: Vec<(i32, i32)> = ends.collect();
        ends.windows(2).all(|pair| pair[0].1 + APART <= pair[1].0)
    }

    /// Evenly from `low` to `high`, without ticks.
    pub(super) fn bare(low: f64, high: f64) -> Self {
        Ruler { scale: AxisScale::Linear, factor: 1.0, low, high, ticks: Vec::new() }
    }

    /// A place of width 1 for each name, which stands at its middle.
    pub(super) fn named(names: &[String]) -> Self {
        let ticks = names.iter().enumerate().map(|(at, name)| (at as f64 + 0.5, name.clone()));
        Ruler { ticks: ticks.collect(), ..Ruler::bare(0.0, names.len().max(1) as f64) }
    }

    /// A value in drawing units, held within the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        self.anywhere(value).clamp(self.low, self.high)
    }

    /// Whether a value lies above the upper end.
    pub(super) fn is_above(&self, value: f64) -> bool {
        self.anywhere(value) > self.high + 1e-9 * (self.high - self.low)
    }

    fn anywhere(&self, value: f64) -> f64 {
        let value = value * self.factor;
        match self.scale {
            AxisScale::Linear => value,
            AxisScale::Log2 => value.max(f64::MIN_POSITIVE).log2(),
            AxisScale::Log10 => value.max(f64::MIN_POSITIVE).log10(),
        }
    }

    /// Where a value in drawing units is on a line from `from` (the low end) to `to`.
    pub(super) fn position(&self, place: f64, from: i32, to: i32) -> i32 {
        let share = (place - self.low) / (self.high - self.low);
        from + (share * f64::from(to - from)).round() as i32
    }
}

/// Lowest and highest value that the scale can show, kept apart.
fn extent(scale: AxisScale, values: impl Iterator<Item = f64>) -> (f64, f64) {
    let shown = values.filter(|v| v.is_finite() && (scale == AxisScale::Linear || *v > 0.0));
    let (low, high) =
        shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    match () {
        () if low > high => (0.0, 1.0),
        () if low == high && low == 0.0 => (0.0, 1.0),
        () if low == high => (low.min(0.0), high.max(0.0)),
        () => (low, high),
    }
}

fn linear(axis: &Axis, low: f64, high: f64, most: usize) -> Ruler {
    let grow = axis.range.is_none();
    let step = nice_step((high - low) / most.max(1) as f64);
    let step = if axis.whole { step.ceil() } else { step };
    let (mut first, mut last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    let (mut low, mut high) = (low, high);
    if grow {
        (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
        (low, high) = (first as f64 * step, last as f64 * step);
    }
    let decimals = decimals(step);
    let ticks = (first..=last).map(|k| {
        let place = (k as f64 * step).clamp(low, high);
        (place, grouped(place, decimals))
    });
    Ruler { scale: AxisScale::Linear, factor: 1.0, low, high, ticks: ticks.collect() }
}

/// Seconds between ticks of a clock.
const CLOCK_STEPS_S: [u64; 17] =
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 86_400];

/// Ticks at round times of day. Values end where the data ends.
fn by_clock(clock: &Clock, low: f64, high: f64, most: usize) -> Ruler {
    let second_ns = 1_000_000_000;
    let long_ns = (high - low) * clock.unit_ns;
    let fits = |step_s: &&u64| long_ns / (**step_s * second_ns) as f64 <= most.max(1) as f64;
    let step_s = CLOCK_STEPS_S.iter().find(fits).unwrap_or(&86_400);
    let step_ns = step_s * second_ns;
    // As if the clock showed UTC.
    let first_ns = clock.offset.as_utc_ns(clock.begin_ns) as f64 + low * clock.unit_ns;
    let first = (first_ns / step_ns as f64).ceil() as u64;
    let times_ns = (first..).map(|k| k * step_ns);
    let ticks = times_ns.map_while(|time_ns| {
        let place = low + (time_ns as f64 - first_ns) / clock.unit_ns;
        let (date, time) = utc(time_ns);
        let text = match step_s {
            86_400 => date,
            60.. => time[..5].to_owned(),
            _ => time[..8].to_owned(),
        };
        (place <= high).then_some((place, text))
    });
    Ruler { ticks: ticks.collect(), ..Ruler::bare(low, high) }
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `least`.
fn nice_step(least: f64) -> f64 {
    let least = if least.is_finite() && least > 0.0 { least } else { 1.0 };
    let power = 10f64.powi(least.log10().floor() as i32);
    let slack = 1.0 - 1e-9;
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * slack)
        .unwrap_or(10.0 * power)
}

/// Decimals needed to distinguish multiples of `step`.
fn decimals(step: f64) -> usize {
    (0..12)
        .find(|&digits| {
            let scaled = step * 10f64.powi(digits as i32);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        })
        .unwrap_or(12)
}

/// A number with commas between thousands.
pub(super) fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    if value < 0.0 && text.chars().any(|c| c.is_ascii_digit() && c != '0') {
        out.push('\u{2212}');
    }
    out.push_str(&numbers::grouped(whole));
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn logarithmic(scale: AxisScale, low: f64, high: f64, most: usize) -> Ruler {
    let log = |v: f64| if scale == AxisScale::Log2 { v.log2() } else { v.log10() };
    let low = log(if low > 0.0 { low } else { 1.0 });
    let high = log(if high > 0.0 { high } else { 1.0 }).max(low);
    let (first, last) = ((low + 1e-9).floor() as i32, (high - 1e-9).ceil() as i32);
    let last = last.max(first + 1);
    let every = usize::try_from(last - first).unwrap_or(1).div_ceil(most.max(1)).max(1);
    let every = i32::try_from(every).unwrap_or(i32::MAX);
    let ticks = (first..=last)
        .filter(|power| power.rem_euclid(every) == 0)
        .map(|power| (f64::from(power), power_text(scale, power)));
    let (low, high) = (f64::from(first), f64::from(last));
    Ruler { scale, factor: 1.0, low, high, ticks: ticks.collect() }
}

fn power_text(scale: AxisScale, power: i32) -> String {
    let base: f64 = if scale == AxisScale::Log2 { 2.0 } else { 10.0 };
    let value = base.powi(power);
    if (0.001..100_000.0).contains(&value) {
        let decimals = (0..10).find(|&d| (value * 10f64.powi(d)).fract() == 0.0).unwrap_or(3);
        return grouped(value, decimals as usize);
    }
    let digits = power.to_string();
    let raised = digits.chars().map(|c| match c {
        '-' => '\u{207B}',
        '1' => '\u{B9}',
        '2' => '\u{B2}',
        '3' => '\u{B3}',
        c => char::from_u32(0x2070 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
    });
    format!("{base}{}", raised.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, values: &[f64]) -> Vec<String> {
        let ruler = Ruler::new(axis, values.iter().copied(), 6);
        ruler.ticks.iter().map(|tick| tick.1.clone()).collect()
    }

    #[test]
    fn a_clock_has_ticks_at_round_times() {
        // 2026-11-24 13:05:07.5 UTC.
        let begin_ns = 1_795_525_507_500_000_000;
        let ticks = |offset: &str, unit_ns: f64, high: f64| {
            let offset = offset.parse().expect("an offset");
            let axis = Axis::new("").clock(Clock { begin_ns, unit_ns, offset });
            let ruler = Ruler::new(&axis, [0.0, high].into_iter(), MOST_ACROSS);
            assert_eq!((ruler.low, ruler.high), (0.0, high));
            ruler.ticks
        };
        let tick = |place: f64, text: &str| (place, text.to_owned());
        let of_20_s = ticks("+00:00", 1e6, 20_000.0);
        let places = [(2_500.0, "13:05:10"), (7_500.0, "13:05:15"), (12_500.0, "13:05:20")];
        assert_eq!(of_20_s[..3], places.map(|(place, text)| tick(place, text)));
        assert_eq!(ticks("+05:30", 1e9, 20.0)[0], tick(2.5, "18:35:10"));
        assert_eq!(ticks("-01:00", 1e9, 7_200.0)[0], tick(592.5, "12:15"));
        assert_eq!(ticks("+00:00", 1e9, 1e6)[0].1, "2026-11-25");
    }

    #[test]
    fn linear_ticks_are_round_numbers() {
        let unit = Axis::new("").range(0.0, 1.0);
        assert_eq!(texts(&unit, &[]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let axis = Axis::new("");
        assert_eq!(
            texts(&axis, &[0.0, 1_052_672.0]),
            ["0", "200,000", "400,000", "600,000", "800,000", "1,000,000", "1,200,000"]
        );
        assert_eq!(texts(&axis, &[1.0, 1.1]), ["1.00", "1.02", "1.04", "1.06", "1.08", "1.10"]);
        assert_eq!(
            texts(&axis, &[-0.1, 0.1]),
            ["\u{2212}0.10", "\u{2212}0.05", "0.00", "0.05", "0.10"]
        );
        assert_eq!(texts(&axis, &[5.0, 5.0]), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(texts(&axis, &[f64::NAN]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&axis.whole(), &[2.0, 6.0]), ["2", "3", "4", "5", "6"]);
    }

    #[test]
    fn texts_of_a_horizontal_axis_stay_apart() {
        let axis = Axis::new("Time, ms");
        for high in [1.0, 700.0, 8e6, 86_400_000.0, 3.2e12, 1e15] {
            let ruler = Ruler::across(&axis, [0.0, high].into_iter());
            assert!(ruler.ticks.len() >= 2 && ruler.texts_fit(), "{:?}", ruler.ticks);
        }
        let ruler = Ruler::new(&axis, [0.0, 8e6].into_iter(), MOST_ACROSS);
        assert!(!ruler.texts_fit(), "9 numbers of 9 characters have no room: {:?}", ruler.ticks);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        let axis = Axis::new("").scale(AxisScale::Log2);
        assert_eq!(texts(&axis, &[1.0, 32.0]), ["1", "2", "4", "8", "16", "32"]);
        let axis = Axis::new("").scale(AxisScale::Log10);
        assert_eq!(texts(&axis, &[0.0, 1.0, 2e6]), ["1", "100", "10,000", "10\u{2076}"]);
        assert_eq!(texts(&axis, &[0.02, 0.5]), ["0.01", "0.1", "1"]);
    }

    #[test]
    fn zero_has_a_place_of_its_own() {
        let axis = Axis::new("").scale(AxisScale::Log10).with_zero();
        let ruler = Ruler::new(&axis, [0.0, 0.001, 0.1].into_iter(), 6);
        assert_eq!(
            ruler.ticks.iter().map(|tick| &*tick.1).collect::<Vec<_>>(),
            ["0", "0.001", "0.01", "0.1"]
        );
        assert_eq!((ruler.place(0.0), ruler.place(0.001)), (-4.0, -3.0));
        assert_eq!(texts(&Axis::new("").with_zero(), &[0.0, 1.0])[0], "0.0");
    }

    #[test]
    fn values_beyond_the_ends_are_held() {
        let ruler = Ruler::new(&Axis::new("").scale(AxisScale::Log10), [1.0, 100.0].into_iter(), 6);
        assert_eq!((ruler.place(0.0), ruler.place(10.0), ruler.place(1e9)), (0.0, 1.0, 2.0));
        assert!(ruler.is_above(1e9) && !ruler.is_above(100.0));
    }
}
