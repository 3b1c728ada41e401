//! Reads and writes programs as DSPy's `save` and `load` do.

use serde_json::{Map, Value, json};

use super::check::{self, DemoCheck, listed, member};
use super::plan::Plan;
use super::{ProgramError, ProgramFault};
use crate::form::{clean_doc, indented_json, prefix};
use crate::signature::{Demo, Form, Signature};

pub(super) fn read(
    root: &Value,
    predictor: Option<&str>,
    signature: &Signature,
    typed: &DemoCheck,
) -> Result<Plan, ProgramError> {
    let (at, state) = find_predictor(root, predictor)?;
    let mut plan = Plan::new(signature);
    // A program of `JSONAdapter` is not marked as such.
    if plan.signature.form == Form::Own {
        plan.signature.form = Form::Chat;
    }
    let mut faults = Vec::new();
    if let Some(instructions) = state["signature"]["instructions"].as_str() {
        plan.signature.goal = clean_doc(instructions);
    } else {
        faults.push(ProgramFault::new(
            format!("{at}/signature/instructions"),
            "is no text",
        ));
    }
    fields(&at, state, signature, &mut plan, &mut faults);
    plan.demos = demos(&at, state, &mut faults);
    faults.extend(check::demos(
        &format!("{at}/demos"),
        &plan.demos,
        signature,
        typed,
    ));
    settings(&at, &state["lm"], &mut plan, &mut faults);
    if faults.is_empty() {
        Ok(plan)
    } else {
        Err(ProgramError::of(faults))
    }
}

fn find_predictor<'a>(
    root: &'a Value,
    predictor: Option<&str>,
) -> Result<(String, &'a Value), ProgramError> {
    let states: Vec<(&String, &Value)> = root
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "metadata")
        .collect();
    if root.get("signature").is_some_and(Value::is_object) && predictor.is_none() {
        return Ok((String::new(), root));
    }
    let predictors: Vec<_> = states
        .iter()
        .filter(|(_, state)| state.get("signature").is_some())
        .collect();
    let names: Vec<&str> = predictors.iter().map(|(name, _)| name.as_str()).collect();
    let one = match (predictor, &predictors[..]) {
        (None, [one]) => Some(one),
        (None, _) => None,
        (Some(predictor), all) => all.iter().find(|(name, _)| {
            *name == predictor || name.strip_suffix(".predict") == Some(predictor)
        }),
    };
    match one {
        Some((name, state)) => Ok((member("", name), state)),
        None if names.is_empty() => Err(ProgramError::file_error(
            "this is no program: it has neither llmnode's `format` nor the `signature` of a DSPy predictor",
        )),
        None => {
            let missing = predictor
                .map(|name| format!("no predictor `{name}`; "))
                .unwrap_or_default();
            let names = listed(&names);
            Err(ProgramError::file_error(format!(
                "{missing}the file has the predictors {names}; name one of them by `open_predictor`"
            )))
        }
    }
}

fn fields(
    at: &str,
    state: &Value,
    signature: &Signature,
    plan: &mut Plan,
    faults: &mut Vec<ProgramFault>,
) {
    let at = format!("{at}/signature/fields");
    let Some(saved) = state["signature"]["fields"].as_array() else {
        return faults.push(ProgramFault::new(at, "is not a list"));
    };
    let names = signature.names();
    if saved.len() != names.len() {
        // `ChainOfThought` puts its reasoning before the outputs.
        let first_output = saved.get(signature.inputs.len());
        let reasons = first_output.is_some_and(|field| field["prefix"] == "Reasoning:");
        let mend = match (reasons, signature.thinks) {
            (true, false) => "; it is one of `ChainOfThought`: add `think` to the node",
            (false, true) => "; it is no `ChainOfThought`: drop `think` of the node",
            _ => "",
        };
        let message = format!(
            "there are {} fields, and the node has {}: {}{mend}",
            saved.len(),
            names.len(),
            listed(&names)
        );
        return faults.push(ProgramFault::new(at, message));
    }
    for (index, (name, field)) in names.iter().zip(saved).enumerate() {
        let prefix = field["prefix"].as_str().unwrap_or_default();
        let place = format!("{at}/{index}");
        let Some(description) = field["description"].as_str() else {
            faults.push(ProgramFault::new(
                format!("{place}/description"),
                "is no text",
            ));
            continue;
        };
        match other(prefix, description, name, &names) {
            Some(other) => {
                let message = format!(
                    "this is the field `{other}`, and in this place the node has `{name}`; the fields and their order must be the same"
                );
                faults.push(ProgramFault::new(place, message));
            }
            None => {
                let default_description = format!("${{{name}}}");
                plan.describe(
                    name,
                    if description == default_description {
                        String::new()
                    } else {
                        description.to_owned()
                    },
                );
            }
        }
    }
}

