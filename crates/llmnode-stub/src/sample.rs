//! A small value that a simple JSON schema allows: required members, as few items as possible, the lowest number.

use serde_json::{Map, Value, json};

type Schema = Map<String, Value>;

/// For schemas that are recursive or ask for very much.
const MAX_DEPTH: usize = 100;
const MAX_PARTS: usize = 10_000;

/// Supported only without other constraints beside them.
const UNIONS: [&str; 3] = ["$ref", "anyOf", "oneOf"];
const FULFILLED: &str = "type required properties items prefixItems minItems uniqueItems minLength maxLength format \
                         minimum maximum exclusiveMinimum exclusiveMaximum";
/// A value without optional members and items fulfils these, too.
const HARMLESS: &str = "$schema $id $defs definitions title description examples deprecated readOnly writeOnly \
                        additionalProperties patternProperties unevaluatedProperties propertyNames maxProperties maxItems";

static ANY: Value = Value::Bool(true);

/// `Err`: the keyword that cannot be fulfilled, and its place in the schema.
pub(super) fn sample(schema: &Value) -> Result<Value, String> {
    Sampler {
        root: schema,
        open: vec!["#"],
        depth: 0,
        parts: 0,
    }
    .value(schema, "#")
}

struct Sampler<'a> {
    root: &'a Value,
    /// References to the current schema, to detect cycles.
    open: Vec<&'a str>,
    depth: usize,
    parts: usize,
}

impl<'a> Sampler<'a> {
    fn value(&mut self, schema: &'a Value, place: &str) -> Result<Value, String> {
        self.parts += 1;
        if self.parts > MAX_PARTS || self.depth > MAX_DEPTH {
            return Err(format!("the size of the schema at `{place}`"));
        }
        self.depth += 1;
        let value = match schema {
            Value::Object(schema) => self.of_schema(schema, place),
            Value::Bool(true) => Ok(json!("text")),
            _ => Err(format!("`{schema}` at `{place}`")),
        };
        self.depth -= 1;
        value
    }

    fn of_schema(&mut self, schema: &'a Schema, place: &str) -> Result<Value, String> {
        let fixed = schema.get("const").or_else(|| schema.get("enum")?.get(0));
        if let Some(fixed) = fixed.or_else(|| schema.get("default")) {
            return Ok(fixed.clone());
        }
        let union = UNIONS.into_iter().find(|key| schema.contains_key(*key));
        let keywords = union.unwrap_or(FULFILLED);
        let unknown = schema.keys().find(|key| {
            let mut supported = keywords.split(' ').chain(HARMLESS.split(' '));
            !key.starts_with("x-") && !supported.any(|supported| supported == *key)
        });
        match (unknown, union) {
            (Some(key), _) => Err(unfulfilled(key, place)),
            (None, Some("$ref")) => self
                .referred(schema)
                .unwrap_or_else(|| Err(unfulfilled("$ref", place))),
            (None, Some(key)) => self.branch(&schema[key], &format!("{place}/{key}")),
            (None, None) => self.of_type(schema, place),
        }
    }

