//! What a schema asks for, in a few words: for a model whose answer had no JSON at all.

use super::describe::{expected, join_some, property_list};
use super::variant::Variants;
use super::{Rule, Rules};
use crate::json::Json;
use crate::tree::WRAPPER;

/// `None`: it takes many things that have no short name. `wrapped`: the answer is
/// an object around the value.
pub(in super::super) fn expected_answer(rules: &Rules, wrapped: bool) -> Option<String> {
    let value = expected_value(rules, rules.answer_rule())?;
    if wrapped {
        return Some(format!("{{\"{WRAPPER}\": ..}} with {value}"));
    }
    Some(value)
}

/// Only one reference deep: types are.
fn expected_value(rules: &Rules, rule: &Rule) -> Option<String> {
    let rule = match rule.ref_target {
        Some(number) => rules.at(number),
        None => rule,
    };
    if !rule.values().is_empty() {
        let values = join_some(rule.values().iter().map(Json::to_string), ", ");
        return Some(format!("one of {values}"));
    }
    let Some(kind) = rule.types().first() else {
        return variants(rules, rule);
    };
    if rule.types().len() == 1 {
        if kind == "null" {
            return Some("null".to_owned());
        }
        // Optional members too: the answer had none yet.
        let properties = property_list(rule);
        if kind == "object" && !properties.is_empty() {
            return Some(format!("an object with {properties}"));
        }
    }
    let begins_with_vowel = kind.starts_with(['a', 'i', 'o']);
    let article = if begins_with_vowel { "an" } else { "a" };
    Some(format!("{article} {}", expected(rule)))
}

/// The names of an enum with content in some variant.
fn variants(rules: &Rules, rule: &Rule) -> Option<String> {
    let mut forms = Vec::new();
    for number in rule.one_of.iter().chain(&rule.any_of) {
        forms.push(rules.at(*number));
    }
    let variants = Variants::from_forms(&forms)?;
    Some(format!("one of {}", variants.all()))
}
