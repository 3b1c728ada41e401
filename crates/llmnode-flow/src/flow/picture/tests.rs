use std::time::Duration;

use llmnode_runtime::Category;
use proptest::prelude::*;

use super::*;
use crate::flow::Position;
use crate::flow::outline::{EdgeTarget, OutlineStep};
use crate::flow::record::StepStats;

fn step(label: &str, place: Outline, edges: &[(&str, Option<&str>)]) -> OutlineStep {
    let target = |to: &Option<&str>| match to {
        Some("todo!") => EdgeTarget::Todo,
        Some(label) => EdgeTarget::Step(label.to_string().into()),
        None => EdgeTarget::End,
    };
    let edges = edges
        .iter()
        .map(|(action, to)| (action.to_string().into(), target(to)))
        .collect();
    OutlineStep {
        label: label.to_owned().into(),
        place,
        edges,
    }
}

fn node(name: &str) -> Outline {
    Outline::Node(name.to_owned().into())
}

fn research() -> Outline {
    let inner = Outline::Flow(
        "translate".into(),
        vec![
            step("Cut", node("cut"), &[("", Some("Join"))]),
            step("Join", Outline::Batch("join".into()), &[("", None)]),
        ],
    );
    let gather = Outline::Parallel(vec![node("weather"), node("news")]);
    Outline::Flow(
        "research".into(),
        vec![
            step(
                "Decide",
                node("decide"),
                &[
                    ("Search", Some("Search")),
                    ("Answer", Some("Sub")),
                    ("_", Some("todo!")),
                ],
            ),
            step("Search", node("look_up"), &[("", Some("Decide"))]),
            step("Sub", inner, &[("", Some("Gather"))]),
            step("Gather", gather, &[("", None)]),
        ],
    )
}

#[test]
fn a_picture_shows_steps_edges_and_what_is_nested() {
    let text = research().mermaid();
    for part in [
        "s0[\"Decide\"]\n",
        "s1[\"Search (look_up)\"]\n",
        "subgraph s2[\"Sub (translate)\"]\n",
        "s2_1[[\"Join<br/>each#58; join\"]]\n",
        "s3[[\"Gather<br/>weather | news\"]]\n",
        "s_begin --> s0\n",
        "s0 -->|\"Search\"| s1\n",
        "s0 -->|\"Answer\"| s2__begin\n",
        "s0 -.->|\"other\"| s_todo\n",
        "s2__done --> s3\n",
        "s3 --> s_done\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn names_of_any_kind_stay_names() {
    let odd = "a\"]-->x\n<b>&lt;\\ `c` #35; end %% {1. ü🦀";
    let flow = Outline::Flow(odd.into(), vec![step(odd, node("n"), &[(odd, None)])]);
    let text = flow.mermaid();
    assert!(
        text.contains("s0[\"a#34;#93;#45;#45;#62;x #60;b#62;#38;lt#59;#92; "),
        "{text}"
    );
    let long = Outline::Node("x".repeat(10_000).into()).mermaid();
    assert!(long.len() < 1000, "a name is cut");
}

/// Writes the pictures down for the real parsers (`scripts/pictures`), if they are asked for.
fn keep(outline: &Outline, record: Option<&FlowRecord>) {
    use std::collections::hash_map::DefaultHasher;
    use std::hash::{Hash, Hasher};
    let Some(folder) = std::env::var_os("LLMNODE_PICTURES") else {
        return;
    };
    let mermaid = record.map_or_else(|| outline.mermaid(), FlowRecord::mermaid);
    let mut name = DefaultHasher::new();
    mermaid.hash(&mut name);
    let path = std::path::Path::new(&folder).join(format!("{:016x}", name.finish()));
    std::fs::write(path.with_extension("mmd"), mermaid).unwrap();
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{1,8}",
        "\\PC{0,12}",
        any::<String>(),
        Just("end".to_owned()),
        Just("subgraph".to_owned()),
        Just("\"]; click s0 call x()".to_owned()),
    ]
}

fn outline() -> impl Strategy<Value = Outline> {
    let leaf = prop_oneof![
        name().prop_map(|name| Outline::Node(name.into())),
        name().prop_map(|name| Outline::Batch(name.into())),
        prop::collection::vec(name().prop_map(|name| Outline::Node(name.into())), 2..4)
            .prop_map(Outline::Parallel),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let steps = prop::collection::vec(
            (
                name(),
                inner,
                prop::collection::vec((name(), 0..6_usize), 0..3),
            ),
            0..4,
        );
        (name(), steps).prop_map(|(name, steps)| {
            let labels: Vec<_> = steps.iter().map(|(label, ..)| label.clone()).collect();
            let target = |to: usize| match labels.get(to) {
                Some(label) => EdgeTarget::Step(label.clone().into()),
                None if to.is_multiple_of(2) => EdgeTarget::End,
                None => EdgeTarget::Todo,
            };
            let steps = steps.iter().map(|(label, place, edges)| OutlineStep {
                label: label.clone().into(),
                place: place.clone(),
                edges: edges
                    .iter()
                    .map(|(action, to)| (action.clone().into(), target(*to)))
                    .collect(),
            });
            Outline::Flow(name.into(), steps.collect())
        })
    })
}

