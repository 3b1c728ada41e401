//! Each shape in each response format: snapshots, rules, and the round trip of values.

use std::collections::BTreeSet;
use std::path::Path;

use llmnode::stub_server::{StubReply, StubServer};
use llmnode::{Category, OpenAi, OutputSchema, ResponseFormat, Run, Settings};
use llmnode_reader::ask::{Profile, sent};
use serde_json::{Map, Value, json};

use crate::conforms::conforms;
use crate::rules;
use crate::shape::Shape;
use crate::snapshot::assert_snapshot;
use crate::zoo::zoo;

const ALL: [ResponseFormat; 5] = [
    ResponseFormat::Strict,
    ResponseFormat::Schema,
    ResponseFormat::JsonObject,
    ResponseFormat::Prompt,
    ResponseFormat::Tool,
];

/// The body of a request for a shape in a response format, or what kept it from being sent.
async fn asked(
    shape: &Shape,
    response_format: ResponseFormat,
    server: &StubServer,
) -> Result<Value, String> {
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("m")
        .build()
        .unwrap();
    let before = server.requests().len();
    let outcome = shape
        .ask(&Run::new(model), response_format, Settings::new())
        .await;
    match server.requests().get(before) {
        Some(request) => Ok(request.json().unwrap().clone()),
        None => {
            let error = outcome.unwrap_err();
            assert_eq!(error.category(), Category::ConfigError, "{}", shape.name);
            Err(error.message().to_owned())
        }
    }
}

fn pretty(schema: &str) -> String {
    serde_json::to_string_pretty(&serde_json::from_str::<Value>(schema).unwrap()).unwrap()
}

/// What is sent where nothing enforces it.
fn output(schema: &OutputSchema) -> &str {
    sent(schema, Profile::Output).get()
}

/// What a response format makes of a shape, on a few lines, with names for the schemas that are listed above.
fn line(
    response_format: ResponseFormat,
    body: &Result<Value, String>,
    schema: &OutputSchema,
) -> String {
    let body = match body {
        Ok(body) => body,
        Err(fault) => return format!("== {response_format}: none\n{fault}\n"),
    };
    let mut text = String::new();
    for part in [
        "response_format",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
    ] {
        if let Some(value) = body.get(part) {
            text += &format!("{part}: {value}\n");
        }
    }
    for message in body["messages"].as_array().unwrap() {
        text += &format!(
            "{}: {}\n",
            message["role"].as_str().unwrap(),
            message["content"].as_str().unwrap()
        );
    }
    let strict = schema.strict().map_or("", |strict| strict.get());
    let text = if strict.is_empty() {
        text
    } else {
        text.replace(strict, "<strict schema>")
    };
    let text = text.replace(schema.plain().get(), "<plain schema>");
    format!(
        "== {response_format}\n{}",
        text.replace(output(schema), "<sent schema>")
    )
}

