//! Colours, dashes and markers that stay apart without colour vision and in grey print.

use plotters::style::RGBColor;

/// Text, axes and rules: replaced by the page's own text colour.
pub(super) const INK: RGBColor = RGBColor(0, 0, 0);

/// Okabe and Ito's palette ("Color Universal Design", 2008) without black and yellow, those with
/// enough contrast on white and on near-black first.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
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
    pub(super) colour: RGBColor,
    pub(super) dash: Option<(i32, i32)>,
    pub(super) marker: Marker,
}

/// The look of the series with this number. Lists of 6, 4 and 5: no look comes back within 60 series.
pub(super) fn look(series: usize) -> Look {
    Look {
        colour: COLOURS[series % COLOURS.len()],
        dash: DASHES[series % DASHES.len()],
        marker: MARKERS[series % MARKERS.len()],
    }
}
