//! Answers of which there is something to read: the table of speeds.

use std::hint::black_box;
use std::rc::Rc;

use llmnode::{LlmOutput, ReadError, Reader, Reading};
use serde_json::Value;

use super::clock::{Timed, measure};
use super::peers::PEERS;
use super::texts::{Report, Sparse, Style, sparse, untyped};

const SIZES: [(&str, usize); 3] = [("1 KB", 1 << 10), ("64 KB", 1 << 16), ("1 MB", 1 << 20)];
/// Of serde_json's speed.
const CLEAN: f64 = 0.9;
const FENCED: f64 = 0.6;
const NULLS: f64 = 0.5;
/// MB/s.
const REPAIR: f64 = 40.0;

/// A row of a table.
struct Row {
    name: &'static str,
    /// 0 for none.
    target: f64,
    /// One for each size.
    cells: Vec<Cell>,
}

impl Row {
    /// The target, and whether the least of the figures meets it.
    fn met(&self, least: f64) -> String {
        match self.target {
            0.0 => " | ".to_owned(),
            target => format!("≥ {target} | {}", yes_or_no(least >= target)),
        }
    }
}

/// A text, read in several ways; none of those that came to no value, or to another one.
struct Cell {
    bytes: usize,
    ways: Vec<Option<Timed<'static>>>,
}

impl Cell {
    /// MB/s in each of the ways.
    fn speeds(&self) -> impl Iterator<Item = Option<f64>> {
        let speed = |timed: &Timed<'_>| self.bytes as f64 / 1e6 / timed.least;
        self.ways.iter().map(move |way| way.as_ref().map(speed))
    }
}

fn timed(rounds: usize, mut rows: Vec<Row>) -> Vec<Row> {
    let cells = rows.iter_mut().flat_map(|row| &mut row.cells);
    measure(rounds, cells.flat_map(|cell| &mut cell.ways).flatten());
    rows
}

/// One way of writing, at one size.
struct Sample<T> {
    /// The whole answer.
    text: String,
    /// The JSON that serde_json reads in its place.
    json: String,
    value: T,
    read: fn(Reader, &str) -> Result<Reading<T>, ReadError>,
}

/// Clean, fenced, between words: beside serde_json on the JSON alone.
pub fn beside_serde(rounds: usize) {
    println!(
        "| answer, and what is read | {} | target | met |",
        SIZES.map(|size| size.0).join(" | ")
    );
    println!("|---|{}---|---|", "---|".repeat(SIZES.len()));
    for row in timed(rounds, well_formed()) {
        let (mut cells, mut least) = (Vec::new(), f64::INFINITY);
        for cell in &row.cells {
            let [Some(ours), Some(serde)] = cell.speeds().collect::<Vec<_>>()[..] else {
                cells.push("refused".to_owned());
                least = 0.0;
                continue;
            };
            cells.push(format!("{:.2} ({ours:.0} MB/s)", ours / serde));
            least = least.min(ours / serde);
        }
        println!(
            "| {} | {} | {} |",
            row.name,
            cells.join(" | "),
            row.met(least)
        );
    }
}

