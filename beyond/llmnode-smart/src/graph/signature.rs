//! Makes a signature and rules of the settings.

use llmnode_graph::NodeLoader;
use serde_json::{Map, Value, json};

use super::data::{Data, Mode, Rule};
use crate::refine::Guard;
use crate::signature::{Field, Form, REASONING, Signature, reasoning};

const TYPES: [(&str, &[&str]); 6] = [
    ("string", &["str", "text"]),
    ("number", &["float"]),
    ("integer", &["int"]),
    ("boolean", &["bool"]),
    ("array", &["list"]),
    ("object", &["dict"]),
];

/// `None`: a fault was reported.
pub(super) fn build_signature(data: &Data, node: &mut NodeLoader<'_>) -> Option<Signature> {
    let inputs = data.inputs.iter().map(|one| {
        (
            &one.name,
            &one.kind,
            one.description.as_ref().or(one.desc.as_ref()),
        )
    });
    let inputs = fields("inputs", inputs, node);
    let outputs = data.outputs.iter().map(|one| {
        (
            &one.name,
            &one.kind,
            one.description.as_ref().or(one.desc.as_ref()),
        )
    });
    let outputs = fields("outputs", outputs, node);
    // Both are read before either fails, so that all faults are reported.
    let inputs = inputs?;
    let mut outputs = outputs?;
    let thinks = data.mode == Mode::ChainOfThought;
    if thinks {
        outputs.insert(0, reasoning());
    }
    let both = data
        .outputs
        .iter()
        .position(|output| inputs.iter().any(|input| input.name == output.name));
    if let Some(index) = both {
        let name = &data.outputs[index].name;
        node.fault(
            &format!("/outputs/{index}/name"),
            format!("{name:?} is an input, too; take another name"),
        );
        return None;
    }
    let goal = data
        .goal
        .as_ref()
        .filter(|goal| !goal.trim().is_empty())
        .cloned();
    let goal = goal.unwrap_or_else(|| {
        default_goal(
            &data.inputs.iter().map(|one| &*one.name).collect::<Vec<_>>(),
            data,
        )
    });
    Some(Signature {
        goal,
        inputs,
        outputs,
        thinks,
        form: Form::Own,
        object: true,
        text: false,
    })
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// DSPy's default instruction.
fn default_goal(inputs: &[&str], data: &Data) -> String {
    let outputs: Vec<&str> = data.outputs.iter().map(|one| &*one.name).collect();
    format!(
        "Given the fields {}, produce the fields {}.",
        listed(inputs),
        listed(&outputs)
    )
}

fn fields<'d>(
    part: &str,
    declared: impl Iterator<Item = (&'d String, &'d Option<Value>, Option<&'d String>)>,
    node: &mut NodeLoader<'_>,
) -> Option<Vec<Field>> {
    let mut fields: Vec<Field> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let mut good = true;
    for (index, (name, kind, description)) in declared.enumerate() {
        let place = format!("/{part}/{index}");
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let wrong = if !is_name {
            Some(format!(
                "the name {name:?} has to be of letters, digits and `_`"
            ))
        } else if name.starts_with('_') || name == "messages" || name == REASONING {
            Some(format!(
                "{name:?} is a name of the graph's own; take another"
            ))
        } else if names.contains(&name.as_str()) {
            Some(format!("the field {name:?} is there already; remove one"))
        } else {
            None
        };
        if let Some(message) = wrong {
            node.fault(&format!("{place}/name"), message);
            good = false;
        }
        names.push(name);
        let Some(schema) = schema(kind.as_ref(), &format!("{place}/type"), node) else {
            good = false;
            continue;
        };
        fields.push(Field::new(
            name,
            description.map_or("", String::as_str),
            schema,
        ));
    }
    if fields.is_empty() && good {
        node.fault(&format!("/{part}"), "is empty: name at least one field");
        good = false;
    }
    good.then_some(fields)
}

fn schema(kind: Option<&Value>, place: &str, node: &mut NodeLoader<'_>) -> Option<Value> {
    match kind {
        None | Some(Value::Null) => Some(json!({"type": "string"})),
        Some(Value::Object(schema)) => Some(Value::Object(schema.clone())),
        Some(Value::String(word)) => {
            let lower = word.to_lowercase();
            let row = TYPES
                .iter()
                .find(|(name, others)| *name == lower || others.contains(&lower.as_str()));
            match row {
                Some((name, _)) => Some(json!({"type": name})),
                None => {
                    node.unknown(place, "type", word, TYPES.iter().map(|(name, _)| *name));
                    None
                }
            }
        }
        Some(_) => {
            node.fault(place, "is neither the name of a type nor a JSON schema");
            None
        }
    }
}

/// `None`: a fault was reported.
pub(super) fn guards(
    data: &Data,
    signature: &Signature,
    node: &mut NodeLoader<'_>,
) -> Option<Vec<Guard>> {
    let first = data.outputs.first().map_or("", |output| &*output.name);
    let mut guards = Vec::new();
    // All are read before any fails, so that all faults are reported.
    for (index, rule) in data.guardrails.iter().enumerate() {
        let place = format!("/guardrails/{index}");
        let of = rule.output.as_deref().unwrap_or(first);
        if signature.output(of).is_none() {
            node.unknown(
                &format!("{place}/output"),
                "output",
                of,
                data.outputs.iter().map(|one| &*one.name),
            );
        }
        guards.push(guard(rule, of, &place, node));
    }
    for (index, output) in data.outputs.iter().enumerate() {
        let place = format!("/outputs/{index}");
        for (at, rule) in output.guardrails.iter().enumerate() {
            let place = format!("{place}/guardrails/{at}");
            guards.push(guard(rule, &output.name, &place, node));
        }
        // A front end writes an empty rule if none was chosen.
        let chosen = output.guardrail.iter().filter(|rule| !rule.id.is_empty());
        for rule in chosen {
            let place = format!("{place}/guardrail");
            guards.push(guard(rule, &output.name, &place, node));
        }
    }
    let forced = data
        .outputs
        .iter()
        .filter(|output| output.force_json == Some(true));
    guards.extend(forced.map(|output| Some(Guard::json().of(&*output.name))));
    guards.into_iter().collect()
}

fn guard(rule: &Rule, of: &str, place: &str, node: &mut NodeLoader<'_>) -> Option<Guard> {
    let params = rule.params.as_ref();
    let pattern = rule.pattern.as_ref().or_else(|| params?.pattern.as_ref());
    let max_chars = rule.max_chars.or_else(|| params?.max_chars);
    let guard = match (rule.id.as_str(), pattern, max_chars) {
        ("json", ..) => Guard::json(),
        ("regex", Some(pattern), _) => {
            // React Flow's patterns match from the beginning, like Python's `re.match`.
            let pattern = if node.is_seed() {
                format!("^(?:{pattern})")
            } else {
                pattern.clone()
            };
            match Guard::regex(&pattern) {
                Ok(guard) => guard,
                Err(message) => {
                    node.fault(&format!("{place}/pattern"), message);
                    return None;
                }
            }
        }
        ("max_chars" | "length", _, Some(most)) => Guard::max_chars(most),
        ("regex", None, _) => {
            node.fault(place, "a `regex` needs its \"pattern\"");
            return None;
        }
        ("max_chars" | "length", _, None) => {
            node.fault(place, "says no \"max_chars\", the most characters");
            return None;
        }
        (other, ..) => {
            node.unknown(
                &format!("{place}/id"),
                "rule",
                other,
                ["json", "regex", "max_chars"],
            );
            return None;
        }
    };
    Some(guard.of(of))
}

pub(super) fn schema_of(signature: &Signature) -> Value {
    let members: Map<_, _> = signature
        .outputs
        .iter()
        .map(|field: &Field| {
            let mut schema = field.schema.clone();
            if let Some(schema) = schema
                .as_object_mut()
                .filter(|_| !field.description.is_empty())
            {
                schema.insert("description".to_owned(), field.description.as_str().into());
            }
            (field.name.clone(), schema)
        })
        .collect();
    let required: Vec<&str> = signature.outputs.iter().map(Field::name).collect();
    json!({"type": "object", "properties": members, "required": required})
}
