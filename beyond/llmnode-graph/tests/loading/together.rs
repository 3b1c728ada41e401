//! Mistakes made together: each load lists all of one stage, none that follows from another, and a few loads list all.

use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

use llmnode_graph::{CheckedRegistry, Graph};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{data, registry, told};

/// A mistake: its place in the good file, and the value there instead; `None`: nothing. Then its faults, as `kind place`.
struct Mistake {
    place: &'static str,
    value: Option<Value>,
    faults: &'static [&'static str],
}

/// A member under another name.
const RENAMED: &str = " > ";

fn mistakes() -> Vec<Mistake> {
    let mistake = |place, value: Value, faults| Mistake {
        place,
        value: Some(value),
        faults,
    };
    let gone = |place, faults| Mistake {
        place,
        value: None,
        faults,
    };
    vec![
        mistake("/max_steps", json!(0), &["out_of_range /max_steps"]),
        mistake(
            "/limits/requests",
            json!("many"),
            &["wrong_kind /limits/requests"],
        ),
        mistake("/name > /nmae", Value::Null, &["unknown_member /nmae"]),
        mistake(
            "/inputs/tone/type",
            json!("strin"),
            &["unknown_name /inputs/tone/type"],
        ),
        mistake(
            "/state/notes/reducer",
            json!("apend"),
            &["unknown_name /state/notes/reducer"],
        ),
        mistake(
            "/state/count/default",
            json!("x"),
            &["wrong_kind /state/count/default"],
        ),
        mistake(
            "/nodes/0/data/tools/0",
            json!("web_serch"),
            &["unknown_name /nodes/0/data/tools/0"],
        ),
        mistake(
            "/nodes/0/data/max_iterations",
            json!("five"),
            &["wrong_kind /nodes/0/data/max_iterations"],
        ),
        mistake(
            "/nodes/0/data/prompt",
            json!("Plan {{ user.nmae }}"),
            &["data /nodes/0/data/prompt"],
        ),
        mistake(
            "/nodes/0/data/isStart > /nodes/0/data/isStrat",
            Value::Null,
            &["unknown_member /nodes/0/data/isStrat"],
        ),
        mistake(
            "/nodes/1/data/source",
            json!("question"),
            &["wrong_kind /nodes/1/data/source"],
        ),
        mistake(
            "/nodes/1/data/item > /nodes/1/data/itme",
            Value::Null,
            &["unknown_member /nodes/1/data/itme"],
        ),
        mistake(
            "/nodes/2/data/prompt",
            json!("Find {{ subject }}"),
            &["data /nodes/2/data/prompt"],
        ),
        mistake(
            "/nodes/2/data/save_as > /nodes/2/data/output",
            Value::Null,
            &["unknown_member /nodes/2/data/output"],
        ),
        mistake(
            "/nodes/3/data/routes/0/condition",
            json!("contain"),
            &["unknown_name /nodes/3/data/routes/0/condition"],
        ),
        mistake(
            "/nodes/3/data/routes/1/value",
            json!("("),
            &["regex /nodes/3/data/routes/1/value"],
        ),
        mistake(
            "/nodes/4/data/profile",
            json!("fsat"),
            &["unknown_name /nodes/4/data/profile"],
        ),
        mistake(
            "/nodes/4/data/save_as > /nodes/4/data/save_to",
            Value::Null,
            &["unknown_member /nodes/4/data/save_to"],
        ),
        mistake(
            "/nodes/4/type",
            json!("agnt"),
            &["unknown_type /nodes/4/type"],
        ),
        mistake(
            "/nodes/5/data/input/text > /nodes/5/data/input/txt",
            Value::Null,
            &["data /nodes/5/data", "unknown_name /nodes/5/data/input/txt"],
        ),
        mistake(
            "/nodes/6/data/prompt",
            json!("Weigh {{ title }"),
            &["template /nodes/6/data/prompt"],
        ),
        mistake(
            "/nodes/7/data/prompt",
            json!("For {{ cons }}"),
            &["data /nodes/7/data/prompt"],
        ),
        mistake(
            "/nodes/7/data/require_approval",
            json!(true),
            &["fork_approval /nodes/7"],
        ),
        mistake(
            "/nodes/8/data/tool_name",
            json!("calculater"),
            &["unknown_name /nodes/8/data/tool_name"],
        ),
        mistake(
            "/nodes/9/data/save_as",
            json!("pros"),
            &["conflict /nodes/9/data/save_as"],
        ),
        mistake("/nodes/5/id", json!("bye"), &["duplicate /nodes/14/id"]),
        mistake(
            "/nodes/14/data/save_as",
            json!("count"),
            &["wrong_kind /nodes/14/data/save_as"],
        ),
        mistake(
            "/nodes/10/data/system_prompt",
            json!("Be {{ pros }}"),
            &["untrusted /nodes/10/data/system_prompt"],
        ),
        mistake(
            "/nodes/11/data/system_prompt",
            json!("{{ a {{ tone }}"),
            &["template /nodes/11/data/system_prompt"],
        ),
        mistake(
            "/nodes/12/data/require_approval",
            json!("yes"),
            &["wrong_kind /nodes/12/data/require_approval"],
        ),
        mistake(
            "/nodes/12/data/colour",
            json!("red"),
            &["unknown_member /nodes/12/data/colour"],
        ),
        mistake(
            "/nodes/13/data/flow_id",
            json!("innner"),
            &["unknown_name /nodes/13/data/flow_id"],
        ),
        mistake(
            "/nodes/14/data/prompt",
            json!("{{ txet }}"),
            &["data /nodes/14/data/prompt"],
        ),
        mistake(
            "/nodes/14/id > /nodes/14/idd",
            Value::Null,
            &["unknown_member /nodes/14/idd"],
        ),
        mistake(
            "/nodes/5/data/label",
            json!(5),
            &["wrong_kind /nodes/5/data/label"],
        ),
        mistake(
            "/edges/1/sourceHandle",
            json!("nxet"),
            &["unknown_handle /edges/1/sourceHandle"],
        ),
        mistake(
            "/edges/2/source",
            json!("lok"),
            &["unknown_node /edges/2/source"],
        ),
        mistake(
            "/edges/5/target",
            json!("tial"),
            &["unknown_node /edges/5/target"],
        ),
        mistake("/edges/6/target", json!("short"), &["endless /nodes/4"]),
        mistake(
            "/edges/9/target",
            json!("merge"),
            &["unreachable /nodes/9", "fork_to_join /edges/9"],
        ),
        mistake(
            "/edges/13/sourceHandle",
            json!("tool_call"),
            &["unknown_handle /edges/13/sourceHandle"],
        ),
        mistake(
            "/edges/15/target",
            json!("somewhere"),
            &["unknown_node /edges/15/target"],
        ),
        mistake(
            "/edges/16/target > /edges/16/taget",
            Value::Null,
            &["unknown_member /edges/16/taget"],
        ),
        mistake(
            "/edges/17/sourceHandle",
            json!("reject"),
            &["unknown_handle /edges/17/sourceHandle"],
        ),
        gone("/edges/20", &["missing_edge /nodes/3"]),
    ]
}

