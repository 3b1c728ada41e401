//! Pages of recordings that were made once: `LLMNODE_PAGES=beyond/llmnode-page/tests/recordings cargo test --workspace --test page` makes them
//! anew, and `LLMNODE_UPDATE=1 cargo test -p llmnode-page` their pages.

#![allow(clippy::panic, clippy::unwrap_used, missing_docs, reason = "tests")]

mod dom;

use std::path::{Path, PathBuf};
use std::time::Instant;

use dom::Dom;
use llmnode_page::Recording;
use proptest::prelude::*;
use serde_json::{Value, json};

const RUNS: [&str; 7] = [
    "done", "failed", "paused", "approved", "fallback", "replayed", "figures",
];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recordings")
        .join(name)
}

fn recording(run: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file(&format!("{run}.json"))).unwrap()).unwrap()
}

fn page(recording: &Value) -> String {
    Recording::from_json(&recording.to_string()).unwrap().page()
}

#[test]
fn pages_are_as_they_were() {
    for run in RUNS {
        let (page, known) = (page(&recording(run)), file(&format!("{run}.html")));
        if std::env::var_os("LLMNODE_UPDATE").is_some() {
            std::fs::write(&known, &page).unwrap();
        }
        let known = std::fs::read_to_string(&known).unwrap_or_default();
        assert!(
            page == known,
            "{run}: look at the page, then run with LLMNODE_UPDATE=1"
        );
    }
}

#[test]
fn what_was_written_is_read() {
    for run in RUNS {
        let recording = recording(run);
        let read = Recording::from_json(&recording.to_string()).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&read.to_json()).unwrap(),
            recording,
            "{run}"
        );
    }
}

/// Each of two calls with the same id would have all that is below that id, at every depth.
#[test]
fn calls_of_one_id_do_no_harm() {
    let mut recording = recording("figures");
    let model = recording["calls"][0].clone();
    let id = |level: u64| json!(format!("0123456789abcdef-{level}"));
    let mut calls = Vec::new();
    for number in 0..=120_u64 {
        let level = number.div_ceil(2);
        let mut call = model.clone();
        call["number"] = json!(number + 1);
        call["id"] = id(level);
        call["step"] = Value::Null;
        call["parent"] = match level {
            0 => Value::Null,
            _ => id(level - 1),
        };
        calls.push(call);
    }
    recording["calls"] = json!(calls);
    assert!(page(&recording).len() < 16 << 20);
}

/// Files come from elsewhere, so figures may be of any size.
#[test]
fn any_figure_is_shown() {
    fn each(value: &mut Value, path: &str, seen: &mut Vec<String>) {
        match value {
            Value::Number(number) if number.is_u64() => seen.push(path.to_owned()),
            Value::Array(items) => {
                items
                    .iter_mut()
                    .enumerate()
                    .for_each(|(at, item)| each(item, &format!("{path}/{at}"), seen));
            }
            Value::Object(members) => {
                members
                    .iter_mut()
                    .for_each(|(name, member)| each(member, &format!("{path}/{name}"), seen));
            }
            _ => {}
        }
    }
    for run in RUNS {
        let (mut recording, mut places) = (recording(run), Vec::new());
        each(&mut recording, "", &mut places);
        for place in places.iter().filter(|place| *place != "/version") {
            let mut changed = recording.clone();
            *changed.pointer_mut(place).unwrap() = json!(u64::MAX);
            let _ = Recording::from_json(&changed.to_string()).map(|recording| recording.page());
        }
        for place in &places {
            *recording.pointer_mut(place).unwrap() = json!(if place == "/version" {
                1
            } else {
                u64::from(u32::MAX)
            });
        }
        let _ = Recording::from_json(&recording.to_string()).map(|recording| recording.page());
    }
}

