//! What `docs/reading.md` says of texts is so.

use llmnode::{Flag, Reader};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../docs/reading.md");

/// The rows of the table with this first line, each cell without its backticks.
fn table(head: &str) -> Vec<Vec<String>> {
    let table = PAGE.split_once(head).map_or("", |(_, table)| table);
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    rows.map(|row| row.trim_matches('|').split(" | ").map(cell).collect()).collect()
}

fn text(shown: &str) -> String {
    shown.replace('↵', "\n").replace('␣', "\u{a0}")
}

#[test]
fn each_text_of_the_page_is_repaired_as_it_says() {
    let rows = table("| text | value | repair |\n");
    assert_eq!(rows.len(), 27);
    for row in rows {
        let [shown, value, repairs] = &row[..] else { panic!("{row:?}") };
        let reading = Reader::new().value(&text(shown)).unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(reading.value, serde_json::from_str::<Value>(value).unwrap(), "{shown}");
        let made = reading.notes.iter().filter(|note| matches!(note.flag, Flag::Repaired(_)));
        let made: Vec<_> =
            made.map(|note| json!(note.flag)["repaired"].as_str().unwrap().to_owned()).collect();
        assert_eq!(made.join("`, `"), *repairs, "{shown}");
        let places = reading.notes.iter().all(|note| note.place.starts_with("line ") && note.times >= 1);
        assert!(places, "{:?}", reading.notes);
    }
}

#[test]
fn each_text_of_the_page_is_refused_as_it_says() {
    let rows = table("| text | error |\n");
    assert_eq!(rows.len(), 58);
    for row in rows {
        let [shown, words] = &row[..] else { panic!("{row:?}") };
        let error = Reader::new().value(&text(shown)).unwrap_err();
        assert!(error.to_string().contains(words), "{shown}: {error}");
        assert_eq!(error.violations().len(), 1, "{shown}");
    }
}

#[test]
fn a_reader_that_does_not_repair_takes_only_json() {
    let strict = Reader::new().repair(false);
    for row in table("| text | value | repair |\n") {
        let shown = text(&row[0]);
        match strict.value(&shown) {
            Ok(reading) => {
                // JSON among what a repair would have passed over.
                assert_eq!(
                    reading.notes.iter().map(|note| note.flag).collect::<Vec<_>>(),
                    [Flag::InProse],
                    "{shown}"
                );
                assert_eq!(reading.value, json!({"a": 1}), "{shown}");
            }
            Err(error) => assert!(
                error.to_string().starts_with("invalid JSON at")
                    || error.to_string().contains("not complete"),
                "{shown}: {error}"
            ),
        }
    }
    assert_eq!(strict.value("So: [1, 2]").unwrap().value, json!([1, 2]));
}

#[test]
fn a_wrapped_object_stays_wrapped_where_no_type_is_asked_for() {
    let reader = Reader::new();
    assert_eq!(reader.value("{\"value\": [1]}").unwrap().value, json!({"value": [1]}));
    assert_eq!(reader.read::<Vec<u8>>("{\"value\": [1],}").unwrap().value, [1]);
}

#[test]
fn each_mark_of_thoughts_on_the_page_is_known() {
    let rows = table("| begins | ends |\n");
    assert_eq!(rows.len(), 11);
    for row in &rows {
        let marks =
            |cell: &str| cell.replace('\\', "").split('`').step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let [begins, ends] = &row[..] else { panic!("{row:?}") };
        for end in marks(ends) {
            let text = format!("{}{{\"a\": 1}}{end}{{\"a\": 2}}", marks(begins)[0]);
            let reading = Reader::new().value(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                (reading.value, reading.notes[0].flag),
                (json!({"a": 2}), Flag::AfterThinking),
                "{text}"
            );
        }
    }
}
