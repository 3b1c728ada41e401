//! From JSON with the names that the model knows to the value of the type: aliases become names, members that a class
//! does not have are dropped, and optional ones that are absent are null.

use serde_json::{Map, Value, json};

use super::grammar::Type;
use super::schema::{Definition, Types};

/// The value of the type.
pub(super) fn value(types: &Types, kind: &Type, json: &Value) -> Result<Value, String> {
    match projected(types, kind, json) {
        Projected::One(value, _) => Ok(value),
        Projected::None => Err("the value is of no form of the type".to_owned()),
        Projected::Several => Err("the value is of several forms of the type".to_owned()),
    }
}

enum Projected {
    None,
    /// The value, and how many members were dropped.
    One(Value, usize),
    Several,
}

fn projected(types: &Types, kind: &Type, json: &Value) -> Projected {
    let fits = |is: bool| {
        if is {
            Projected::One(json.clone(), 0)
        } else {
            Projected::None
        }
    };
    match kind {
        Type::Int => match json.as_f64().filter(|float| float.fract() == 0.0) {
            Some(float)
                if json.is_f64() && (float as i64) as f64 == float && float.abs() < 9e18 =>
            {
                Projected::One(json!(float as i64), 0)
            }
            Some(_) if json.is_f64() => Projected::None,
            found => fits(found.is_some()),
        },
        Type::Float => fits(json.is_number()),
        Type::Bool => fits(json.is_boolean()),
        Type::String => fits(json.is_string()),
        Type::Null => fits(json.is_null()),
        Type::Literal(value) => fits(json == value),
        Type::Named(name) => match types.get(name) {
            Some(Definition::Enum(choices)) => {
                match choices.iter().find(|one| json == one.alias.as_str()) {
                    Some(one) => Projected::One(json!(one.name), 0),
                    None => Projected::None,
                }
            }
            Some(Definition::Class { .. }) => class(types, name, json),
            None => Projected::None,
        },
        Type::List(inner) => {
            let Some(items) = json.as_array() else {
                return Projected::None;
            };
            let items = items.iter().map(|item| projected(types, inner, item));
            all(items).map_or_else(
                |one| one,
                |(items, dropped)| Projected::One(Value::Array(items), dropped),
            )
        }
        Type::Map(inner) => {
            let Some(members) = json.as_object() else {
                return Projected::None;
            };
            let values = all(members.values().map(|value| projected(types, inner, value)));
            let named = |values: Vec<Value>| members.keys().cloned().zip(values).collect();
            values.map_or_else(
                |one| one,
                |(values, dropped)| Projected::One(Value::Object(named(values)), dropped),
            )
        }
        Type::Union(forms) => nearest(forms.iter().map(|form| projected(types, form, json))),
    }
}

fn class(types: &Types, name: &str, json: &Value) -> Projected {
    let (Some(Definition::Class { fields, open }), Some(members)) =
        (types.get(name), json.as_object())
    else {
        return Projected::None;
    };
    let values = fields.iter().map(|field| match members.get(&field.alias) {
        Some(value) => projected(types, &field.kind, value),
        None if field.kind.is_optional() => Projected::One(Value::Null, 0),
        None => Projected::None,
    });
    let (values, dropped) = match all(values) {
        Ok(all) => all,
        Err(other) => return other,
    };
    let names = fields.iter().map(|field| field.name.clone());
    let mut object: Map<String, Value> = names.zip(values).collect();
    let unknown = members
        .iter()
        .filter(|(key, _)| !fields.iter().any(|field| field.alias == **key));
    let unknown: Vec<_> = unknown
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if *open {
        object.extend(unknown);
        return Projected::One(Value::Object(object), dropped);
    }
    Projected::One(Value::Object(object), dropped + unknown.len())
}

/// All values, or what keeps one of them from being one.
fn all(each: impl Iterator<Item = Projected>) -> Result<(Vec<Value>, usize), Projected> {
    let (mut values, mut sum) = (Vec::new(), 0);
    for one in each {
        match one {
            Projected::One(value, dropped) => {
                values.push(value);
                sum += dropped;
            }
            other => return Err(other),
        }
    }
    Ok((values, sum))
}

/// The form of which the fewest members were dropped, if its value is the only one.
fn nearest(forms: impl Iterator<Item = Projected>) -> Projected {
    let mut nearest = Projected::None;
    for form in forms {
        nearest = match (nearest, form) {
            (Projected::None, form) | (form, Projected::None) => form,
            (Projected::One(value, dropped), Projected::One(other, more)) => {
                match dropped.cmp(&more) {
                    std::cmp::Ordering::Less => Projected::One(value, dropped),
                    std::cmp::Ordering::Greater => Projected::One(other, more),
                    std::cmp::Ordering::Equal if value == other => Projected::One(value, dropped),
                    std::cmp::Ordering::Equal => Projected::Several,
                }
            }
            _ => Projected::Several,
        };
    }
    nearest
}
