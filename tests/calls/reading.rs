//! The claims of `docs/reading.md` about texts.

use llmnode::{Flag, OutputSchema, Reader, Repair};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../docs/reading.md");

/// The rows of the table with this first line, each cell without its backticks.
fn table(head: &str) -> Vec<Vec<String>> {
    let (_, table) = PAGE.split_once(head).unwrap();
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    rows.map(|row| row.trim_matches('|').split(" | ").map(cell).collect())
        .collect()
}

fn text(shown: &str) -> String {
    let text = shown.replace('↵', "\n").replace('␣', "\u{a0}");
    text.strip_suffix("` in a fence")
        .map_or(text.clone(), |code| format!("```js\n{code}\n```"))
}

fn flags(repairs: &[Repair]) -> String {
    repairs
        .iter()
        .map(|repair| repair.flag.to_string())
        .collect::<Vec<_>>()
        .join("`, `")
}

fn schema(shown: &str) -> OutputSchema {
    OutputSchema::from_value("row", serde_json::from_str(shown).unwrap())
}

#[test]
fn each_text_of_the_page_is_repaired_as_it_says() {
    let rows = table("| text | value | flags |\n");
    assert_eq!(rows.len(), 17);
    for row in rows {
        let [shown, value, made] = &row[..] else {
            panic!("{row:?}")
        };
        let reading = Reader::new()
            .value(&text(shown))
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(
            reading.value,
            serde_json::from_str::<Value>(value).unwrap(),
            "{shown}"
        );
        assert_eq!(flags(&reading.repairs), *made, "{shown}");
        assert!(
            Reader::new().exact(true).value(&text(shown)).is_err(),
            "{shown}"
        );
    }
}

#[test]
fn each_text_of_the_page_is_fitted_as_it_says() {
    let rows = table("| schema | text | value | flags |\n");
    assert_eq!(rows.len(), 12);
    for row in rows {
        let [of, shown, value, made] = &row[..] else {
            panic!("{row:?}")
        };
        let shown = if shown.is_empty() { "**Red.**" } else { shown };
        let reading = Reader::new()
            .conforming(&text(shown), &schema(of))
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(reading.value.to_string(), *value, "{shown}");
        assert_eq!(flags(&reading.repairs), *made, "{shown}");
        assert!(
            Reader::new()
                .exact(true)
                .conforming(&text(shown), &schema(of))
                .is_err(),
            "{shown}"
        );
    }
}

#[test]
fn each_text_of_the_page_is_refused_as_it_says() {
    let rows = table("| text | error |\n");
    assert_eq!(rows.len(), 14);
    for row in rows {
        let [shown, words] = &row[..] else {
            panic!("{row:?}")
        };
        let error = Reader::new().value(&text(shown)).unwrap_err();
        assert!(error.to_string().contains(words), "{shown}: {error}");
        assert_eq!(error.violations().len(), 1, "{shown}");
    }
    let rows = table("| schema | text | error |\n");
    assert_eq!(rows.len(), 9);
    for row in rows {
        let [of, shown, words] = &row[..] else {
            panic!("{row:?}")
        };
        let error = Reader::new()
            .conforming(&text(shown), &schema(of))
            .unwrap_err()
            .to_string();
        assert!(
            error.replace('`', "").contains(&words.replace('`', "")),
            "{shown}: {error}"
        );
    }
}

#[test]
fn a_wrapped_object_stays_wrapped_where_no_type_is_asked_for() {
    let reader = Reader::new();
    assert_eq!(
        reader.value("{\"value\": [1]}").unwrap().value,
        json!({"value": [1]})
    );
    assert_eq!(
        reader.read::<Vec<u8>>("{\"value\": [1],}").unwrap().value,
        [1]
    );
}

#[test]
fn each_mark_of_thoughts_on_the_page_is_known() {
    let rows = table("| begins | ends |\n");
    assert_eq!(rows.len(), 11);
    for row in &rows {
        let marks = |cell: &str| {
            cell.replace('\\', "")
                .split('`')
                .step_by(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let [begins, ends] = &row[..] else {
            panic!("{row:?}")
        };
        for end in marks(ends) {
            let text = format!("{}{{\"a\": 1}}{end}{{\"a\": 2}}", marks(begins)[0]);
            let reading = Reader::new()
                .value(&text)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(reading.value, json!({"a": 2}), "{text}");
            assert_eq!(reading.repairs[0].flag, Flag::AfterThinking, "{text}");
        }
    }
}