/// A file has no names: DSPy writes `${name}` as the default description, and derives the prefix from it.
fn other(field_prefix: &str, description: &str, name: &str, names: &[&str]) -> Option<String> {
    let by_default = description
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'));
    let by_default =
        by_default.filter(|named| named.chars().all(|c| c.is_alphanumeric() || c == '_'));
    if let Some(named) = by_default {
        return (named != name).then(|| named.to_owned());
    }
    if prefix(name) == field_prefix {
        return None;
    }
    names
        .iter()
        .find(|other| prefix(other) == field_prefix)
        .map(|other| (*other).to_owned())
}

fn demos(at: &str, state: &Value, faults: &mut Vec<ProgramFault>) -> Vec<Demo> {
    let mut demos = Vec::new();
    for (index, demo) in state["demos"].as_array().into_iter().flatten().enumerate() {
        match demo.as_object() {
            Some(values) => demos.push(Demo::from_values(values.clone())),
            None => faults.push(ProgramFault::new(
                format!("{at}/demos/{index}"),
                "is no object",
            )),
        }
    }
    demos
}

fn setting<'s>(lm: &'s Value, name: &str) -> Option<&'s Value> {
    lm.get(name).filter(|value| !value.is_null())
}

/// Only sampling settings are read: the running program chooses the model and where it is.
fn settings(at: &str, lm: &Value, plan: &mut Plan, faults: &mut Vec<ProgramFault>) {
    if let Some(value) = setting(lm, "temperature") {
        match value.as_f64().filter(|figure| *figure >= 0.0) {
            Some(figure) => plan.temperature = Some(figure),
            None => faults.push(ProgramFault::new(
                format!("{at}/lm/temperature"),
                "is no number from 0",
            )),
        }
    }
    if let Some(value) = setting(lm, "max_tokens") {
        match value
            .as_u64()
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count > 0)
        {
            Some(count) => plan.max_tokens = Some(count),
            None => faults.push(ProgramFault::new(
                format!("{at}/lm/max_tokens"),
                "is no whole number from 1",
            )),
        }
    }
}

pub(super) fn write(plan: &Plan) -> Result<String, ProgramError> {
    let Plan {
        signature, demos, ..
    } = plan;
    if signature.form == Form::Own {
        let message = "its form is llmnode's own, in which DSPy cannot ask; set `Form::Chat` or `Form::Json` by `with_form`";
        return Err(ProgramError::of(vec![ProgramFault::new("/form", message)]));
    }
    let predictor = json!({
        "traces": [],
        "train": [],
        "demos": demos.iter().map(Demo::values).collect::<Vec<_>>(),
        "signature": {"instructions": signature.goal, "fields": signature.fields().map(|field: &crate::signature::Field| {
        let default_description = format!("${{{}}}", field.name);
        let description = if field.description.is_empty() {
            default_description
        } else {
            field.description.clone()
        };
        json!({"prefix": prefix(&field.name), "description": description})
    }).collect::<Vec<_>>()},
        "lm": null,
    });
    let mut file = match predictor {
        // `ChainOfThought` is a module with one predictor of this name.
        predictor if signature.thinks => Map::from_iter([("predict".to_owned(), predictor)]),
        Value::Object(predictor) => predictor,
        _ => Map::new(),
    };
    file.insert("metadata".to_owned(), json!({"dependency_versions": {}}));
    Ok(indented_json(&Value::Object(file)) + "\n")
}
