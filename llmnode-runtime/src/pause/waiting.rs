//! A call that waits, as it is shown to a person.

use std::fmt;

use llmnode_reader::text::{is_hidden, visible};
use serde::{Deserialize, Serialize};

use super::questions::Question;

/// The call of a tool that waits for an [`Approval`](crate::Approval), or for the result of a tool without a body.
///
/// Its texts come from a model: escape them before they are shown in a page. Its `Debug` form does not show the arguments.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WaitingCall {
    /// The id of the call, for [`Paused::decide`](crate::Paused::decide). For a tool of an agent that is a tool itself, the
    /// ids from the outside in, with `/` between them; `~` and `/` in an id are written `~0` and `~1`, and hidden characters
    /// like `~u202e;`.
    pub id: String,
    /// The name of the node whose model made the call.
    pub node: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text, in which hidden characters are escapes, such as `\u202e`. Those of a tool that needs an
    /// approval were read and validated.
    pub arguments: String,
    /// It waits for a result ([`Paused::answer`](crate::Paused::answer)), not for an approval.
    pub wants_result: bool,
    /// The tool has begun, and asks this before it goes on. [`Paused::answer`](crate::Paused::answer) replies to it, and
    /// [`Paused::decline`](crate::Paused::decline) refuses. A call that asks several questions waits once for each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

impl fmt::Debug for WaitingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitingCall {
            id,
            node,
            name,
            arguments,
            wants_result,
            question,
        } = self;
        f.debug_struct("WaitingCall")
            .field("id", id)
            .field("node", node)
            .field("name", name)
            .field("arguments", &format_args!("{} bytes", arguments.len()))
            .field("wants_result", wants_result)
            .field("question", &question.is_some())
            .finish()
    }
}

impl WaitingCall {
    /// What a person would not see, or see in another place than it is, is written out. `id`: in segments.
    pub(crate) fn shown(
        id: String,
        node: String,
        name: &str,
        arguments: &str,
        wants_result: bool,
    ) -> Self {
        let name = visible(name).into_owned();
        let arguments = visible(arguments).into_owned();
        WaitingCall {
            id,
            node,
            name,
            arguments,
            wants_result,
            question: None,
        }
    }

    /// A tool's question. Its id ends with the tool's own name of it.
    pub(crate) fn with_question(mut self, name: &str, question: &Question) -> Self {
        self.id = format!("{}/{}", self.id, segment(name));
        self.question = Some(question.clone());
        self
    }
}

/// Escaped as in JSON pointers, since providers choose the ids. A hidden character is written as `~u202e;`.
pub(crate) fn segment(id: &str) -> String {
    let mut segment = String::with_capacity(id.len());
    for c in id.chars() {
        match c {
            '~' => segment.push_str("~0"),
            '/' => segment.push_str("~1"),
            c if is_hidden(c) => segment.push_str(&format!("~u{:x};", u32::from(c))),
            c => segment.push(c),
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_no_two_ids_become_one() {
        let shown = WaitingCall::shown(
            segment("a\u{202e}"),
            String::new(),
            "p\u{2066}ay",
            "{\"to\": \"\u{202e}x\"}",
            false,
        );
        assert_eq!((&*shown.id, &*shown.name), ("a~u202e;", "p\\u2066ay"));
        assert_eq!(shown.arguments, "{\"to\": \"\\u202ex\"}");
        let ids = [
            "a\u{202e}",
            "a",
            "a~u202e;",
            "a\\u202e",
            "a\u{202d}",
            "a/b",
            "a~1b",
            "a\n",
        ];
        let segments: HashSet<String> = ids.into_iter().map(segment).collect();
        assert_eq!(segments.len(), ids.len());
    }
}
