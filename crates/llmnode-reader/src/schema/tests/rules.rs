//! The rules of the dialects, each as its providers state it, by a checker that
//! knows nothing of how schemas are written. A fault is said with its place.

use serde_json::{Map, Value};

/// The part of JSON Schema that OpenAI's strict dialect supports.
const ALLOWED: [&str; 18] = [
    "type",
    "description",
    "enum",
    "anyOf",
    "$ref",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];
const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// What of the rules of the strict dialect a schema breaks.
pub(crate) fn strict(root: &Value) -> Vec<String> {
    let none = Map::new();
    let defs = root
        .get("$defs")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let mut check = Check {
        defs,
        faults: Vec::new(),
        properties: 0,
        values: 0,
        text: 0,
    };
    let mut body = root.clone();
    if let Some(members) = body.as_object_mut() {
        members.remove("$defs");
    }
    check.expect(root["type"] == "object", "the root is an object", root);
    check.expect(
        root.get("anyOf").is_none() && root.get("$ref").is_none(),
        "the root is no union",
        root,
    );
    check.schema(&body);
    for (name, def) in defs {
        check.text += name.chars().count();
        check.schema(def);
    }
    let levels = check.levels(root, &mut Vec::new());
    check.expect(levels <= 10, "ten levels of objects at most", root);
    check.expect(check.properties <= 5000, "5000 properties at most", root);
    check.expect(check.values <= 1000, "1000 values of enums at most", root);
    check.expect(
        check.text <= 120_000,
        "120000 characters of names and values at most",
        root,
    );
    check.faults
}