    fn of_type(&mut self, schema: &'a Schema, place: &str) -> Result<Value, String> {
        let kind = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind));
        let implied = if schema.contains_key("required") || schema.contains_key("properties") {
            "object"
        } else {
            "string"
        };
        let (value, keyword) = match kind.map_or(Some(implied), Value::as_str) {
            Some("null") => (Some(Value::Null), "type"),
            Some("boolean") => (Some(json!(false)), "type"),
            Some("integer") => (number(schema, true), "minimum"),
            Some("number") => (number(schema, false), "minimum"),
            Some("string") if schema.contains_key("format") => (None, "format"),
            Some("string") => (text(schema), "minLength"),
            Some("array")
                if schema.contains_key("uniqueItems") && size(schema, "minItems") > Some(1) =>
            {
                (None, "uniqueItems")
            }
            Some("array") => return self.list(schema, place),
            Some("object") => return self.object(schema, place),
            _ => (None, "type"),
        };
        value.ok_or_else(|| unfulfilled(keyword, place))
    }

    /// `None`: the reference leads nowhere, or back to a schema that contains it.
    fn referred(&mut self, schema: &'a Schema) -> Option<Result<Value, String>> {
        let name = schema["$ref"]
            .as_str()
            .filter(|name| !self.open.contains(name))?;
        let target = self.root.pointer(name.strip_prefix('#')?)?;
        self.open.push(name);
        let value = self.value(target, name);
        self.open.pop();
        Some(value)
    }

    fn branch(&mut self, branches: &'a Value, place: &str) -> Result<Value, String> {
        let mut value = Err(format!("`{place}`"));
        for (index, branch) in branches.as_array().into_iter().flatten().enumerate() {
            value = self.value(branch, &format!("{place}/{index}"));
            if value.is_ok() {
                break;
            }
        }
        value
    }

    fn list(&mut self, schema: &'a Schema, place: &str) -> Result<Value, String> {
        let first = schema.get("prefixItems");
        let rest = schema.get("items").unwrap_or(&ANY);
        let place = format!("{place}/items");
        (0..size(schema, "minItems").unwrap_or(0))
            .map(|index| {
                let item = first.and_then(|first| first.get(index)).unwrap_or(rest);
                self.value(item, &place)
            })
            .collect()
    }

    fn object(&mut self, schema: &'a Schema, place: &str) -> Result<Value, String> {
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let properties = schema.get("properties");
        let other = schema.get("additionalProperties").unwrap_or(&ANY);
        let members = required.filter_map(Value::as_str).map(|name| {
            let place = format!("{place}/properties/{name}");
            let member = properties.and_then(|properties| properties.get(name));
            let value = self.value(member.unwrap_or(other), &place)?;
            Ok((name.to_owned(), value))
        });
        Ok(Value::Object(members.collect::<Result<_, String>>()?))
    }
}

fn unfulfilled(keyword: &str, place: &str) -> String {
    format!("`{keyword}` at `{place}`")
}

fn size(schema: &Schema, key: &str) -> Option<usize> {
    schema
        .get(key)?
        .as_u64()
        .map(|size| usize::try_from(size).unwrap_or(usize::MAX))
}

fn text(schema: &Schema) -> Option<Value> {
    let least = size(schema, "minLength").unwrap_or(0);
    let most = size(schema, "maxLength");
    let length = most.unwrap_or(usize::MAX).min(least.max(4));
    let length = Some(length).filter(|length| (least..=MAX_PARTS).contains(length))?;
    Some(
        "text"
            .chars()
            .cycle()
            .take(length)
            .collect::<String>()
            .into(),
    )
}

fn bound(schema: &Schema, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}

/// The lowest allowed number; without one, 0 or the next one below.
fn number(schema: &Schema, is_whole: bool) -> Option<Value> {
    let above = bound(schema, "exclusiveMinimum");
    let below = bound(schema, "exclusiveMaximum");
    let least = bound(schema, "minimum")
        .into_iter()
        .chain(above)
        .reduce(f64::max);
    let most = bound(schema, "maximum")
        .into_iter()
        .chain(below)
        .reduce(f64::min);
    let mut number = least.unwrap_or_else(|| most.map_or(0.0, |most| most.min(0.0)));
    let round = if least.is_some() {
        f64::ceil
    } else {
        f64::floor
    };
    number = if is_whole { round(number) } else { number };
    if Some(number) == above {
        number = most
            .filter(|_| !is_whole)
            .map_or(number + 1.0, |most| number / 2.0 + most / 2.0);
    } else if Some(number) == below {
        number -= 1.0;
    }
    let fits = least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
    let fits = fits
        && Some(number) != above
        && Some(number) != below
        && (!is_whole || number.abs() < 9e15);
    fits.then(|| {
        if is_whole {
            json!(number as i64)
        } else {
            json!(number)
        }
    })
}
