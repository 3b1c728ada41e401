//! The task by hand over reqwest and serde, with the wire types it needs and no others.

use std::borrow::Cow;

use llmnode_benches::task::{Choice, Choose, SYSTEM, World, strict_schema};
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Client, KEY, MODEL, check};

pub struct ByReqwest {
    client: reqwest::Client,
    url: Url,
    key: HeaderValue,
    schema: Box<RawValue>,
    world: World,
}

impl ByReqwest {
    pub fn new(url: &str) -> ByReqwest {
        ByReqwest {
            client: reqwest::Client::new(),
            url: format!("{url}/chat/completions").parse().unwrap(),
            key: format!("Bearer {KEY}").parse().unwrap(),
            schema: strict_schema(),
            world: World::of_bytes(1000),
        }
    }
}

impl ByReqwest {
    async fn ask(&self, messages: &[Message<'_>]) -> String {
        let json_schema = JsonSchema {
            name: "Choice",
            schema: &self.schema,
            strict: true,
        };
        let response_format = ResponseFormat {
            r#type: "json_schema",
            json_schema,
        };
        let request = Request {
            model: MODEL,
            messages,
            response_format,
        };
        let response = self
            .client
            .post(self.url.clone())
            .header("authorization", self.key.clone())
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&request).unwrap())
            .send()
            .await
            .unwrap();
        assert!(response.status().is_success());
        let response: Response = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        response
            .choices
            .into_iter()
            .next()
            .unwrap()
            .message
            .content
            .unwrap()
    }
}

impl Client for ByReqwest {
    async fn choose(&self, door: usize) {
        let prompt = Choose::door(door).prompt_by_hand(&self.world);
        let mut messages = Vec::with_capacity(4);
        messages.extend([message("system", SYSTEM), message("user", prompt)]);
        loop {
            let answer = self.ask(&messages).await;
            let choice: Choice = serde_json::from_str(&answer).unwrap();
            match check(&choice, &self.world) {
                Ok(()) => return assert_eq!(choice.chosen_item, "lamp"),
                Err(fault) => {
                    assert!(messages.len() < 4, "{fault}");
                    let complaint = format!(
                        "That answer was not accepted:\n- chosen_item: {fault}\nAnswer again in full, with this corrected."
                    );
                    messages.extend([message("assistant", answer), message("user", complaint)]);
                }
            }
        }
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: &'a [Message<'a>],
    response_format: ResponseFormat<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: Cow<'a, str>,
}

fn message<'a>(role: &'a str, content: impl Into<Cow<'a, str>>) -> Message<'a> {
    Message {
        role,
        content: content.into(),
    }
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'a str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a RawValue,
    strict: bool,
}

#[derive(Deserialize)]
struct Response {
    choices: Vec<Answered>,
}

#[derive(Deserialize)]
struct Answered {
    message: Content,
}

#[derive(Deserialize)]
struct Content {
    content: Option<String>,
}
