//! Answers of which there is something to read: the table of speeds.

use std::hint::black_box;

use llmnode::{LlmOutput, ReadError, Reader, Reading};
use serde_json::Value;

use super::clock::{Work, best};
use super::peers::PEERS;
use super::texts::{Report, Sparse, Style, sparse, untyped};

const SIZES: [(&str, usize); 3] = [("1 KB", 1 << 10), ("64 KB", 1 << 16), ("1 MB", 1 << 20)];
/// Of serde_json's speed.
const CLEAN: f64 = 0.9;
const FENCED: f64 = 0.6;
/// MB/s.
const REPAIR: f64 = 40.0;

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
    println!("| answer, and what is read | {} | target | met |", SIZES.map(|size| size.0).join(" | "));
    println!("|---|{}---|---|", "---|".repeat(SIZES.len()));
    let plain = |report: &Report| report.value().to_string();
    let whole = |report: Report, json: String| sample(json.clone(), json, report);
    row(rounds, "clean, a struct", CLEAN, |report| whole(report.clone(), plain(&report)));
    row(rounds, "clean on many lines, a struct", CLEAN, |report| {
        whole(report.clone(), Style::default().write(&report.value()))
    });
    row(rounds, "clean, any value", CLEAN, |report| {
        let value = |reader: Reader, text: &str| reader.value(text);
        Sample { read: value, ..sample(plain(&report), plain(&report), report.value()) }
    });
    row(rounds, "clean, a list in its wrapper", CLEAN, |report| {
        let list = serde_json::to_string(&report.lines).unwrap();
        sample(format!("{{\"value\":{list}}}"), list, report.lines)
    });
    row(rounds, "clean, a struct with defaults, all given", CLEAN, |report| {
        let json = sparse(&report, 1.into()).to_string();
        sample(json.clone(), json.clone(), serde_json::from_str::<Sparse>(&json).unwrap())
    });
    row(rounds, "the same, `null` for the defaults", 0.0, |report| {
        let json = sparse(&report, 0.into()).to_string();
        let text = sparse(&report, Value::Null).to_string();
        sample(text, json.clone(), serde_json::from_str::<Sparse>(&json).unwrap())
    });
    let around = |before: &str, report: Report, after: &str| {
        let json = Style::default().write(&report.value());
        sample(format!("{before}{json}{after}"), json, report)
    };
    row(rounds, "in a fence, a struct", FENCED, |report| {
        around("Here is the report:\n\n```json\n", report, "\n```\n\nAnything else?")
    });
    row(rounds, "between words, `{braces}` first, a struct", 0.0, |report| {
        around("I put {name} and [links](to) where {they} belong:\n", report, "\nAnything else?")
    });
    row(rounds, "after `<think>`, a struct", 0.0, |report| {
        around("<think>\nI need {\"title\"} and a list of lines.\n</think>\n\n", report, "\n")
    });
}

fn sample<T: LlmOutput>(text: String, json: String, value: T) -> Sample<T> {
    Sample { text, json, value, read: |reader, text| reader.read(text) }
}

/// Prints one row. `target` is a share of serde_json's speed, 0 for none.
fn row<T>(rounds: usize, name: &str, target: f64, make: impl Fn(Report) -> Sample<T>)
where
    T: LlmOutput + PartialEq,
{
    let mut cells = Vec::new();
    let mut least = f64::INFINITY;
    for (_, bytes) in SIZES {
        let sample = make(Report::of_bytes(bytes));
        if !reads(&sample) {
            cells.push("refused".to_owned());
            least = 0.0;
            continue;
        }
        let ours = || drop(black_box((sample.read)(Reader::new(), black_box(&sample.text))));
        let serde = || drop(black_box(serde_json::from_str::<T>(black_box(&sample.json))));
        let times = best(rounds, &mut [Box::new(ours), Box::new(serde)]);
        let share = times[1] / times[0];
        least = least.min(share);
        cells.push(format!("{share:.2} ({:.0} MB/s)", speed(&sample.text, times[0])));
    }
    let (target, met) = match target {
        0.0 => Default::default(),
        _ => (format!("≥ {target}"), yes_or_no(least >= target)),
    };
    println!("| {name} | {} | {target} | {met} |", cells.join(" | "));
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
    let peers = PEERS.map(|peer| format!("{}, any value", peer.name)).join(" | ");
    println!("\n| MB/s at {} | llmnode, a struct | llmnode, any value | {peers} | target | met |", sizes());
    println!("|---|---|---|{}---|---|", "---|".repeat(PEERS.len()));
    let style = Style::default;
    let styles = [
        ("commas too many", Style { trailing_commas: true, ..style() }),
        ("single quotes", Style { single_quotes: true, ..style() }),
        ("comments", Style { comments: true, ..style() }),
        ("`True`, `False`, `None`", Style { python: true, ..style() }),
        ("keys without quotes", Style { bare_keys: true, ..style() }),
        ("raw line ends in strings", Style { raw_line_ends: true, ..style() }),
        (
            "all of these",
            Style {
                trailing_commas: true,
                single_quotes: true,
                comments: true,
                python: true,
                bare_keys: true,
                raw_line_ends: true,
            },
        ),
    ];
    for (name, style) in styles {
        repair(rounds, name, |report| style.write(&report.value()));
    }
    repair(rounds, "in a fence, commas too many", |report| {
        let json = Style { trailing_commas: true, ..Style::default() }.write(&report.value());
        format!("Here is the report:\n\n```json\n{json}\n```\n\nAnything else?")
    });
    coercion(rounds);
}