static WHOLE: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(&fs::read_to_string(data("whole.json")).unwrap()).unwrap()
});

impl Mistake {
    fn make(&self, file: &mut Value) {
        let (place, to) = self
            .place
            .split_once(RENAMED)
            .unwrap_or((self.place, self.place));
        let (around, name) = place.rsplit_once('/').unwrap();
        match file.pointer_mut(around).unwrap() {
            Value::Array(list) => match &self.value {
                Some(value) => list[name.parse::<usize>().unwrap()] = value.clone(),
                None => drop(list.remove(name.parse().unwrap())),
            },
            Value::Object(members) => {
                let old = members.remove(name);
                let (_, name) = to.rsplit_once('/').unwrap();
                let value = if place == to { self.value.clone() } else { old };
                members.extend(value.map(|value| (name.to_owned(), value)));
            }
            _ => panic!("{place}"),
        }
    }
}

/// All that is said of a file; a warning counts as a fault.
fn faults(file: &Value, registry: &CheckedRegistry) -> BTreeSet<String> {
    match Graph::parse(&file.to_string(), registry) {
        Ok(graph) => graph.warnings().iter().map(told).collect(),
        Err(faults) => faults
            .faults
            .iter()
            .chain(&faults.warnings)
            .map(told)
            .collect(),
    }
}

/// Shapes and names, then paths, then data.
fn stage(fault: &str) -> usize {
    match fault.split_once(' ').unwrap() {
        (_, "/nodes/1/data/source" | "/nodes/14/data/save_as") => 3,
        ("data" | "conflict" | "untrusted", _) => 3,
        ("unreachable" | "endless" | "fork_to_join" | "fork_approval", _) => 2,
        _ => 1,
    }
}

