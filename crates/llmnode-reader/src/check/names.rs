//! Translates the paths of validators. A definition knows its fields by their Rust
//! names, not by what serde makes of them (`rename_all`); the schema has the names
//! that the model knows.
//!
//! A path is followed step by step through the rules, each step at all rules that
//! may be meant there. Where none has a name that could be meant, or several do,
//! the step stays as it is: a path that nobody finds is better than a wrong one.

use super::{Rule, Rules};
use crate::text::same_letters;

/// Corrects a name that has the letters of only one member. `wrapped`: the path
/// begins with the wrapper's member.
pub(crate) fn in_json_names(path: String, rules: &Rules, wrapped: bool) -> String {
    let start = if wrapped {
        rules.root_rule()
    } else {
        rules.answer_rule()
    };
    if start.has_property(&path) || path.is_empty() {
        return path;
    }
    let mut at = vec![start];
    let mut json_path = String::with_capacity(path.len());
    let mut rest = &*path;
    while !rest.is_empty() {
        let (step, behind) = rest.split_at(step_length(rest));
        rest = behind;
        let mut leaves: Vec<&Rule> = Vec::new();
        for rule in at {
            leaves.extend(rules.leaves(rule));
        }
        if let Some(index) = step.strip_prefix('[') {
            at = at_index(rules, &leaves, index.trim_end_matches(']'));
            json_path.push_str(step);
            continue;
        }
        let (dot, name) = match step.strip_prefix('.') {
            Some(name) => (".", name),
            None => ("", step),
        };
        let name = name_in_json(&leaves, name);
        at = at_member(rules, &leaves, name);
        json_path.push_str(dot);
        json_path.push_str(name);
    }
    json_path
}

/// The name that one of the rules has with these letters, if it is only one; else the name itself.
fn name_in_json<'n>(leaves: &[&'n Rule], name: &'n str) -> &'n str {
    let mut found: Vec<&str> = Vec::new();
    for rule in leaves {
        found.extend(rule.names().filter(|other| same_letters(other, name)));
    }
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [only] => only,
        _ => name,
    }
}

/// The rules of an item, or of a member whose name is in brackets and quotation marks.
fn at_index<'r>(rules: &'r Rules, leaves: &[&'r Rule], index: &str) -> Vec<&'r Rule> {
    let quoted = index.strip_prefix('"');
    if let Some(key) = quoted.and_then(|key| key.strip_suffix('"')) {
        return at_member(rules, leaves, key);
    }
    let Ok(index) = index.parse() else {
        return Vec::new();
    };
    let mut inner = Vec::new();
    for rule in leaves {
        if let Some(number) = rule.item(index) {
            inner.push(rules.at(number));
        }
    }
    inner
}

fn at_member<'r>(rules: &'r Rules, leaves: &[&'r Rule], name: &str) -> Vec<&'r Rule> {
    let mut inner = Vec::new();
    for rule in leaves {
        if let Some(number) = rule.member(name) {
            inner.push(rules.at(number));
        }
    }
    inner
}

/// How long the first step of a path is, with its dot or its brackets. A quoted
/// name may have brackets in it.
fn step_length(path: &str) -> usize {
    if path.starts_with('[') {
        let closing = if path.starts_with("[\"") { "\"]" } else { "]" };
        return match path.find(closing) {
            Some(at) => at + closing.len(),
            None => path.len(),
        };
    }
    for (at, c) in path.char_indices().skip(1) {
        if matches!(c, '.' | '[') {
            return at;
        }
    }
    path.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::in_json_names;
    use crate::OutputSchema;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "for its schema")]
    struct Plan {
        first_step: Step,
        by_name: BTreeMap<String, Step>,
        #[serde(rename = "a.b")]
        dotted: (u8, Option<Step>),
        way_out: Vec<Way>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "SCREAMING-KEBAB-CASE")]
    #[expect(dead_code, reason = "for its schema")]
    struct Step {
        item_name: String,
        a_b: u8,
        ab: u8,
        then: Option<Box<Step>>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case", rename_all_fields = "PascalCase")]
    #[expect(dead_code, reason = "for its schema")]
    enum Way {
        OnFoot { how_far: u32 },
        ByTrain { first_class: bool },
        Nowhere,
    }

    #[test]
    fn rust_names_become_the_names_of_the_schema() {
        let schema = OutputSchema::of::<Plan>();
        for (path, named) in [
            ("", ""),
            ("first_step.item_name", "firstStep.ITEM-NAME"),
            (
                "firstStep.then.then.item_name",
                "firstStep.THEN.THEN.ITEM-NAME",
            ),
            ("by_name.item_name.item_name", "byName.item_name.ITEM-NAME"),
            (
                "by_name[\"a key\"].item_name",
                "byName[\"a key\"].ITEM-NAME",
            ),
            ("[\"a.b\"][1].item_name", "[\"a.b\"][1].ITEM-NAME"),
            ("way_out[2].OnFoot.how_far", "wayOut[2].on_foot.HowFar"),
            (
                "way_out[2].ByTrain.first_class.x[0]",
                "wayOut[2].by_train.FirstClass.x[0]",
            ),
        ] {
            assert_eq!(in_json_names(path.to_owned(), &schema.rules, false), named);
        }
    }

    #[test]
    fn what_is_not_known_or_not_clear_stays() {
        let schema = OutputSchema::of::<Plan>();
        for path in [
            "second_step.item_name",
            "firstStep.a_b",
            "firstStep.ab.c",
            "[",
            "[\"",
            ".",
            "firstStep..x",
            "[x]é",
        ] {
            assert_eq!(in_json_names(path.to_owned(), &schema.rules, false), path);
        }
    }

    #[test]
    fn a_wrapped_value_has_the_wrapper_before_it() {
        let schema = OutputSchema::of::<Vec<Step>>();
        assert_eq!(
            in_json_names("value[1].item_name".into(), &schema.rules, true),
            "value[1].ITEM-NAME"
        );
        assert_eq!(
            in_json_names("[1].item_name".into(), &schema.rules, false),
            "[1].ITEM-NAME"
        );
    }
}