fn sizes() -> String {
    SIZES.map(|size| size.0).join(" / ")
}

fn repair(rounds: usize, name: &str, write: impl Fn(&Report) -> String) {
    let mut columns = vec![Vec::new(); 2 + PEERS.len()];
    for (_, bytes) in SIZES {
        let report = Report::of_bytes(bytes);
        let (text, value) = (write(&report), report.value());
        let reader = Reader::new();
        let right = [
            reader.read::<Report>(&text).is_ok_and(|reading| reading.value == report),
            reader.value(&text).is_ok_and(|reading| reading.value == value),
        ];
        let right = right.into_iter().chain(PEERS.map(|peer| (peer.read)(&text).as_ref() == Some(&value)));
        let right: Vec<bool> = right.collect();
        let text = text.as_str();
        let mut works: Vec<Work<'_>> = vec![
            Box::new(move || drop(black_box(reader.read::<Report>(black_box(text))))),
            Box::new(move || drop(black_box(reader.value(black_box(text))))),
        ];
        works.extend(
            PEERS.map(|peer| -> Work<'_> { Box::new(move || drop(black_box((peer.read)(black_box(text))))) }),
        );
        let times = best(rounds, &mut works);
        for ((column, right), time) in columns.iter_mut().zip(right).zip(times) {
            column.push(right.then(|| speed(text, time)));
        }
    }
    let ours = columns[..2].concat();
    let met = ours.iter().all(|speed| speed.is_some_and(|speed| speed >= REPAIR));
    let cells: Vec<String> = columns.iter().map(|column| cell(column)).collect();
    println!("| {name} | {} | ≥ {REPAIR} | {} |", cells.join(" | "), yes_or_no(met));
}

/// What only the type can mend: repairers of text have nothing to say here.
fn coercion(rounds: usize) {
    let mut column = Vec::new();
    for (_, bytes) in SIZES {
        let (report, written) = untyped(&Report::of_bytes(bytes));
        let text = Style::default().write(&written);
        let reader = Reader::new().coerce(true);
        let read = reader.read::<Report>(&text);
        if let Err(error) = &read {
            eprintln!("refused: {error}");
        }
        let right = read.is_ok_and(|reading| reading.value == report);
        let work = || drop(black_box(reader.read::<Report>(black_box(&text))));
        let times = best(rounds, &mut [Box::new(work)]);
        column.push(right.then(|| speed(&text, times[0])));
    }
    let met = column.iter().all(|speed| speed.is_some_and(|speed| speed >= REPAIR));
    println!(
        "| coercion: `\"3\"`, `\"true\"`, `\" red \"`, one for a list | {} | | {}≥ {REPAIR} | {} |",
        cell(&column),
        "| ".repeat(PEERS.len()),
        yes_or_no(met)
    );
}

/// The speeds at all sizes; `x` where the value that came was none or another one.
fn cell(speeds: &[Option<f64>]) -> String {
    let speed = |speed: &Option<f64>| speed.map_or("x".to_owned(), |speed| format!("{speed:.0}"));
    speeds.iter().map(speed).collect::<Vec<_>>().join(" / ")
}

fn speed(text: &str, seconds: f64) -> f64 {
    text.len() as f64 / 1e6 / seconds
}

pub fn yes_or_no(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}