#[test]
fn other_files_are_refused() {
    let mut newer = recording("done");
    newer["version"] = json!(2);
    for (file, why) in [
        (
            newer.to_string(),
            "llmnode/recording version 2 is newer than version 1",
        ),
        (
            json!({"format": "llmnode/ledger", "version": 1}).to_string(),
            "not a llmnode/recording",
        ),
        ("{}".to_owned(), "malformed llmnode/recording"),
    ] {
        let error = Recording::from_json(&file).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn nothing_in_a_page_is_a_script_or_comes_from_elsewhere() {
    for run in RUNS {
        let dom = Dom::of(&page(&recording(run)));
        for (element, name, value) in &dom.attributes {
            assert!(
                !name.starts_with("on") && !matches!(&**name, "src" | "style" | "srcdoc"),
                "{element} {name}"
            );
            assert!(name != "href" || value.starts_with('#'), "{value}");
        }
        let active = [
            "script", "link", "img", "iframe", "object", "embed", "base", "form",
        ];
        assert!(
            !dom.elements
                .iter()
                .any(|element| active.contains(&&**element))
        );
    }
}

#[test]
fn links_lead_somewhere_and_ids_are_unique() {
    for run in RUNS {
        let dom = Dom::of(&page(&recording(run)));
        let named = |name: &'static str| {
            dom.attributes
                .iter()
                .filter(move |(_, of, _)| of == name)
                .map(|(_, _, value)| &**value)
        };
        let ids: Vec<_> = named("id").collect();
        assert_eq!(
            ids.iter().collect::<std::collections::HashSet<_>>().len(),
            ids.len(),
            "{run}"
        );
        for link in named("href") {
            assert!(ids.contains(&&link[1..]), "{run}: {link}");
        }
    }
}

#[test]
fn a_page_can_be_read_without_seeing_it() {
    for run in RUNS {
        let dom = Dom::of(&page(&recording(run)));
        let count = |name: &str| {
            dom.elements
                .iter()
                .filter(|element| **element == *name)
                .count()
        };
        assert_eq!(
            [count("h1"), count("main"), count("header"), count("footer")],
            [1; 4]
        );
        assert_eq!(count("section"), count("h2"));
        // What stands in colour is said in words.
        assert_eq!(
            count("rect") > 0,
            dom.texts.iter().any(|(within, _)| within == "title")
        );
        assert!(dom.attributes.iter().any(|(element, name, value)| (
            &**element, &**name, &**value
        ) == ("html", "lang", "en")));
    }
}

/// Members that have words of the format.
const FORMAT: [&str; 15] = [
    "format",
    "llmnode",
    "id",
    "parent",
    "attempt",
    "call",
    "kind",
    "category",
    "outcome",
    "response_format",
    "flags",
    "degraded",
    "cost",
    "role",
    "refused",
];

/// Texts of people, models, tools and programs: all but the words of the format.
fn texts(value: &Value, to: &str) -> Value {
    match value {
        Value::String(text) if text.is_empty() || text == "end" || text == "todo" => value.clone(),
        Value::String(_) => json!(to),
        Value::Array(items) => items.iter().map(|item| texts(item, to)).collect(),
        Value::Object(members) => {
            let changed = |(name, member): (&String, &Value)| {
                let member = if FORMAT.contains(&&**name) {
                    member.clone()
                } else {
                    texts(member, to)
                };
                (name.clone(), member)
            };
            members.iter().map(changed).collect()
        }
        _ => value.clone(),
    }
}

const MARK: &str = "MARK";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_text_in_any_place_is_that_text(
        run in proptest::sample::select(RUNS.to_vec()),
        text in prop_oneof![
            "\\PC{1,80}",
            ".{1,40}",
            "(<|>|&|\"|'|/|=|script|</pre>|</title>|</style>|<svg>|--|<!--|]]>|&lt;|&#0;|onload=|\r|\n|\0|\t|é|😀|;| ){1,30}",
        ],
    ) {
        let recording = recording(run);
        let plain = Dom::of(&page(&texts(&recording, MARK)));
        let dom = Dom::of(&page(&texts(&recording, &text)));
        prop_assert_eq!(&dom.elements, &plain.elements);
        // HTML has no U+0000.
        let shown = text.replace('\0', "\u{2400}");
        let expected = |text: &str| text.replace(MARK, &shown);
        for ((within, said), (_, plain)) in dom.texts.iter().zip(&plain.texts) {
            // Names in pictures are cut.
            if !matches!(&**within, "text" | "title") || !plain.contains(MARK) {
                prop_assert_eq!(said, &expected(plain), "in {}", within);
            }
        }
        // Pictures are as wide as their words.
        let written = ["class", "id", "href", "aria-label", "content", "role"];
        for ((_, name, value), (_, _, plain)) in dom.attributes.iter().zip(&plain.attributes) {
            if written.contains(&&**name) {
                prop_assert_eq!(value, &expected(plain), "{}", name);
            }
        }
    }
}

/// A run of 1,000 steps, each with a call, out of one of few.
fn long(run: &str) -> Value {
    let mut long = recording(run);
    let (steps, calls) = (long["steps"].take(), long["calls"].take());
    let (steps, calls) = (steps.as_array().unwrap(), calls.as_array().unwrap());
    let numbered = |entries: &[Value]| {
        let mut all: Vec<Value> = entries.iter().cycle().take(1000).cloned().collect();
        for (number, entry) in all.iter_mut().enumerate() {
            entry["number"] = json!(number + 1);
            entry["started_unix_ms"] = json!(1_764_239_400_000_u64 + 100 * number as u64);
            if entry.get("step").is_some() {
                entry["step"] = json!(number + 1);
                entry["id"] = json!(format!("{:016x}-{}", 7, number + 1));
            }
        }
        all
    };
    let outer: Vec<Value> = calls
        .iter()
        .filter(|call| call["parent"].is_null())
        .cloned()
        .collect();
    (long["steps"], long["calls"]) = (json!(numbered(steps)), json!(numbered(&outer)));
    long["totals"]["steps"] = json!(1000);
    long
}

