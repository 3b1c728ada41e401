//! Texts that are made to take long: what 64 KB of each cost, and what twice as much costs.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use llmnode::Reader;

use super::answers::yes_or_no;
use super::clock::{Work, best};
use super::peers::{PEERS, Peer};
use super::texts::{Line, Report};

const SMALL: usize = 1 << 16;
const LARGE: usize = 1 << 22;
/// Milliseconds for 64 KB, and the most that twice the text may take.
const TIME: f64 = 5.0;
const GROWTH: f64 = 2.3;
/// Seconds. What takes less at the smaller size says nothing about growth.
const SHORT: f64 = 2e-4;
/// A text that takes longer is not doubled again.
const ENOUGH: Duration = Duration::from_secs(2);
/// How long a peer may take for 64 KB.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is repeated, and what stands before it once.
const FAMILIES: [(&str, &str); 44] = [
    ("", "["),
    ("", "{"),
    ("", "{\"a\":"),
    ("", "[{\"a\":"),
    ("", "{\"a\":["),
    ("", "{a:"),
    ("", "{\""),
    ("", "\""),
    ("[", "\""),
    ("{\"a\": ", "\""),
    ("", "'"),
    ("[", "'"),
    ("", "“"),
    ("", "\\"),
    ("\"", "\\"),
    ("[\"", "\\u005c"),
    ("", "\"\\"),
    ("{\"a\": \"", "\",\""),
    ("{\"a\": \"b", "\" c"),
    ("", "```"),
    ("", "```\n"),
    ("", "```json\n"),
    ("", "```json\n{\n```\n"),
    ("", "~~~\n{}\n"),
    ("", "```\n{x\n```\n"),
    ("", "x { y [ "),
    ("", "{x} "),
    ("", "[x]y "),
    ("", "[1]y "),
    ("", "{} "),
    ("", "[{}]\n"),
    ("", "{\"a\":1} "),
    ("", "} ] "),
    ("", "//"),
    ("{", "// \n"),
    ("{", "/*"),
    ("", "<think>"),
    ("", "</think>"),
    ("", "<think>{}</think>"),
    ("", ","),
    ("[", ","),
    ("[", "word "),
    ("", "callback("),
    ("[", "1 "),
];

type Way = fn(&str);

/// How a text is read; a family's figures are those of the way that takes longest.
const WAYS: [(&str, Way); 5] = [
    ("any value", |text| drop(black_box(Reader::new().value(text)))),
    ("a struct", |text| drop(black_box(Reader::new().read::<Report>(text)))),
    ("a struct, coerced", |text| drop(black_box(Reader::new().coerce(true).read::<Report>(text)))),
    ("a list, coerced", |text| drop(black_box(Reader::new().coerce(true).read::<Vec<Line>>(text)))),
    ("a Boolean, coerced", |text| drop(black_box(Reader::new().coerce(true).read::<bool>(text)))),
];

fn text(family: usize, bytes: usize) -> String {
    let (before, part) = FAMILIES[family];
    format!("{before}{}", part.repeat(bytes / part.len()))
}

/// All families in one table, or those whose texts begin as `wanted`.
pub fn table(rounds: usize, wanted: Option<&str>) {
    let peers = PEERS.map(|peer| peer.name).join(" | ");
    println!("\n| 64 KB of | ms | read as | twice the text, at most | at 4 MB, ms | {peers} | met |");
    println!("|---|---|---|---|---|{}---|", "---|".repeat(PEERS.len()));
    let is_wanted = |family: &usize| wanted.is_none_or(|part| text(*family, 64).starts_with(part));
    for family in (0..FAMILIES.len()).filter(is_wanted) {
        row(family, rounds);
    }
}

fn row(family: usize, rounds: usize) {
    let mut slowest = (0.0, "");
    let (mut growth, mut last) = (0.0_f64, 0.0_f64);
    let mut whole = true;
    for (name, read) in WAYS {
        let times = by_size(family, rounds, read);
        if times[0] > slowest.0 {
            slowest = (times[0], name);
        }
        let pairs = times.windows(2).filter(|pair| pair[0] >= SHORT);
        growth = pairs.map(|pair| pair[1] / pair[0]).fold(growth, f64::max);
        last = last.max(times[times.len() - 1]);
        whole &= SMALL << (times.len() - 1) == LARGE;
    }
    let peers = PEERS.map(|peer| in_process(peer, family)).join(" | ");
    println!(
        "| {} | {:.2} | {} | {} | {} | {peers} | {} |",
        named(family),
        slowest.0 * 1e3,
        slowest.1,
        if growth > 0.0 { format!("{growth:.2} ×") } else { "too short".to_owned() },
        if whole { format!("{:.0}", last * 1e3) } else { "not waited for".to_owned() },
        yes_or_no(whole && slowest.0 * 1e3 <= TIME && growth <= GROWTH),
    );
}

fn named(family: usize) -> String {
    let (before, part) = FAMILIES[family];
    let code = |text: &str| format!("```` {} ````", text.replace('\n', "\\n"));
    if before.is_empty() { code(part) } else { format!("{}, after {}", code(part), code(before)) }
}

/// Seconds at 64 KB, 128 KB, .. 4 MB, all in the same rounds.
fn by_size(family: usize, rounds: usize, read: Way) -> Vec<f64> {
    let (mut texts, mut bytes) = (Vec::new(), SMALL);
    while bytes <= LARGE {
        let text = text(family, bytes);
        let begin = Instant::now();
        read(&text);
        texts.push(text);
        if begin.elapsed() > ENOUGH {
            break;
        }
        bytes *= 2;
    }
    let works = texts.iter().map(|text| Box::new(move || read(black_box(text))) as Work<'_>);
    best(rounds, &mut works.collect::<Vec<_>>())
}

/// A peer's milliseconds for 64 KB, in a process of its own, since some overflow their stack.
fn in_process(peer: Peer, family: usize) -> String {
    let run = || -> std::io::Result<String> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["peer", peer.name, &family.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let begin = Instant::now();
        while child.try_wait()?.is_none() {
            if begin.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                return Ok(format!("> {} s", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output()?;
        let crashed = !output.status.success();
        Ok(if crashed {
            "crash".to_owned()
        } else {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        })
    };
    run().unwrap_or_else(|error| error.to_string())
}

/// The other side of [`in_process`].
pub fn peer(name: &str, family: &str) {
    let peer = PEERS.into_iter().find(|peer| peer.name == name).expect("a peer's name");
    let text = text(family.parse().expect("the number of a family"), SMALL);
    let begin = llmnode_benches::measure::cpu();
    drop(black_box((peer.read)(black_box(&text))));
    println!("{:.2}", (llmnode_benches::measure::cpu() - begin).as_secs_f64() * 1e3);
}
