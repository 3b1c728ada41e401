//! Files with random changes: nothing panics, and every fault is reported once, at a place that the file has.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use llmnode_graph::{CheckedRegistry, Graph, Registry};
use llmnode_runtime::{BoxError, ScriptedModel, Toolset};
use proptest::prelude::*;
use serde_json::{Value, json};

fn registry() -> CheckedRegistry {
    let tools =
        ["web_search", "search", "calculator"]
            .into_iter()
            .fold(Toolset::new(), |tools, name| {
                tools.function(name, "A tool.", |query: String| async {
                    Ok::<String, BoxError>(query)
                })
            });
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/subgraphs");
    Registry::new()
        .tools(tools)
        .model("good", ScriptedModel::new())
        .model("1", ScriptedModel::new())
        .folder(data)
        .build()
        .unwrap()
}

fn good() -> Vec<Value> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        here.join("tests/data/good"),
        here.join("../../examples/data/graphs"),
    ];
    let mut files: Vec<_> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

/// Every place of a file.
fn places(value: &Value, at: &str, to: &mut Vec<String>) {
    to.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                places(
                    value,
                    &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                    to,
                );
            }
        }
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(at_of, value)| places(value, &format!("{at}/{at_of}"), to)),
        _ => {}
    }
}

/// What a change does at its place.
#[derive(Clone, Debug)]
enum Change {
    Put(Value),
    Remove,
    Rename(String),
    Twice,
}

fn change() -> impl Strategy<Value = Change> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..2000).prop_map(Value::from),
        "[a-z{} _/~.é]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "END",
            "start",
            "agent",
            "router",
            "default",
            "error",
            "tool-call",
            "n",
            "{{ x }}",
            "a"
        ])
        .prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[{"a": []}]])),
    ];
    prop_oneof![
        4 => value.prop_map(Change::Put),
        2 => Just(Change::Remove),
        1 => "[a-z_]{1,8}".prop_map(Change::Rename),
        1 => Just(Change::Twice),
    ]
}

fn changed(file: &mut Value, place: &str, change: &Change) {
    let Some((around, part)) = place.rsplit_once('/') else {
        return;
    };
    let part = part.replace("~1", "/").replace("~0", "~");
    let own = file.pointer(place).cloned();
    match (file.pointer_mut(around), change) {
        (Some(Value::Object(members)), Change::Put(value)) => {
            members.insert(part, value.clone());
        }
        (Some(Value::Object(members)), Change::Remove) => {
            members.remove(&part);
        }
        (Some(Value::Object(members)), Change::Rename(name)) => {
            members.remove(&part);
            members.extend(own.map(|value| (name.clone(), value)));
        }
        (Some(Value::Array(list)), change) => match (part.parse::<usize>(), change) {
            (Ok(at), Change::Put(value)) if at < list.len() => list[at] = value.clone(),
            (Ok(at), Change::Remove) if at < list.len() => {
                list.remove(at);
            }
            (Ok(at), Change::Twice) if at < list.len() => list.push(list[at].clone()),
            _ => {}
        },
        _ => {}
    }
}

static FILES: LazyLock<Vec<Value>> = LazyLock::new(good);
static REGISTRY: LazyLock<CheckedRegistry> = LazyLock::new(registry);

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_changed_is_told_once_and_at_its_place(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..4),
    ) {
        let mut file = FILES[which.index(FILES.len())].clone();
        for (place, change) in changes {
            let mut all = Vec::new();
            places(&file, "", &mut all);
            changed(&mut file, &all[place.index(all.len())], &change);
        }
        if let Err(faults) = Graph::parse(&file.to_string(), &REGISTRY) {
            prop_assert!(!faults.faults.is_empty(), "refused without a fault: {file}");
            let mut seen = HashSet::new();
            for fault in faults.faults.iter().chain(&faults.warnings) {
                prop_assert!(seen.insert((fault.place(), fault.kind, fault.message.clone())), "twice: {fault}");
                let pointer = fault.via.first().unwrap_or(&fault.pointer);
                // What lacks has its place in what would hold it, or in what would hold that.
                let around = |pointer: &str| pointer.rsplit_once('/').map(|(around, _)| around.to_owned());
                let holders = [Some(pointer.clone()), around(pointer), around(pointer).and_then(|one| around(&one))];
                let is_there = holders.iter().flatten().any(|place| file.pointer(place).is_some());
                prop_assert!(is_there, "no such place: {fault}");
                prop_assert!(!fault.message.is_empty() && !fault.to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn text_of_any_kind_is_refused_without_a_panic(text in "[\\[\\]{}\",:0-9a-z \\\\]{0,60}", cut in 0_usize..2000) {
        let _ = Graph::parse(&text, &REGISTRY);
        let whole = FILES[cut % FILES.len()].to_string();
        let end = (0..=cut.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or_default();
        let _ = Graph::parse(&whole[..end], &REGISTRY);
    }
}
