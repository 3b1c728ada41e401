//! What a schema asks for, in a few words.

use super::describe::{expected, join_some, property_list};
use super::variant::Variants;
use super::{Rule, Rules};
use crate::json::Json;
use crate::tree::WRAPPER;

pub(in super::super) fn expected_answer(rules: &Rules, wrapped: bool) -> Option<String> {
    let own = of(rules, rules.own())?;
    Some(if wrapped {
        format!("{{\"{WRAPPER}\": ..}} with {own}")
    } else {
        own
    })
}

fn of(rules: &Rules, rule: &Rule) -> Option<String> {
    let rule = rule.ref_target.map_or(rule, |to| rules.at(to));
    if !rule.values().is_empty() {
        return Some(format!(
            "one of {}",
            join_some(rule.values().iter().map(Json::to_string), ", ")
        ));
    }
    match rule.types() {
        [] => variants(rules, rule),
        // Optional members too: the answer had none yet.
        [kind] if kind == "object" && !property_list(rule).is_empty() => {
            Some(format!("an object with {}", property_list(rule)))
        }
        [kind] if kind == "null" => Some("null".to_owned()),
        [kind, ..] => {
            let article = if kind.starts_with(['a', 'i', 'o']) {
                "an"
            } else {
                "a"
            };
            Some(format!("{article} {}", expected(rule)))
        }
    }
}

fn variants(rules: &Rules, rule: &Rule) -> Option<String> {
    let forms = rule
        .one_of
        .iter()
        .chain(&rule.any_of)
        .map(|form| rules.at(*form));
    Some(format!(
        "one of {}",
        Variants::of(&forms.collect::<Vec<_>>())?.all()
    ))
}