/// What a line is made of when its texts are taken out: `"…"`.
fn skeleton(line: &str) -> Option<String> {
    let (mut skeleton, mut quoted) = (String::new(), false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            c => skeleton.push(c),
        }
    }
    (!quoted).then_some(skeleton)
}

fn is_id(word: &str) -> bool {
    word.starts_with('s') && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a line is one of those that the grammar of flowcharts has.
fn is_mermaid(line: &str) -> bool {
    if line == "end"
        || line.starts_with("classDef ")
        || line.starts_with("%% ") && !line.contains(['{', '}'])
    {
        return true;
    }
    let Some(bare) = skeleton(line) else {
        return false;
    };
    let (bare, _class) = bare.split_once(":::").unwrap_or((&bare, ""));
    let words: Vec<_> = bare.split(' ').collect();
    match words.as_slice() {
        ["subgraph", id] => id.strip_suffix("[]").is_some_and(is_id),
        [
            from,
            "-->" | "==>" | "-.->" | "-->||" | "==>||" | "-.->||",
            to,
        ] => is_id(from) && is_id(to),
        [one] => ["([])", "[[]]", "[]"]
            .iter()
            .any(|shape| one.strip_suffix(shape).is_some_and(is_id)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn names_cannot_break_a_picture(outline in outline()) {
        keep(&outline, None);
        let mermaid = outline.mermaid();
        prop_assert_eq!(mermaid.lines().next(), Some("flowchart TD"));
        for line in mermaid.lines().skip(1) {
            prop_assert!(is_mermaid(line.trim_start()), "{line}");
        }
        let opened = mermaid.lines().filter(|line| line.trim_start().starts_with("subgraph ")).count();
        prop_assert_eq!(opened, mermaid.lines().filter(|line| line.trim() == "end").count());
    }
}

fn taken(position: &[&'static str], visits: u64, failures: u64, tokens: u64) -> StepStats {
    let mut stats: StepStats = StepStats {
        position: position.iter().copied().collect(),
        node: String::new(),
        visits,
        failures,
        usage: Default::default(),
        asking: Duration::ZERO,
        elapsed: Duration::from_millis(1234),
    };
    stats.usage.total.known = tokens;
    stats
}

fn edge(from: &[&'static str], action: &str, times: u64) -> (Position, String, u64) {
    (from.iter().copied().collect(), action.to_owned(), times)
}

#[test]
fn a_record_shows_the_path_and_what_each_step_took() {
    let record = FlowRecord {
        outline: research(),
        position: Some(["Gather"].into_iter().collect()),
        category: Some(Category::Network),
        taken: 8,
        path: Vec::new(),
        steps: vec![
            taken(&["Decide"], 3, 0, 1200),
            taken(&["Search"], 2, 0, 0),
            taken(&["Sub", "Cut"], 1, 0, 0),
            taken(&["Sub", "Join"], 1, 0, 77),
            taken(&["Gather"], 1, 1, 0),
        ],
        edges: vec![
            edge(&["Decide"], "Search", 2),
            edge(&["Search"], "", 2),
            edge(&["Decide"], "Answer", 1),
            edge(&["Sub", "Cut"], "", 1),
            edge(&["Sub", "Join"], "", 1),
            edge(&["Sub"], "", 1),
        ],
        elapsed: Duration::from_secs(9),
    };
    keep(&record.outline, Some(&record));
    let text = record.mermaid();
    for part in [
        "s0[\"Decide<br/>3×, 1#46;2s, 1200 tokens\"]:::taken\n",
        "s3[[\"Gather<br/>weather | news<br/>1×, 1#46;2s\"]]:::failed\n",
        "s_begin ==> s0\n",
        "s0 ==>|\"Search 2×\"| s1\n",
        "s1 ==>|\"2×\"| s0\n",
        "s2__begin ==> s2_0\n",
        "s2__done ==> s3\n",
        "s3 --> s_done\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }

    let begun = FlowRecord {
        category: None,
        steps: Vec::new(),
        edges: Vec::new(),
        position: Some(["Search"].into_iter().collect()),
        ..record
    };
    let text = begun.mermaid();
    assert!(
        text.contains("s1[\"Search (look_up)\"]:::here") && text.contains("s0[\"Decide\"]:::idle"),
        "{text}"
    );
    keep(&research(), None);
}