#[tokio::test]
async fn every_shape_in_every_dialect_is_the_one_that_was_reviewed() {
    let server = StubServer::builder().start().await.unwrap();
    for shape in zoo() {
        let schema = &shape.schema;
        let mut text = format!(
            "name: {}\nwrapped: {}\n",
            schema.name(),
            schema.is_wrapped()
        );
        text += &format!("\n== plain schema\n{}\n", pretty(schema.plain().get()));
        if output(schema) != schema.plain().get() {
            text += &format!("\n== sent schema\n{}\n", pretty(output(schema)));
        }
        match schema.strict() {
            Ok(strict) if strict.get() == schema.plain().get() => {
                text += "\n== strict schema\nthe same\n"
            }
            Ok(strict) => text += &format!("\n== strict schema\n{}\n", pretty(strict.get())),
            Err(_) => text += "\n== strict schema\nnone\n",
        }
        for response_format in ALL {
            let body = asked(&shape, response_format, &server).await;
            text += &format!("\n{}", line(response_format, &body, schema));
        }
        text += "\n== values\n";
        text.extend(shape.samples.iter().map(|sample| format!("{sample}\n")));
        assert_snapshot(text.trim_end(), &format!("shape.{}", shape.name));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    let kept: BTreeSet<String> = files
        .filter_map(|name| {
            Some(
                name.strip_prefix("shape.")?
                    .strip_suffix(".txt")?
                    .to_owned(),
            )
        })
        .collect();
    let shapes: BTreeSet<String> = zoo().iter().map(|shape| shape.name.to_owned()).collect();
    assert_eq!(kept, shapes, "a snapshot for each shape, and no other");
    assert!(shapes.len() >= 30);
}

#[tokio::test]
async fn every_shape_keeps_the_rules_of_every_dialect() {
    let server = StubServer::builder().start().await.unwrap();
    for shape in zoo() {
        for response_format in ALL {
            let Ok(body) = asked(&shape, response_format, &server).await else {
                assert!(
                    response_format == ResponseFormat::Strict && shape.schema.strict().is_err(),
                    "{}",
                    shape.name
                );
                continue;
            };
            let format = &body["response_format"];
            let faults = match response_format {
                ResponseFormat::Strict => rules::strict(&format["json_schema"]["schema"]),
                ResponseFormat::Schema => rules::plain(&format["json_schema"]["schema"]),
                ResponseFormat::Tool => rules::tool(&body),
                // JSON mode asks for the word in the conversation.
                ResponseFormat::JsonObject if format == &json!({"type": "json_object"}) => {
                    told(&body)
                }
                ResponseFormat::Prompt if format.is_null() => told(&body),
                _ => vec![format!("no such format: {format}")],
            };
            assert_eq!(
                faults,
                Vec::<String>::new(),
                "{} by {response_format}",
                shape.name
            );
        }
    }
}

/// The system message speaks of JSON, and ends with a form, or a plain schema where a form cannot say it; the user's begins
/// with the prompt.
fn told(body: &Value) -> Vec<String> {
    let [system, user] = body["messages"].as_array().unwrap().as_slice() else {
        panic!("{body}")
    };
    assert!(
        user["content"]
            .as_str()
            .unwrap()
            .starts_with("Fill in the form."),
        "{user}"
    );
    if system["content"]
        .as_str()
        .unwrap()
        .contains("JSON object of this form")
    {
        return Vec::new();
    }
    let (told, schema) = system["content"]
        .as_str()
        .unwrap()
        .rsplit_once('\n')
        .unwrap();
    assert!(told.contains("JSON"), "{told}");
    rules::plain(&serde_json::from_str(schema).unwrap())
}

/// A server that answers with a value of the shape: as a call where one is forced, and with the nulls of strict mode.
async fn answering(shape: &Shape) -> StubServer {
    let (sample, is_wrapped) = (shape.samples[0].clone(), shape.schema.is_wrapped());
    let answer = if is_wrapped {
        json!({"value": sample})
    } else {
        sample
    };
    let reply = StubReply::for_request(move |request| {
        let body = request.json().unwrap();
        let function = &body["tools"][0]["function"];
        let format = &body["response_format"]["json_schema"];
        let mut answer = answer.clone();
        for (part, schema) in [
            (format, &format["schema"]),
            (function, &function["parameters"]),
        ] {
            if part["strict"] == true {
                fill(schema, schema, &mut answer);
            }
        }
        match function["name"].as_str() {
            Some(name) => StubReply::call(name, answer).finish_reason("stop"),
            None => StubReply::json(answer),
        }
    });
    StubServer::builder()
        .default_reply(reply)
        .start()
        .await
        .unwrap()
}

#[tokio::test]
async fn every_shape_is_read_in_every_dialect() {
    for shape in zoo() {
        let server = answering(&shape).await;
        let run = Run::new(
            OpenAi::builder()
                .base_url(server.base_url())
                .model("m")
                .build()
                .unwrap(),
        );
        for response_format in ALL
            .into_iter()
            .filter(|one| *one != ResponseFormat::Strict || shape.schema.strict().is_ok())
        {
            let outcome = shape.ask(&run, response_format, Settings::new()).await;
            let (value, record) = outcome
                .unwrap_or_else(|error| panic!("{} by {response_format}: {error}", shape.name));
            assert_eq!(
                value, shape.samples[0],
                "{} by {response_format}",
                shape.name
            );
            assert_eq!(
                record.attempts[0].response_format,
                Some(response_format),
                "{}",
                shape.name
            );
        }
    }
}

/// A value of the type, written by serde, is what both schemas ask for, and is read back as it was, with and without
/// the nulls that strict mode adds.
#[test]
fn values_come_back_as_they_were() {
    for shape in zoo() {
        let plain: Value = serde_json::from_str(shape.schema.plain().get()).unwrap();
        let strict = shape
            .schema
            .strict()
            .ok()
            .map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap());
        for (at, sample) in shape.samples.iter().enumerate() {
            let answer = if shape.schema.is_wrapped() {
                json!({"value": sample})
            } else {
                sample.clone()
            };
            let place = format!("{} {answer}", shape.name);
            conforms(&answer, &plain).unwrap_or_else(|fault| panic!("{place}, plain: {fault}"));
            shape
                .reads(at, &answer.to_string())
                .unwrap_or_else(|fault| panic!("{place}: {fault}"));
            let Some(strict) = &strict else { continue };
            let mut filled = answer.clone();
            fill(strict, strict, &mut filled);
            conforms(&filled, strict).unwrap_or_else(|fault| panic!("{place}, strict: {fault}"));
            shape
                .reads(at, &filled.to_string())
                .unwrap_or_else(|fault| panic!("{place}: {fault}"));
        }
    }
}

/// Adds a `null` for each member that strict mode asks for and the value lacks.
fn fill(root: &Value, schema: &Value, value: &mut Value) {
    if let Some(reference) = schema["$ref"].as_str() {
        return fill(root, root.pointer(&reference[1..]).unwrap(), value);
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        // The branch that it fits once it is filled.
        for branch in branches {
            let mut filled = value.clone();
            fill(root, branch, &mut filled);
            let mut alone = branch.clone();
            alone["$defs"] = root["$defs"].clone();
            if !alone["$defs"].is_object() {
                alone.as_object_mut().unwrap().remove("$defs");
            }
            if conforms(&filled, &alone).is_ok() {
                *value = filled;
                return;
            }
        }
        return;
    }
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| fill(root, &schema["items"], item)),
        Value::Object(members) => {
            for (name, property) in schema["properties"].as_object().unwrap_or(&Map::new()) {
                fill(
                    root,
                    property,
                    members.entry(name.as_str()).or_insert(Value::Null),
                );
            }
        }
        _ => {}
    }
}