/// What of the rules for plain schemas one breaks: providers want an object, and
/// references that lead somewhere.
pub(crate) fn plain(root: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if root["type"] != "object"
        || ["anyOf", "oneOf", "allOf", "$ref"]
            .iter()
            .any(|key| root.get(*key).is_some())
    {
        faults.push(format!("the root is an object: {root}"));
    }
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if let Some(Value::String(reference)) = node.get("$ref") {
            let found = reference
                .strip_prefix("#/$defs/")
                .and_then(|name| root["$defs"].get(name));
            if found.is_none() {
                faults.push(format!("{reference} is defined: {node}"));
            }
        }
        match node {
            Value::Object(members) => {
                if members
                    .keys()
                    .any(|key| key.starts_with("x-llmnode") || key == "$schema")
                {
                    faults.push(format!("what is for no model is left out: {node}"));
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    faults
}

/// What of the rules for a function that the model is forced to call a request breaks.
pub(crate) fn tool(body: &Value) -> Vec<String> {
    let function = &body["tools"][0]["function"];
    let name = function["name"].as_str().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut faults = match function["strict"] == true {
        true => strict(&function["parameters"]),
        false => plain(&function["parameters"]),
    };
    for (holds, rule) in [
        (
            body["tools"]
                .as_array()
                .is_some_and(|tools| tools.len() == 1),
            "there is one function",
        ),
        (
            body["tools"][0]["type"] == "function",
            "a tool is a function",
        ),
        (
            (1..=64).contains(&name.len()) && name.chars().all(is_name),
            "a name is of 1 to 64 plain characters",
        ),
        (
            function["parameters"]["type"] == "object",
            "parameters are an object",
        ),
        (
            body["tool_choice"]["type"] == "function",
            "the choice is a function",
        ),
        (
            body["tool_choice"]["function"]["name"] == name,
            "the choice is that function",
        ),
        (body["parallel_tool_calls"] == false, "there is one call"),
        (
            body.get("response_format").is_none(),
            "no response format beside it",
        ),
    ] {
        if !holds {
            faults.push(format!("{rule}: {body}"));
        }
    }
    faults
}

struct Check<'a> {
    defs: &'a Map<String, Value>,
    faults: Vec<String>,
    properties: usize,
    values: usize,
    text: usize,
}

impl Check<'_> {
    fn expect(&mut self, holds: bool, rule: &str, node: &Value) {
        if !holds {
            self.faults.push(format!(
                "{rule}: {}",
                node.to_string().chars().take(300).collect::<String>()
            ));
        }
    }

    fn schema(&mut self, node: &Value) {
        let Some(members) = node.as_object() else {
            return self.expect(false, "a schema is an object", node);
        };
        self.expect(
            members.keys().all(|key| ALLOWED.contains(&key.as_str())),
            "only known keywords",
            node,
        );
        if let Some(reference) = members.get("$ref") {
            let name = reference
                .as_str()
                .and_then(|text| text.strip_prefix("#/$defs/"))
                .unwrap_or_default();
            self.expect(members.len() == 1, "a reference stands alone", node);
            let name = name.replace("~1", "/").replace("~0", "~");
            self.expect(
                self.defs.contains_key(&name) || name.contains('%'),
                "a reference leads to a definition",
                node,
            );
            return;
        }
        if let Some(branches) = members.get("anyOf") {
            let alone = members
                .keys()
                .all(|key| key == "anyOf" || key == "description");
            self.expect(alone, "a union stands alone", node);
            let branches = branches.as_array().cloned().unwrap_or_default();
            self.expect(!branches.is_empty(), "a union has branches", node);
            return branches.iter().for_each(|branch| self.schema(branch));
        }
        let kinds = match members.get("type") {
            Some(Value::Array(kinds)) => kinds.clone(),
            kind => kind.cloned().into_iter().collect(),
        };
        let known = kinds
            .iter()
            .all(|kind| kind.as_str().is_some_and(|kind| TYPES.contains(&kind)));
        self.expect(known && !kinds.is_empty(), "a schema has a type", node);
        self.values(members, node);
        let (object, array) = (
            kinds.contains(&"object".into()),
            kinds.contains(&"array".into()),
        );
        let only = |keys: &[&str]| !keys.iter().any(|key| members.contains_key(*key));
        self.expect(
            object || only(&["properties", "required", "additionalProperties"]),
            "no object",
            node,
        );
        self.expect(
            array || only(&["items", "minItems", "maxItems"]),
            "no array",
            node,
        );
        if object {
            self.object(members, node);
        }
        if array {
            self.schema(&node["items"]);
        }
    }

    fn values(&mut self, members: &Map<String, Value>, node: &Value) {
        if let Some(format) = members.get("format") {
            self.expect(
                format.as_str().is_some_and(|one| FORMATS.contains(&one)),
                "only known formats",
                node,
            );
        }
        if let Some(pattern) = members.get("pattern") {
            let plain = pattern
                .as_str()
                .is_some_and(|text| !text.contains("(?=") && !text.contains("(?!"));
            self.expect(plain, "a pattern does not look around", node);
        }
        let Some(values) = members.get("enum") else {
            return;
        };
        let values = values.as_array().cloned().unwrap_or_default();
        let scalars = values
            .iter()
            .all(|value| !value.is_object() && !value.is_array());
        self.expect(!values.is_empty() && scalars, "an enum has values", node);
        let text: usize = values
            .iter()
            .filter_map(Value::as_str)
            .map(|text| text.chars().count())
            .sum();
        self.expect(
            values.len() <= 250 || text <= 15_000,
            "a long enum has short values",
            node,
        );
        (self.values, self.text) = (self.values + values.len(), self.text + text);
    }

    fn object(&mut self, members: &Map<String, Value>, node: &Value) {
        let none = Map::new();
        let properties = members
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        let names = properties
            .keys()
            .map(|name| Value::from(name.as_str()))
            .collect::<Vec<_>>();
        self.expect(
            members.contains_key("properties"),
            "an object names its properties",
            node,
        );
        self.expect(
            members.get("required") == Some(&Value::Array(names)),
            "all are required, in order",
            node,
        );
        self.expect(
            members.get("additionalProperties") == Some(&Value::Bool(false)),
            "no others",
            node,
        );
        self.properties += properties.len();
        for (name, property) in properties {
            self.text += name.chars().count();
            self.schema(property);
        }
    }

    /// The levels of objects, a type within itself once.
    fn levels(&self, node: &Value, within: &mut Vec<String>) -> usize {
        let Some(members) = node.as_object() else {
            return 0;
        };
        if let Some(name) = members
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|text| text.strip_prefix("#/$defs/"))
        {
            if within.iter().any(|one| one == name) || within.len() > 12 {
                return 0;
            }
            within.push(name.to_owned());
            let levels = self
                .defs
                .get(name)
                .map_or(0, |def| self.levels(def, within));
            within.pop();
            return levels;
        }
        let properties = members
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values);
        let branches = members
            .get("anyOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let inner: Vec<&Value> = properties
            .chain(branches)
            .chain(members.get("items"))
            .collect();
        let inner = inner
            .into_iter()
            .map(|child| self.levels(child, within))
            .max()
            .unwrap_or(0);
        usize::from(members.contains_key("properties")) + inner
    }
}

