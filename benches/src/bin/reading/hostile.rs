//! Texts that are made to take long: what 64 KB of each cost, and what twice as much costs.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use llmnode::Reader;

use super::answers::yes_or_no;
use super::clock::{Timed, measure};
use super::peers::{PEERS, Peer};
use super::texts::{Line, Report};

const SMALL: usize = 1 << 16;
const LARGE: usize = 1 << 22;
/// Milliseconds for 64 KB, and the most that twice the text may take.
const TIME: f64 = 5.0;
const GROWTH: f64 = 2.3;
/// Seconds. What takes less at the smaller size says nothing about growth.
const SHORT: f64 = 2e-4;
/// How much longer a text is made at a time until it is as long as the largest, unless it takes too long.
const STEP: usize = 8;
const ENOUGH: Duration = Duration::from_secs(1);
/// How long a peer may take for 64 KB.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is repeated, and what stands before it once.
const FAMILIES: [(&str, &str); 49] = [
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
    ("", "```a "),
    ("", "```json\n{}```\n"),
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
    ("", "</think>{\\\"a"),
    ("", "</think>//"),
    ("", "</think>{«"),
    ("", ","),
    ("[", ","),
    ("[", "word "),
    ("", "callback("),
    ("[", "1 "),
];

type Way = fn(&str);

/// How a text is read.
const WAYS: [(&str, Way); 5] = [
    ("any value", |text| {
        drop(black_box(Reader::new().value(text)))
    }),
    ("a struct", |text| {
        drop(black_box(Reader::new().read::<Report>(text)))
    }),
    ("a struct, exactly", |text| {
        drop(black_box(Reader::new().exact(true).read::<Report>(text)))
    }),
    ("a list", |text| {
        drop(black_box(Reader::new().read::<Vec<Line>>(text)))
    }),
    ("a Boolean", |text| {
        drop(black_box(Reader::new().read::<bool>(text)))
    }),
];

fn text(family: usize, bytes: usize) -> String {
    let (before, part) = FAMILIES[family];
    format!("{before}{}", part.repeat(bytes / part.len()))
}

/// A row of the table.
struct Row {
    family: usize,
    /// 64 KB, in each of the ways.
    small: Vec<Timed<'static>>,
    /// 64 KB, 128 KB, .. in the way that takes longest where the text is long.
    doubled: Vec<Timed<'static>>,
}

/// All families in one table, or those whose texts begin as `wanted`.
pub fn table(rounds: usize, wanted: Option<&str>) {
    let is_wanted = |family: &usize| wanted.is_none_or(|part| text(*family, 64).starts_with(part));
    let mut rows: Vec<Row> = (0..FAMILIES.len()).filter(is_wanted).map(Row::of).collect();
    measure(
        rounds,
        rows.iter_mut()
            .flat_map(|row| row.small.iter_mut().chain(&mut row.doubled)),
    );
    let peers = PEERS.map(|peer| peer.name).join(" | ");
    println!(
        "\n| 64 KB of | ms | read as | twice the text, at most | 4 MB, ms | exponent | {peers} | met |"
    );
    println!(
        "|---|---|---|---|---|---|{}---|",
        "---|".repeat(PEERS.len())
    );
    rows.iter().for_each(Row::print);
}

impl Row {
    fn of(family: usize) -> Row {
        let (before, part) = FAMILIES[family];
        let long: Rc<str> = text(family, LARGE).into();
        let length = move |bytes: usize| before.len() + bytes / part.len() * part.len();
        let timed = |read: Way, bytes: usize| {
            let long = Rc::clone(&long);
            Timed::new(move || read(black_box(&long[..length(bytes)])))
        };
        // How far each way comes in a short time, and how long it takes there.
        let reach = |way: usize| {
            let mut bytes = SMALL;
            loop {
                let begin = Instant::now();
                (WAYS[way].1)(&long[..length(bytes)]);
                let took = begin.elapsed();
                if bytes == LARGE || took > ENOUGH {
                    return (LARGE / bytes, took, way);
                }
                bytes *= STEP;
            }
        };
        let (left, _, way) = (0..WAYS.len()).map(reach).max().unwrap();
        let sizes = (0..)
            .map(|times| SMALL << times)
            .take_while(|bytes| *bytes <= LARGE / left);
        Row {
            family,
            small: WAYS.iter().map(|way| timed(way.1, SMALL)).collect(),
            doubled: sizes.map(|bytes| timed(WAYS[way].1, bytes)).collect(),
        }
    }

    fn print(&self) {
        let ways = self
            .small
            .iter()
            .zip(WAYS)
            .map(|(timed, way)| (timed.least, way.0));
        let (slowest, way) = ways.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
        let times: Vec<f64> = self.doubled.iter().map(|timed| timed.least).collect();
        let pairs = times.windows(2).filter(|pair| pair[0] >= SHORT);
        let growth = pairs.map(|pair| pair[1] / pair[0]).fold(0.0, f64::max);
        let (last, longer) = (times[times.len() - 1], (1 << (times.len() - 1)) as f64);
        let exponent = (times.len() > 1).then(|| (last / times[0]).ln() / longer.ln());
        let whole = SMALL << (times.len() - 1) == LARGE;
        let peers = PEERS.map(|peer| in_process(peer, self.family)).join(" | ");
        println!(
            "| {} | {:.2} | {way} | {} | {} | {} | {peers} | {} |",
            named(self.family),
            slowest * 1e3,
            if growth > 0.0 {
                format!("{growth:.2} ×")
            } else {
                "too short".to_owned()
            },
            if whole {
                format!("{:.0}", last * 1e3)
            } else {
                "not waited for".to_owned()
            },
            exponent
                .map(|exponent| format!("{exponent:.2}"))
                .unwrap_or_default(),
            yes_or_no(whole && slowest * 1e3 <= TIME && growth <= GROWTH),
        );
    }
}

fn named(family: usize) -> String {
    let (before, part) = FAMILIES[family];
    let code = |text: &str| format!("```` {} ````", text.replace('\n', "\\n"));
    if before.is_empty() {
        code(part)
    } else {
        format!("{}, after {}", code(part), code(before))
    }
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
    let peer = PEERS
        .into_iter()
        .find(|peer| peer.name == name)
        .expect("a peer's name");
    let text = text(family.parse().expect("the number of a family"), SMALL);
    let begin = llmnode_benches::measure::cpu();
    drop(black_box((peer.read)(black_box(&text))));
    println!(
        "{:.2}",
        (llmnode_benches::measure::cpu() - begin).as_secs_f64() * 1e3
    );
}
