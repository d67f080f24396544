//! Colours, dashes and markers that are distinguishable without colour vision and in grey print.

use std::fmt;

/// Red, green and blue (sRGB).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(u8, u8, u8);

/// As SVG and CSS write it.
impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rgb(r, g, b) = self;
        write!(f, "#{r:02X}{g:02X}{b:02X}")
    }
}

/// The four of Okabe and Ito's colours ("Color Universal Design", 2008) that stand out by 3:1 both
/// from white and from the dark page (WCAG 2.2, 1.4.11), and four that stay apart from them.
const COLOURS: [Rgb; 8] = [
    Rgb(0x00, 0x72, 0xB2),
    Rgb(0xD5, 0x5E, 0x00),
    Rgb(0x00, 0x9E, 0x73),
    Rgb(0xCC, 0x79, 0xA7),
    Rgb(0x6C, 0x3C, 0xFC),
    Rgb(0xFC, 0x18, 0x54),
    Rgb(0x6C, 0x6C, 0x3C),
    Rgb(0xFC, 0x30, 0xE4),
];

/// Lengths of dash and gap; none for a solid line.
const DASHES: [Option<(i32, i32)>; 4] = [None, Some((18, 10)), Some((6, 8)), Some((34, 8))];

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Disc,
    Square,
    Triangle,
    Diamond,
    Cross,
}

const MARKERS: [Marker; 5] =
    [Marker::Disc, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];

/// How one series looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) colour: Rgb,
    pub(super) dash: Option<(i32, i32)>,
    pub(super) marker: Marker,
}

/// The colour of the series with this number, as CSS writes it.
pub(crate) fn colour(series: usize) -> String {
    look(series).colour.to_string()
}

/// The look of the series with this number. Colours that come back have other dashes and markers: none comes back within 40
/// series.
pub(super) fn look(series: usize) -> Look {
    let shifted = series + series / COLOURS.len();
    Look {
        colour: COLOURS[series % COLOURS.len()],
        dash: DASHES[shifted % DASHES.len()],
        marker: MARKERS[shifted % MARKERS.len()],
    }
}

/// The colours of tiles from the lowest value to the highest: one hue from pale to dark, so that
/// it is the same order in every kind of sight and in grey. Below 0, to -1, another hue.
pub(super) fn ramp(depth: f64) -> Rgb {
    const STOPS: [[f64; 3]; 3] = [[234.0, 242.0, 249.0], [62.0, 141.0, 196.0], [9.0, 44.0, 84.0]];
    const BELOW: [[f64; 3]; 3] = [[253.0, 240.0, 228.0], [230.0, 145.0, 56.0], [140.0, 62.0, 4.0]];
    let stops = if depth < 0.0 { BELOW } else { STOPS };
    let along = depth.abs().min(1.0) * 2.0;
    let first = (along as usize).min(1);
    let mix = |part: usize| {
        let (from, to) = (stops[first][part], stops[first + 1][part]);
        (from + (to - from) * (along - first as f64)).round() as u8
    };
    Rgb(mix(0), mix(1), mix(2))
}

/// Letters on a tile: black or white, whichever has more contrast, on light and dark pages.
pub(super) fn on_tile(fill: Rgb) -> Rgb {
    const CANDIDATES: [Rgb; 2] = [Rgb(0, 0, 0), Rgb(255, 255, 255)];
    let [dark, light] = CANDIDATES;
    if contrast(dark, fill) >= contrast(light, fill) { dark } else { light }
}

/// Contrast of two colours, 1 to 21 (WCAG 2.2).
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

fn luminance(colour: Rgb) -> f64 {
    let [r, g, b] = linear(colour);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Linear light of red, green and blue (sRGB, IEC 61966-2-1).
fn linear(Rgb(r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    })
}

#[cfg(test)]
mod tests;
