//! Translates the paths of validators. A definition knows its fields by their Rust names, not by what serde makes of them
//! (`rename_all`); the schema has the names that the model knows.

use super::{Rule, Rules};
use crate::text::same_letters;

/// Corrects a name that has the letters of only one member. `wrapped`: the path begins with the wrapper's member.
pub(crate) fn in_json_names(path: String, rules: &Rules, wrapped: bool) -> String {
    let start = if wrapped {
        rules.root_rule()
    } else {
        rules.own()
    };
    if start.has_property(&path) || path.is_empty() {
        return path;
    }
    let mut at = vec![start];
    let mut named = String::with_capacity(path.len());
    let mut rest = &*path;
    while !rest.is_empty() {
        let (step, behind) = rest.split_at(step_length(rest));
        rest = behind;
        let leaves: Vec<&Rule> = at.iter().flat_map(|rule| rules.leaves(rule)).collect();
        let inner = |find: &dyn Fn(&Rule) -> Option<usize>| -> Vec<&Rule> {
            leaves
                .iter()
                .filter_map(|rule| Some(rules.at(find(rule)?)))
                .collect()
        };
        if let Some(index) = step.strip_prefix('[') {
            let index = index.trim_end_matches(']');
            let key = index
                .strip_prefix('"')
                .and_then(|key| key.strip_suffix('"'));
            at = match key {
                Some(key) => inner(&|rule| rule.member(key)),
                None => inner(&|rule| rule.item(index.parse().ok()?)),
            };
            named.push_str(step);
            continue;
        }
        let (dot, name) = step
            .strip_prefix('.')
            .map_or(("", step), |name| (".", name));
        let mut known: Vec<&str> = leaves.iter().flat_map(|rule| rule.names()).collect();
        known.retain(|known| same_letters(known, name));
        known.sort_unstable();
        known.dedup();
        let name = match known[..] {
            [only] => only,
            _ => name,
        };
        at = inner(&|rule| rule.member(name));
        named.push_str(dot);
        named.push_str(name);
    }
    named
}

fn step_length(path: &str) -> usize {
    let closing = if path.starts_with("[\"") { "\"]" } else { "]" };
    if path.starts_with('[') {
        return path
            .find(closing)
            .map_or(path.len(), |at| at + closing.len());
    }
    path.char_indices()
        .skip(1)
        .find(|(_, c)| matches!(c, '.' | '['))
        .map_or(path.len(), |(at, _)| at)
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
