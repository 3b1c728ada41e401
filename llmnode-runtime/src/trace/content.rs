//! Prompts and answers, in the JSON that OpenTelemetry's conventions describe. Only where the program asks for it.

use serde::Serialize;

use crate::model::{Completion, FinishReason, Message, Role};
use crate::text::floor_char_boundary;

/// The most that is shown of one text, in bytes.
const SHOWN: usize = 64 * 1024;

#[derive(Serialize)]
struct Spoken<'a> {
    role: Role,
    parts: [Part<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'static str,
    content: &'a str,
}

impl<'a> Spoken<'a> {
    fn new(role: Role, text: &'a str, finish_reason: Option<&'a str>) -> Self {
        let content = &text[..floor_char_boundary(text, SHOWN)];
        Spoken { role, parts: [Part { r#type: "text", content }], finish_reason }
    }
}

/// The conversation that was sent.
pub(super) fn input(messages: &[Message]) -> String {
    json(&messages.iter().map(|m| Spoken::new(m.role, &m.content, None)).collect::<Vec<_>>())
}

/// What came back.
pub(super) fn output(completion: &Completion) -> String {
    let text = completion.refusal.as_deref().unwrap_or(&completion.text);
    let finish = completion.finish.as_ref().map(FinishReason::as_str);
    json(&[Spoken::new(Role::Assistant, text, finish)])
}

/// A list of one word.
pub(super) fn list(word: &str) -> String {
    json(&[word])
}

fn json(value: &impl Serialize) -> String {
    // Texts in lists and fields: nothing that JSON has no word for.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_parts() {
        let messages = [Message::new(Role::System, "Be brief."), Message::new(Role::User, "\"Hi\"")];
        assert_eq!(
            input(&messages),
            r#"[{"role":"system","parts":[{"type":"text","content":"Be brief."}]},{"role":"user","parts":[{"type":"text","content":"\"Hi\""}]}]"#
        );
        assert_eq!(
            output(&Completion::new("Hello")),
            r#"[{"role":"assistant","parts":[{"type":"text","content":"Hello"}],"finish_reason":"stop"}]"#
        );
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = output(&Completion::new("ä€".repeat(SHOWN)));
        assert!((SHOWN..SHOWN + 200).contains(&long.len()), "{}", long.len());
    }
}
