//! A chart: curves over a logarithmic axis, or a row of dots for each line of a table. The measured
//! axis is logarithmic in both. Without a background, in colours for light pages and for dark ones.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

/// The measurements of one contender.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: String,
    /// Where (a length, or the number of a row), and the value there.
    pub(super) points: Vec<(f64, f64)>,
}

impl Series {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            points: vec![],
        }
    }
}

/// How the points lie.
#[derive(Debug)]
pub(super) enum Line {
    /// Curves over an axis of this name; values upwards.
    Curves(&'static str),
    /// Rows of these names; values to the right.
    Rows(Vec<String>),
}

/// A chart, not yet drawn.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) source: String,
    /// What a reader must know to read it.
    pub(super) note: String,
    pub(super) shape: Line,
    pub(super) series: Vec<Series>,
}

/// Appends a line of text; a string takes it.
macro_rules! put {
    ($svg:expr, $($text:tt)*) => { writeln!($svg, $($text)*).expect("a string") };
}

const WIDTH: f64 = 860.0;
const TOP: f64 = 86.0;
const ROW: f64 = 22.0;
/// The colours of the peers. All can be told apart on white and on black.
const COLOURS: [&str; 7] = [
    "#1c7ed6", "#2f9e44", "#9c36b5", "#e8a100", "#0c8599", "#e64980", "#a5673f",
];

/// How a contender is drawn: the colour shows its owner, the shape distinguishes several contenders of one
/// owner.
#[derive(Clone, Copy)]
struct Paint {
    colour: &'static str,
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Shape {
    Disc,
    Ring,
    Square,
    Cross,
}

impl Paint {
    /// A mark; inside it, the text that appears when a reader points at it.
    fn dot(self, svg: &mut String, x: f64, y: f64, inside: &str) {
        let colour = self.colour;
        match self.shape {
            Shape::Disc | Shape::Ring => {
                let (r, fill) = if self.shape == Shape::Ring {
                    (3.7, "none")
                } else {
                    (4.5, colour)
                };
                put!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\" fill=\"{fill}\" \
                     stroke=\"{colour}\" stroke-width=\"1.6\">{inside}</circle>"
                );
            }
            Shape::Square => put!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7.6\" height=\"7.6\" fill=\"none\" \
                 stroke=\"{colour}\" stroke-width=\"1.6\">{inside}</rect>",
                x - 3.8,
                y - 3.8
            ),
            Shape::Cross => put!(
                svg,
                "<path d=\"M{:.1} {:.1} l8 8 m0 -8 l-8 8\" stroke=\"{colour}\" \
                 stroke-width=\"1.8\">{inside}</path>",
                x - 4.0,
                y - 4.0
            ),
        }
    }
}

/// A stretch of values on a stretch of the picture.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Does the stretch from 0.5 to 2 get half of the room?
    wide: bool,
}

/// The ends of the stretch where most of the difference lies, as powers of ten.
const NEAR: f64 = 0.30103;

impl Axis {
    /// Whole powers of ten around all values.
    fn around(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).log10();
        let high = values.fold(0.0, f64::max).log10();
        // A little beyond the values, to the next third of a decade.
        let (low, high) = ((low * 3.0).floor() / 3.0, (high * 3.0).ceil() / 3.0);
        Self {
            low,
            high: high.max(low + 1.0 / 3.0),
            from,
            to,
            wide: false,
        }
    }

    /// The same axis, with half of its room for values from 0.5 to 2.
    fn widened(self) -> Self {
        Self {
            low: self.low.min(-NEAR - 0.05),
            high: self.high.max(NEAR + 0.05),
            wide: true,
            ..self
        }
    }

    /// How much room a stretch of values takes from the beginning: 0 to 1.
    fn share(&self, power: f64) -> f64 {
        if !self.wide {
            return (power - self.low) / (self.high - self.low);
        }
        let (below, above) = (-NEAR - self.low, self.high - NEAR);
        let outside = 0.5 / (below + above);
        let inside = 0.5 / (2.0 * NEAR);
        let part = |from: f64, to: f64| (power.clamp(from, to) - from).max(0.0);
        part(self.low, -NEAR) * outside
            + part(-NEAR, NEAR) * inside
            + part(NEAR, self.high) * outside
    }

    fn place(&self, value: f64) -> f64 {
        self.from + self.share(value.log10()) * (self.to - self.from)
    }

    /// The values to name: powers of ten, and where there are few of these, what lies between.
    fn ticks(&self) -> Vec<f64> {
        if self.wide {
            let near = [0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0];
            let far = (-6..9).map(|power| 10_f64.powi(power));
            let mut all: Vec<f64> = near
                .into_iter()
                .chain(far.filter(|far| *far != 1.0))
                .collect();
            all.retain(|value| (self.low..=self.high).contains(&value.log10()));
            all.sort_by(f64::total_cmp);
            return all;
        }
        let few = self.high - self.low < 3.0;
        let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        let inside = |value: &f64| (self.low - 1e-9..=self.high + 1e-9).contains(&value.log10());
        all.filter(inside).collect()
    }
}