/// What stands in the table beside serde_json. A target is a share of its speed.
fn well_formed() -> Vec<Row> {
    let plain = |report: &Report| report.value().to_string();
    let whole = |report: Report, json: String| sample(json.clone(), json, report);
    let around = |before: &str, report: Report, after: &str| {
        let json = Style::default().write(&report.value());
        sample(format!("{before}{json}{after}"), json, report)
    };
    vec![
        row("clean, a struct", CLEAN, |report| {
            whole(report.clone(), plain(&report))
        }),
        row("clean on many lines, a struct", CLEAN, |report| {
            whole(report.clone(), Style::default().write(&report.value()))
        }),
        row("clean, any value", CLEAN, |report| {
            let value = |reader: Reader, text: &str| reader.value(text);
            Sample {
                read: value,
                ..sample(plain(&report), plain(&report), report.value())
            }
        }),
        row("clean, a list in its wrapper", CLEAN, |report| {
            let list = serde_json::to_string(&report.lines).unwrap();
            sample(format!("{{\"value\":{list}}}"), list, report.lines)
        }),
        row(
            "clean, a struct with defaults, all given",
            CLEAN,
            |report| {
                let json = sparse(&report, 1.into()).to_string();
                sample(
                    json.clone(),
                    json.clone(),
                    serde_json::from_str::<Sparse>(&json).unwrap(),
                )
            },
        ),
        row("the same, `null` for the defaults", NULLS, |report| {
            let json = sparse(&report, 0.into()).to_string();
            let text = sparse(&report, Value::Null).to_string();
            sample(
                text,
                json.clone(),
                serde_json::from_str::<Sparse>(&json).unwrap(),
            )
        }),
        row("in a fence, a struct", FENCED, |report| {
            around(
                "Here is the report:\n\n```json\n",
                report,
                "\n```\n\nAnything else?",
            )
        }),
        row("between words, `{braces}` first, a struct", 0.0, |report| {
            around(
                "I put {name} and [links](to) where {they} belong:\n",
                report,
                "\nAnything else?",
            )
        }),
        row("after `<think>`, a struct", 0.0, |report| {
            around(
                "<think>\nI need {\"title\"} and a list of lines.\n</think>\n\n",
                report,
                "\n",
            )
        }),
    ]
}

fn sample<T: LlmOutput>(text: String, json: String, value: T) -> Sample<T> {
    Sample {
        text,
        json,
        value,
        read: |reader, text| reader.read(text),
    }
}

fn row<T>(name: &'static str, target: f64, make: impl Fn(Report) -> Sample<T>) -> Row
where
    T: LlmOutput + PartialEq + 'static,
{
    let cells = SIZES
        .map(|(_, bytes)| beside(make(Report::of_bytes(bytes))))
        .into();
    Row {
        name,
        target,
        cells,
    }
}

/// The answer read by llmnode, and its JSON alone by serde_json.
fn beside<T: LlmOutput + PartialEq + 'static>(sample: Sample<T>) -> Cell {
    let bytes = sample.text.len();
    if !reads(&sample) {
        return Cell {
            bytes,
            ways: vec![None, None],
        };
    }
    let sample = Rc::new(sample);
    let same = Rc::clone(&sample);
    let ours = move || {
        drop(black_box((sample.read)(
            Reader::new(),
            black_box(&sample.text),
        )))
    };
    let serde = move || drop(black_box(serde_json::from_str::<T>(black_box(&same.json))));
    Cell {
        bytes,
        ways: vec![Some(Timed::new(ours)), Some(Timed::new(serde))],
    }
}

fn reads<T: LlmOutput + PartialEq>(sample: &Sample<T>) -> bool {
    match (sample.read)(Reader::new(), &sample.text) {
        Ok(reading) if reading.value == sample.value => true,
        Ok(_) => panic!("another value was read"),
        Err(error) => {
            eprintln!("refused: {error}");
            false
        }
    }
}

/// Nearly JSON: beside the repairers of others.
pub fn beside_repairers(rounds: usize) {
    let sizes = SIZES.map(|size| size.0).join(" / ");
    let peers = PEERS
        .map(|peer| format!("{}, any value", peer.name))
        .join(" | ");
    println!(
        "\n| MB/s at {sizes} | llmnode, a struct | llmnode, any value | {peers} | target | met |"
    );
    println!("|---|---|---|{}---|---|", "---|".repeat(PEERS.len()));
    for row in timed(rounds, broken()) {
        let speeds: Vec<Vec<_>> = row
            .cells
            .iter()
            .map(|cell| cell.speeds().collect())
            .collect();
        let mut columns = vec![String::new(); 2 + PEERS.len()];
        for (way, column) in (0..speeds[0].len()).zip(&mut columns) {
            *column = cell(speeds.iter().map(|speeds| speeds[way]));
        }
        let ours = speeds.iter().flat_map(|speeds| speeds.iter().take(2));
        let least = ours
            .map(|speed| speed.unwrap_or(0.0))
            .fold(f64::INFINITY, f64::min);
        println!(
            "| {} | {} | {} |",
            row.name,
            columns.join(" | "),
            row.met(least)
        );
    }
}