#[test]
fn a_page_of_1000_steps_is_small() {
    for run in ["done", "figures"] {
        let recording = Recording::from_json(&long(run).to_string()).unwrap();
        let began = Instant::now();
        let page = recording.page();
        println!("{run}: {} bytes in {:?}", page.len(), began.elapsed());
        assert!(page.len() <= 512 * 1024, "{run}: {}", page.len());
        assert!(page.contains("The newest 256 steps of 1000"));
    }
}

/// Numbers without a library.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

const HOSTILE: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</style><script>alert(1)</script>",
    "javascript:alert(1)",
    "{\"a\": \"<svg onload=alert(1)>\\nmore\", \"b\": [1, {\"c\": \"</pre><script>\"}]}",
    "<!--",
    "]]>",
    "\u{0}\u{202e}\u{feff}",
    "&lt;script&gt;",
    "' onmouseover='alert(1)",
];

/// Changes values, lists and members of a recording as somebody might who wants a page to do something.
fn forged(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(members) => {
            if dice.below(400) == 0 {
                let names: Vec<String> = members.keys().cloned().collect();
                if let Some(name) = names.get(dice.below(names.len())) {
                    members.remove(name);
                }
            }
            let texts = members
                .iter_mut()
                .filter(|(name, _)| !FORMAT.contains(&name.as_str()));
            texts.for_each(|(_, member)| forged(member, dice));
        }
        Value::Array(items) => {
            if dice.below(20) == 0 && !items.is_empty() {
                let item = items[dice.below(items.len())].clone();
                items.extend(std::iter::repeat_n(item, dice.below(40)));
            }
            items.iter_mut().for_each(|item| forged(item, dice));
        }
        Value::String(text) if dice.below(6) == 0 => {
            HOSTILE[dice.below(HOSTILE.len())].clone_into(text);
        }
        Value::Number(_) if dice.below(30) == 0 => {
            *value = [json!(0), json!(1), json!(65_535), json!(u32::MAX)][dice.below(4)].clone();
        }
        Value::Bool(is) => *is ^= dice.below(10) == 0,
        _ => {}
    }
}

#[test]
fn forged_recordings_make_harmless_pages_or_none() {
    let mut dice = Dice(20);
    let recordings: Vec<Value> = RUNS.iter().map(|run| recording(run)).collect();
    let mut made = 0;
    for number in 0..1_000 {
        let mut file = recordings[number % recordings.len()].clone();
        (0..1 + dice.below(3)).for_each(|_| forged(&mut file, &mut dice));
        file["format"] = json!("llmnode/recording");
        file["version"] = json!(1);
        let Ok(recording) = Recording::from_json(&file.to_string()) else {
            continue;
        };
        made += 1;
        let page = recording.page();
        assert!(page.len() <= 16 << 20, "{}", page.len());
        let dom = Dom::of(&page);
        let active = [
            "script",
            "link",
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
            "a:javascript",
        ];
        assert!(
            !dom.elements
                .iter()
                .any(|element| active.contains(&&**element)),
            "{number}"
        );
        for (element, name, value) in &dom.attributes {
            assert!(
                !name.starts_with("on") && !matches!(&**name, "src" | "style" | "srcdoc"),
                "{element} {name}"
            );
            assert!(name != "href" || value.starts_with('#'), "{value}");
        }
    }
    assert!(made > 100, "{made} of 1000 could be read");
}

/// Of any text in a file.
#[test]
fn a_page_has_16_mib_at_most_and_says_what_is_left_out() {
    let long = "<&>".repeat(1 << 17);
    for run in ["done", "approved"] {
        let page = page(&texts(&recording(run), &long));
        assert!(page.len() <= 16 << 20, "{run}: {}", page.len());
    }
    let mut many = recording("done");
    let call = many["calls"][0].clone();
    many["calls"] = (1..=80)
        .map(|number| {
            let mut call = call.clone();
            call["number"] = json!(number);
            call["id"] = json!(format!("{:016x}-{number}", 7));
            call["exchanges"][0]["answer"] =
                json!(format!("answer {number} {}", "y".repeat(300_000)));
            call
        })
        .collect();
    let page = page(&many);
    assert!(
        page.len() <= 16 << 20 && page.len() > 12 << 20,
        "{}",
        page.len()
    );
    assert!(page.contains("left out, the oldest: a page has 16 MiB at most"));
    assert!(page.contains("answer 80 ") && !page.contains("answer 1 "));
}
