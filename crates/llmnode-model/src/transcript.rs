//! A request as text that a person reads and a test compares.

use std::fmt::Display;

use serde_json::{Map, Value};

use super::api_kind::ApiKind;
use super::message::{Message, Role};
use super::request::Request;

impl Request {
    /// Returns the whole request as text: a line for each setting, then each
    /// message below its role. A schema appears by its name; its text is
    /// [`OutputSchema::plain`](llmnode_reader::OutputSchema::plain). An attachment
    /// appears in its short form, such as `[image image/png, 68 bytes, #1f3a9c02]`.
    ///
    /// The form is stable, so that it can be kept in a file and compared:
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// use llmnode::{Message, Request, Role};
    ///
    /// let mut request = Request::new(vec![
    ///     Message::new(Role::System, "You are brief."),
    ///     Message::new(Role::User, "Greet Ada.\nAnd Bob."),
    /// ]);
    /// request.temperature = Some(0.0);
    /// let text = "temperature: 0\n--- system\nYou are brief.\n--- user\nGreet Ada.\nAnd Bob.";
    /// assert_eq!(request.transcript(), text);
    /// ```
    pub fn transcript(&self) -> String {
        fn line(name: &str, value: impl Display) -> String {
            format!("{name}: {value}")
        }
        let settings = [
            self.model.as_ref().map(|model| line("model", model)),
            self.temperature
                .map(|temperature| line("temperature", temperature)),
            self.max_tokens.map(|most| line("max_tokens", most)),
            self.reasoning.map(|reasoning| line("reasoning", reasoning)),
            self.tools_line(),
            self.output
                .as_ref()
                .map(|schema| line("answer", format_args!("JSON of {}", schema.name()))),
        ];
        let extra = self.extra.iter().map(|(name, value)| line(name, value));
        let extra = extra.chain(self.extra_on.iter().flat_map(|all| all.iter()).flat_map(
            |(wire, fields): (&ApiKind, &Map<String, Value>)| {
                fields
                    .iter()
                    .map(|(name, value)| line(&format!("{wire} {name}"), value))
                    .collect::<Vec<_>>()
            },
        ));
        let messages = self
            .messages
            .iter()
            .map(|one| format!("--- {}\n{}", heading(one), body(one)));
        settings
            .into_iter()
            .flatten()
            .chain(extra)
            .chain(messages)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Request {
    fn tools_line(&self) -> Option<String> {
        let names: Vec<&str> = self.tools.iter().map(|tool| &*tool.name).collect();
        let now = if self.answer_now { " (not now)" } else { "" };
        (!names.is_empty()).then(|| format!("tools: {}{now}", names.join(", ")))
    }
}

fn heading(message: &Message) -> String {
    match message.answers() {
        Some(id) => format!("{} {id}", role_name(message.role)),
        None => role_name(message.role).to_owned(),
    }
}

fn body(message: &Message) -> String {
    let calls = message
        .calls()
        .iter()
        .map(|call| format!("{} calls {}({})", call.id, call.name, call.arguments));
    let text = Some(message.shown()).filter(|text| !text.is_empty() || message.calls().is_empty());
    let thought = message.carried().map(|_| "(thought)".to_owned());
    thought
        .into_iter()
        .chain(text)
        .chain(calls)
        .collect::<Vec<_>>()
        .join("\n")
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