/// What stands in the table beside the repairers.
fn broken() -> Vec<Row> {
    let style = Style::default;
    let all = Style {
        trailing_commas: true,
        single_quotes: true,
        comments: true,
        python: true,
        bare_keys: true,
        raw_line_ends: true,
    };
    let commas = Style {
        trailing_commas: true,
        ..style()
    };
    let fenced = |report: &Report| {
        let json = commas.write(&report.value());
        format!("Here is the report:\n\n```json\n{json}\n```\n\nAnything else?")
    };
    let written = |name, style: Style| repair(name, |report| style.write(&report.value()));
    vec![
        written("commas too many", commas),
        written(
            "single quotes",
            Style {
                single_quotes: true,
                ..style()
            },
        ),
        written(
            "comments",
            Style {
                comments: true,
                ..style()
            },
        ),
        written(
            "`True`, `False`, `None`",
            Style {
                python: true,
                ..style()
            },
        ),
        written(
            "keys without quotes",
            Style {
                bare_keys: true,
                ..style()
            },
        ),
        written(
            "raw line ends in strings",
            Style {
                raw_line_ends: true,
                ..style()
            },
        ),
        written("all of these", all),
        repair("in a fence, commas too many", fenced),
        fitting(),
    ]
}

fn repair(name: &'static str, write: impl Fn(&Report) -> String) -> Row {
    let cell = |(_, bytes)| {
        let report = Report::of_bytes(bytes);
        let (text, value): (Rc<str>, Value) = (write(&report).into(), report.value());
        let typed = |text: &str| {
            Reader::new()
                .read::<Report>(text)
                .ok()
                .map(|reading| reading.value)
        };
        let any = |text: &str| Reader::new().value(text).ok().map(|reading| reading.value);
        let mut ways = vec![way(&text, &report, typed), way(&text, &value, any)];
        ways.extend(PEERS.map(|peer| way(&text, &value, peer.read)));
        Cell {
            bytes: text.len(),
            ways,
        }
    };
    Row {
        name,
        target: REPAIR,
        cells: SIZES.map(cell).into(),
    }
}

/// What only the type can mend: repairers of text have nothing to say here.
fn fitting() -> Row {
    let cell = |(_, bytes)| {
        let report = Report::of_bytes(bytes);
        let text: Rc<str> = Style::default().write(&untyped(&report)).into();
        let read = |text: &str| {
            Reader::new()
                .read::<Report>(text)
                .ok()
                .map(|reading| reading.value)
        };
        Cell {
            bytes: text.len(),
            ways: vec![way(&text, &report, read)],
        }
    };
    let name = "made to fit: `\"3\"`, `\"true\"`, `\" red \"`, `inStock`";
    Row {
        name,
        target: REPAIR,
        cells: SIZES.map(cell).into(),
    }
}

/// One way of reading, if it comes to the value that was written.
fn way<T: PartialEq + 'static>(
    text: &Rc<str>,
    value: &T,
    read: impl Fn(&str) -> Option<T> + 'static,
) -> Option<Timed<'static>> {
    let right = read(text).as_ref() == Some(value);
    let text = Rc::clone(text);
    right.then(|| Timed::new(move || drop(black_box(read(black_box(&text))))))
}

/// The speeds at all sizes; `x` where the value that came was none or another one.
fn cell(speeds: impl Iterator<Item = Option<f64>>) -> String {
    let speed = |speed: Option<f64>| speed.map_or("x".to_owned(), |speed| format!("{speed:.0}"));
    speeds.map(speed).collect::<Vec<_>>().join(" / ")
}

pub fn yes_or_no(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}
