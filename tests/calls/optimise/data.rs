//! Datasets of nodes with a goal.

use llmnode::evals::Dataset;

use super::Answer;
use super::colours::{Name, colours};

#[tokio::test]
async fn a_file_becomes_cases_of_a_node_with_a_goal() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-colours-{}.jsonl", std::process::id()));
    let rows = "{\"colour\": \"warm 1\", \"expected\": {\"answer\": \"a\"}}\n{\"colour\": \"cold 1\", \"answer\": \"b\"}\n";
    std::fs::write(&path, rows).unwrap();
    let data = Dataset::<Name, Answer>::open(&path).unwrap();
    let read: Vec<_> = data
        .cases()
        .map(|(name, answer)| (name.colour.as_str(), answer.answer.as_str()))
        .collect();
    assert_eq!(read, [("warm 1", "a"), ("cold 1", "b")]);

    std::fs::write(
        &path,
        format!("{rows}{{\"colour\": 3}}\n{{\"answer\": \"x\"}}\n"),
    )
    .unwrap();
    let shown = Dataset::<Name, Answer>::open(&path)
        .unwrap_err()
        .to_string();
    assert!(
        shown.contains("2 lines are no case\nline 3: ") && shown.contains("\nline 4: "),
        "{shown}"
    );
    assert!(shown.contains("colour: is missing"), "{shown}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn cases_are_split_by_a_seed_and_equal_inputs_stay_together() {
    let twice = || {
        Dataset::new(
            colours(0..20)
                .cases()
                .chain(colours(0..20).cases())
                .map(|(name, answer)| {
                    (
                        Name {
                            colour: name.colour.clone(),
                        },
                        answer.clone(),
                    )
                })
                .collect::<Vec<_>>(),
        )
    };
    let names = |data: &Dataset<Name, Answer>| {
        data.cases()
            .map(|(name, _)| name.colour.clone())
            .collect::<Vec<_>>()
    };
    let (first, second) = twice().split(0.5, 7);
    assert_eq!((first.len(), second.len()), (60, 60));
    assert!(
        names(&first)
            .iter()
            .all(|name| !names(&second).contains(name))
    );
    assert_eq!(names(&twice().split(0.5, 7).0), names(&first));
    assert_ne!(names(&twice().split(0.5, 8).0), names(&first));
}