/// What breaks the rules of Gemini's `responseJsonSchema`.
/// <https://ai.google.dev/api/generate-content#GenerationConfig>
#[allow(dead_code, reason = "not all tests ask Google")]
pub(super) fn gemini(schema: &Value) -> Vec<String> {
    const WORDS: [&str; 14] = [
        "$defs",
        "$ref",
        "type",
        "format",
        "description",
        "enum",
        "items",
        "minItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
    ];
    let Value::Object(node) = schema else {
        return Vec::new();
    };
    let unknown = node
        .keys()
        .filter(|word| !WORDS.contains(&word.as_str()))
        .map(|word| format!("`{word}`"));
    let mut found: Vec<String> = unknown.collect();
    if node.contains_key("$ref") && node.keys().any(|word| !word.starts_with('$')) {
        found.push("members beside `$ref`".to_owned());
    }
    let values = node
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    found.extend(
        values
            .filter(|one| !one.is_string() && !one.is_number())
            .map(|one| format!("enum of {one}")),
    );
    let named = ["properties", "$defs"]
        .iter()
        .filter_map(|word| node.get(*word)?.as_object());
    let members = named.flat_map(|named| named.values());
    let listed = node
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    members
        .chain(listed)
        .chain(node.get("items"))
        .for_each(|inner| found.extend(gemini(inner)));
    found
}

/// What breaks the rules of Anthropic's `output_config.format`.
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>
#[allow(dead_code, reason = "not all tests ask Anthropic")]
pub(super) fn anthropic(schema: &Value) -> Vec<String> {
    const WORDS: [&str; 13] = [
        "$defs",
        "$ref",
        "type",
        "format",
        "description",
        "title",
        "enum",
        "const",
        "items",
        "minItems",
        "anyOf",
        "properties",
        "required",
    ];
    let Value::Object(node) = schema else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (word, value) in node {
        match word.as_str() {
            "additionalProperties" if value == false => {}
            "minItems" if !matches!(value.as_u64(), Some(0 | 1)) => {
                found.push(format!("minItems of {value}"))
            }
            "$ref" if !value.as_str().is_some_and(|to| to.starts_with("#/")) => {
                found.push(format!("a reference to {value}"))
            }
            "enum"
                if value
                    .as_array()
                    .is_none_or(|all| all.iter().any(|one| one.is_object() || one.is_array())) =>
            {
                found.push(format!("enum of {value}"));
            }
            word if !WORDS.contains(&word) => found.push(format!("`{word}`")),
            _ => {}
        }
    }
    if node.contains_key("properties")
        && node.get("additionalProperties") != Some(&Value::Bool(false))
    {
        found.push("an open object".to_owned());
    }
    let named = ["properties", "$defs"]
        .iter()
        .filter_map(|word| node.get(*word)?.as_object());
    let members = named.flat_map(|named| named.values());
    let listed = node
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    members
        .chain(listed)
        .chain(node.get("items"))
        .for_each(|inner| found.extend(anthropic(inner)));
    found
}