fn number(value: f64) -> String {
    let power = value.log10().round();
    if value >= 1e4 && (value.log10() - power).abs() < 1e-9 {
        let digit = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize);
        let power = (power as i32).to_string();
        return format!("10{}", power.chars().filter_map(digit).collect::<String>());
    }
    format!("{value}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

impl Chart {
    /// The picture, complete in itself.
    pub(super) fn svg(&self) -> String {
        let (left, bottom) = match &self.shape {
            Line::Curves(_) => (60.0, TOP + 360.0),
            Line::Rows(rows) => (230.0, TOP + ROW * rows.len() as f64),
        };
        let height = bottom + 68.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <style>text {{ fill: #768390 }} .title {{ font-size: 15px }} \
             .grid {{ stroke: #8c959f; stroke-opacity: 0.3 }} .one {{ stroke: #768390 }} \
             @media (prefers-color-scheme: dark) {{ text {{ fill: #9198a1 }} \
             .title {{ fill: #f0f6fc }} .one {{ stroke: #9198a1 }} }}</style>\n\
             <text class=\"title\" x=\"10\" y=\"22\">{}</text>\n\
             <text x=\"10\" y=\"{}\" font-size=\"11\">{}. Below 1 is faster.</text>\n\
             <text x=\"10\" y=\"{}\" font-size=\"11\">{}</text>\n",
            escaped(&self.title),
            height - 8.0,
            escaped(&self.source),
            height - 22.0,
            escaped(&self.note),
        );
        self.legend(&mut svg);
        match &self.shape {
            Line::Curves(name) => self.curves(&mut svg, name, left, bottom),
            Line::Rows(rows) => self.rows(&mut svg, rows, left, bottom),
        }
        svg + "</svg>\n"
    }

    /// The first word of the name says whose it is: ours, what all are compared with (grey), or a
    /// peer's. Of several with one owner each has a shape of its own.
    fn paint(&self, nth: usize) -> Paint {
        let owner = |series: &Series| {
            let word = series.name.split([' ', ',', '-']).next();
            word.unwrap_or_default().to_owned()
        };
        let owners: Vec<String> = self.series.iter().map(owner).collect();
        let me = &owners[nth];
        let fixed = |name: &str| match name {
            "tine" => Some("#d9480f"),
            "sequential" | "std" => Some("#868e96"),
            _ => None,
        };
        let mut peers: Vec<&String> = owners.iter().filter(|name| fixed(name).is_none()).collect();
        peers.dedup();
        let place = peers.iter().position(|peer| *peer == me).unwrap_or(0);
        Paint {
            colour: fixed(me).unwrap_or(COLOURS[place % COLOURS.len()]),
            shape: match owners[..nth].iter().filter(|owner| *owner == me).count() {
                0 => Shape::Disc,
                1 => Shape::Ring,
                2 => Shape::Square,
                _ => Shape::Cross,
            },
        }
    }

    fn legend(&self, svg: &mut String) {
        let (mut x, mut y) = (10.0, 42.0);
        for (nth, series) in self.series.iter().enumerate() {
            let width = 30.0 + 6.6 * series.name.chars().count() as f64;
            if x + width > WIDTH {
                (x, y) = (10.0, y + 17.0);
            }
            self.paint(nth).dot(svg, x + 6.0, y - 4.0, "");
            put!(
                svg,
                "<text x=\"{}\" y=\"{y}\">{}</text>",
                x + 15.0,
                escaped(&series.name)
            );
            x += width;
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let points = self.series.iter().flat_map(|series| &series.points);
        points.map(|point| point.1).chain([1.0])
    }

    fn curves(&self, svg: &mut String, name: &str, left: f64, bottom: f64) {
        let right = WIDTH - 14.0;
        let lengths = self.series.iter().flat_map(|series| &series.points);
        let across = Axis::around(lengths.map(|point| point.0), left, right);
        let upwards = Axis::around(self.values(), bottom, TOP).widened();
        for value in across.ticks() {
            let x = across.place(value);
            put!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP} V{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                number(value)
            );
        }
        put!(
            svg,
            "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{name}</text>",
            bottom + 31.0
        );
        for value in upwards.ticks() {
            let (y, class) = (upwards.place(value), line_of(value));
            put!(
                svg,
                "<path class=\"{class}\" d=\"M{left} {y:.1} H{right}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 4.0,
                number(value)
            );
        }
        // Ours is drawn last, over the others.
        for (nth, series) in self.series.iter().enumerate().rev() {
            let paint = self.paint(nth);
            let colour = paint.colour;
            let places = series.points.iter();
            let places = places.map(|point| (across.place(point.0), upwards.place(point.1)));
            let path: Vec<_> = places
                .clone()
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            put!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                path.join(" ")
            );
            for ((x, y), point) in places.zip(&series.points) {
                paint.dot(svg, x, y, &told(&series.name, point.1));
            }
        }
    }

    fn rows(&self, svg: &mut String, rows: &[String], left: f64, bottom: f64) {
        let axis = Axis::around(self.values(), left, WIDTH - 20.0);
        for value in axis.ticks() {
            let (x, class) = (axis.place(value), line_of(value));
            put!(
                svg,
                "<path class=\"{class}\" d=\"M{x:.1} {TOP} V{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                number(value)
            );
        }
        let middle = |row: f64| TOP + ROW * (row + 0.5);
        for (nth, name) in rows.iter().enumerate() {
            let y = middle(nth as f64);
            put!(
                svg,
                "<path class=\"grid\" d=\"M{left} {y} H{}\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                WIDTH - 20.0,
                left - 8.0,
                y + 4.0,
                escaped(name)
            );
        }
        for (nth, series) in self.series.iter().enumerate().rev() {
            for &(row, value) in &series.points {
                let told = told(&series.name, value);
                self.paint(nth)
                    .dot(svg, axis.place(value), middle(row), &told);
            }
        }
    }
}

/// The line at 1 is the important one.
fn line_of(value: f64) -> &'static str {
    if (value - 1.0).abs() < 1e-9 {
        "one"
    } else {
        "grid"
    }
}

/// The text of a dot that appears when a reader points at it.
fn told(name: &str, value: f64) -> String {
    format!("<title>{}: {value:.2}</title>", escaped(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_values_and_names_round_ones() {
        let axis = Axis::around([0.3, 40.0].into_iter(), 0.0, 100.0);
        assert!(axis.place(0.3) >= 0.0 && axis.place(40.0) <= 100.0);
        assert_eq!(axis.ticks(), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(number(0.5), "0.5");
        assert_eq!(number(1e6), "10⁶");
    }

    #[test]
    fn a_widened_axis_gives_half_of_its_room_to_what_lies_near_one() {
        let axis = Axis::around([0.3, 400.0].into_iter(), 0.0, 100.0).widened();
        assert!((axis.place(2.0) - axis.place(0.5) - 50.0).abs() < 0.1);
        assert!(axis.place(0.3) >= 0.0 && axis.place(400.0) <= 100.0 + 1e-6);
        let places: Vec<f64> = axis.ticks().iter().map(|tick| axis.place(*tick)).collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn series_of_one_owner_differ_in_shape() {
        let names = [
            "tine count_by",
            "tine group",
            "tine into_map",
            "rayon",
            "rayon local",
        ];
        let chart = Chart {
            title: String::new(),
            source: String::new(),
            note: String::new(),
            shape: Line::Rows(vec![]),
            series: names.map(Series::new).into(),
        };
        let looks: Vec<_> = (0..names.len())
            .map(|nth| (chart.paint(nth).colour, chart.paint(nth).shape))
            .collect();
        let once = looks
            .iter()
            .all(|look| looks.iter().filter(|other| *other == look).count() == 1);
        assert!(once, "{looks:?}");
    }
}
