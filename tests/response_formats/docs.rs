//! The claims of `docs/schemas.md` about shapes and limits.

use std::collections::BTreeMap;

use llmnode::ResponseFormat;

use crate::zoo::zoo;

const PAGE: &str = include_str!("../../docs/schemas.md");

/// The cells of the rows of all tables.
fn rows() -> Vec<Vec<&'static str>> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| "));
    rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

#[test]
fn the_table_of_shapes_has_each_shape_and_what_strict_mode_makes_of_it() {
    let mut listed = BTreeMap::<&str, &str>::new();
    for row in rows()
        .into_iter()
        .filter(|row| ["as it is", "yes", "no"].contains(&row[0]))
    {
        for link in row[1].split(", ") {
            let name = link.split('`').nth(1).unwrap();
            assert_eq!(
                link,
                format!("[`{name}`](../tests/snapshots/shape.{name}.txt)")
            );
            listed.insert(name, row[0]);
        }
    }
    let shapes = zoo();
    let is: BTreeMap<&str, &str> = shapes
        .iter()
        .map(|shape| {
            let strict = match shape.schema.strict() {
                Ok(strict) if strict.get() == shape.schema.plain().get() => "as it is",
                Ok(_) => "yes",
                Err(_) => "no",
            };
            (shape.name, strict)
        })
        .collect();
    assert_eq!(listed, is);
}

/// Each strict-mode fault of a shape is in the table, with its remedy.
#[test]
fn the_faults_of_strict_mode_stand_in_the_table() {
    let table = rows();
    let says = |what: &str| table.iter().any(|row| row[0].starts_with(what));
    for shape in zoo() {
        for (_, what, _) in shape
            .schema
            .strict()
            .err()
            .into_iter()
            .flat_map(|error| error.problems())
        {
            assert!(says(what), "{what} is not in docs/schemas.md");
        }
    }
}

#[test]
fn the_table_of_dialects_has_all_and_their_order_stands_below() {
    let named: Vec<&str> = rows().into_iter().map(|row| row[0]).collect();
    for response_format in [
        ResponseFormat::Strict,
        ResponseFormat::Schema,
        ResponseFormat::JsonObject,
        ResponseFormat::Prompt,
        ResponseFormat::Tool,
    ] {
        assert!(
            named.contains(&format!("`{response_format:?}`").as_str()),
            "{response_format:?}"
        );
    }
    let words: Vec<&str> = PAGE.split_whitespace().collect();
    let page = words.join(" ");
    assert!(page.contains("in this order: `Tool`, `Strict`, `Schema`, `JsonObject`, `Prompt`"));
}

/// What the page has a model write for the variants of enums is what serde writes.
#[test]
fn the_table_of_enums_shows_what_serde_writes() {
    let shapes = zoo();
    let mut seen = 0;
    for row in rows() {
        let Some((_, name)) = row[0].split_once("([`enum_") else {
            continue;
        };
        let name = format!("enum_{}", name.split('`').next().unwrap());
        let written = &shapes
            .iter()
            .find(|shape| shape.name == name)
            .unwrap()
            .samples;
        // A variant without content is `null` where there is no tag; the zoo has none.
        let cells = row[1..].iter().filter(|cell| **cell != "`null`");
        for cell in cells {
            let value: serde_json::Value = serde_json::from_str(cell.trim_matches('`')).unwrap();
            assert!(written.contains(&value), "{name}: {cell}");
        }
        seen += 1;
    }
    assert_eq!(seen, 4);
}