/// The node of `/nodes/3/data/routes`.
fn node_of(place: &str) -> Option<&str> {
    place.strip_prefix("/nodes/")?.split('/').next()
}

/// Whether a mistake may hide a fault of its own stage: of a node of which the settings cannot be read, the rest is unknown; of
/// an edge whose end is unknown, whether it leads to a tool.
fn hides(file: &Value, other: &Mistake, fault: &str) -> bool {
    let place = fault.split_once(' ').unwrap().1;
    let index = |id: &Value| {
        file["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .position(|node| node["id"] == *id)
    };
    let source = place.strip_prefix("/edges/").and_then(|rest| {
        let edge: usize = rest.split('/').next().unwrap().parse().unwrap();
        index(&file["edges"][edge]["source"])
    });
    let of_edges =
        source.is_some() || place == "/nodes/0/data/tools/0" || fault.starts_with("missing_edge");
    let names_edges = other.place.starts_with("/edges")
        || other.place.ends_with("/id")
        || other.place.ends_with("/idd");
    node_of(other.place).is_some_and(|node| node_of(place) == Some(node))
        || of_edges && names_edges
        || source.is_some_and(|source| node_of(other.place) == Some(&source.to_string()))
}

/// Makes these mistakes in one file, and corrects in turn what a load lists. Returns how many loads list all of them.
fn together(which: &[&Mistake], registry: &CheckedRegistry) -> Result<usize, String> {
    let (mut left, mut loads) = (which.to_vec(), 0);
    while !left.is_empty() {
        let mut file = WHOLE.clone();
        left.iter().for_each(|mistake| mistake.make(&mut file));
        let found = faults(&file, registry);
        let places: Vec<&str> = left.iter().map(|mistake| mistake.place).collect();
        let expected = || left.iter().flat_map(|mistake| mistake.faults);
        let more: Vec<_> = found
            .iter()
            .filter(|fault| !expected().any(|one| one == fault))
            .collect();
        if !more.is_empty() {
            return Err(format!("{places:?}\ntold, too: {more:?}"));
        }
        let first = expected().map(|fault| stage(fault)).min();
        let is_hidden = |mistake: &Mistake, fault: &str| {
            left.iter()
                .any(|other| other.place != mistake.place && hides(&WHOLE, other, fault))
        };
        let lacking: Vec<&str> = left
            .iter()
            .flat_map(|mistake| mistake.faults.iter().map(move |fault| (mistake, *fault)))
            .filter(|(mistake, fault)| {
                Some(stage(fault)) == first && !found.contains(*fault) && !is_hidden(mistake, fault)
            })
            .map(|(_, fault)| fault)
            .collect();
        if !lacking.is_empty() {
            return Err(format!("{places:?}\nnot told: {lacking:?}"));
        }
        let count = left.len();
        left.retain(|mistake| !mistake.faults.iter().any(|fault| found.contains(*fault)));
        if left.len() == count {
            return Err(format!("{places:?}\nnothing is told"));
        }
        loads += 1;
    }
    Ok(loads)
}

#[test]
fn every_two_mistakes_are_found_in_two_loads() {
    let (registry, all) = (registry(), mistakes());
    assert_eq!(faults(&WHOLE, &registry), BTreeSet::new());
    let pairs = all
        .iter()
        .enumerate()
        .flat_map(|(at, one)| all[at..].iter().map(move |other| [one, other]));
    let pairs: Vec<[&Mistake; 2]> = pairs.collect();
    let wrong_of = |pairs: &[[&Mistake; 2]]| -> Vec<String> {
        let wrong = |[one, other]: &[&Mistake; 2]| {
            let which = if one.place == other.place {
                vec![*one]
            } else {
                vec![*one, *other]
            };
            together(&which, &registry).err()
        };
        pairs.iter().filter_map(wrong).collect()
    };
    // The longest test of this program: it would run alone at the end.
    let (first, second) = pairs.split_at(pairs.len() / 2);
    let wrong = std::thread::scope(|threads| {
        let second = threads.spawn(|| wrong_of(second));
        [wrong_of(first), second.join().unwrap()].concat()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

static REGISTRY: LazyLock<CheckedRegistry> = LazyLock::new(registry);

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mistakes_are_found_in_a_few_loads(chosen in prop::collection::vec(any::<bool>(), mistakes().len())) {
        let all = mistakes();
        let which: Vec<&Mistake> = all.iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen).map(|(one, _)| one).collect();
        let loads = together(&which, &REGISTRY);
        prop_assert!(matches!(loads, Ok(0..=6)), "{loads:?}");
    }
}