/// What breaks the rules for a schema that is not enforced, as outputs and
/// parameters of tools are sent. `profile`: the API. OpenAI and LM Studio refuse
/// objects without `properties` and lists without `items`, Anthropic names,
/// Gemini's older `parameters` empty `properties`, a missing type and references;
/// llama.cpp reads `{}` as an object.
#[allow(dead_code, reason = "not all tests look at what is sent")]
pub(crate) fn sent(root: &Value, profile: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    let mut open: Vec<&Value> = vec![root];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else {
            faults.push(format!("a schema is an object: {schema}"));
            continue;
        };
        faults.extend(
            faults_of(node, profile)
                .into_iter()
                .map(|rule| format!("{rule}: {schema}")),
        );
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            let name = reference.strip_prefix("#/$defs/").unwrap_or_default();
            match root["$defs"].get(name) {
                // Without decoding the name.
                Some(def) => open.extend(used.insert(name.to_owned()).then_some(def)),
                None => faults.push(format!("{reference} is defined")),
            }
        }
        let list = ["anyOf", "oneOf", "allOf"]
            .iter()
            .filter_map(|key| node.get(*key)?.as_array());
        open.extend(list.flatten());
        open.extend(
            node.get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Map::values),
        );
        open.extend(node.get("items"));
        open.extend(
            node.get("additionalProperties")
                .filter(|rest| !rest.is_boolean()),
        );
    }
    let defined = root
        .get("$defs")
        .and_then(Value::as_object)
        .map_or(0, Map::len);
    if defined != used.len() {
        faults.push(format!(
            "{defined} definitions, {} used: {root}",
            used.len()
        ));
    }
    if root["type"] != "object" {
        faults.push(format!("the root is an object: {root}"));
    }
    faults
}

fn faults_of(node: &Map<String, Value>, profile: &str) -> Vec<&'static str> {
    let is = |kind: &str| match node.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        one => one.is_some_and(|one| one == kind),
    };
    let has = |key: &str| node.contains_key(key);
    let members = node.get("properties").and_then(Value::as_object);
    let is_combined = has("$ref") || has("allOf");
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_key = |key: &String| (1..=64).contains(&key.len()) && key.bytes().all(plain);
    let required = node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let is_member = |name: &Value| {
        members.is_some_and(|members| name.as_str().is_some_and(|name| members.contains_key(name)))
    };
    let types = match node.get("type") {
        Some(Value::Array(kinds)) => kinds.clone(),
        one => one.cloned().into_iter().collect(),
    };
    let is_type = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    let mut rules = vec![
        (!node.is_empty(), "no schema is empty"),
        (types.iter().all(is_type), "types have known names"),
        (!is("array") || has("items"), "a list has items"),
        (
            !has("items") || !node["items"].is_array(),
            "items are one schema",
        ),
        (
            !has("prefixItems") && !has("patternProperties") && !has("definitions"),
            "no such keyword",
        ),
        (
            node.get("additionalProperties") != Some(&Value::Object(Map::new())),
            "free members are said",
        ),
        (
            is_combined || !is("object") || required.clone().all(is_member),
            "what is required is a member",
        ),
        (
            !node.keys().any(|key| key.starts_with("x-llmnode")),
            "what is for no model is left out",
        ),
    ];
    match profile {
        "OpenApi" => rules.extend([
            (
                members.is_none_or(|members| !members.is_empty()),
                "properties are not empty",
            ),
            (
                has("type") || has("anyOf"),
                "a schema has a type or choices",
            ),
            (
                !has("$ref") && !has("$defs") && !has("const"),
                "no references",
            ),
            (!node.get("type").is_some_and(Value::is_array), "one type"),
        ]),
        _ => rules.push((
            is_combined || !is("object") || members.is_some(),
            "an object has properties",
        )),
    }
    if profile == "Anthropic" {
        rules.push((
            members.into_iter().flat_map(Map::keys).all(is_key),
            "keys are those that Anthropic takes",
        ));
    }
    if profile == "Gemini" {
        rules.push((
            !has("$ref") || node.keys().all(|key| key.starts_with('$')),
            "a reference stands alone",
        ));
        rules.push((
            !has("const") && !has("allOf") && !has("pattern"),
            "no such word",
        ));
    }
    rules
        .into_iter()
        .filter(|(holds, _)| !holds)
        .map(|(_, rule)| rule)
        .collect()
}
