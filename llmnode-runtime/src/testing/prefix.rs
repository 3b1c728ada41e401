//! What requests have in common, as the prompt caches of providers see it.

use crate::model::{Part, Request, Role, speaker};

/// Returns what requests have in common from their beginning: the schema of the answer, then the messages up to the
/// first character that differs, as in a [`transcript`](Request::transcript).
///
/// Providers cache the longest beginning of a prompt that they have seen before; OpenAI from 1,024 tokens, about
/// 4,000 bytes. Two requests of a node with different fields and states show how long the shared part is, and a test
/// can keep it from shrinking. Settings are no part of it.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::testing::shared_prefix;
/// # use llmnode::{Message, Request};
/// # let ask = |name| Request::new(vec![Message::system("Be brief."), Message::user(format!("Greet {name}."))]);
///
/// // #[llm_node(system = "Be brief.", prompt = "Greet {name}.")]
/// // let ask = |name| request_of(&Greet { name }, &());
/// let prefix = shared_prefix(&[ask("Ada"), ask("Bob")]);
/// assert_eq!(prefix, "--- system\nBe brief.\n--- user\nGreet ");
/// ```
pub fn shared_prefix(requests: &[Request]) -> String {
    let mut prefix = String::new();
    let Some((first, rest)) = requests.split_first() else { return prefix };
    let rest: Vec<Vec<Piece<'_>>> = rest.iter().map(pieces).collect();
    for (index, piece) in pieces(first).into_iter().enumerate() {
        let others = || rest.iter().map(|other| other.get(index));
        if others().all(|other| other == Some(&piece)) {
            piece.write(&mut prefix);
            continue;
        }
        if let Piece::Part(Part::Text(text)) = piece {
            let shared = others().map(|other| other.map_or(0, |other| other.shares(text))).min();
            prefix.push_str(&text[..shared.unwrap_or(0)]);
        }
        break;
    }
    prefix
}

/// What a request consists of, for the tokens of the prompt.
#[derive(PartialEq)]
enum Piece<'a> {
    Schema(&'a str),
    Speaker(Role),
    Part(Part<'a>),
}

fn pieces(request: &Request) -> Vec<Piece<'_>> {
    let schema = request.output.iter().map(|schema| Piece::Schema(schema.plain().get()));
    let messages = request.messages.iter().flat_map(|message| {
        std::iter::once(Piece::Speaker(message.role)).chain(message.parts().map(Piece::Part))
    });
    schema.chain(messages).collect()
}

impl Piece<'_> {
    fn write(&self, to: &mut String) {
        match self {
            Piece::Schema(schema) => to.push_str(schema),
            Piece::Speaker(role) => {
                to.push_str(if to.is_empty() { "--- " } else { "\n--- " });
                to.push_str(speaker(*role));
                to.push('\n');
            }
            Piece::Part(Part::Text(text)) => to.push_str(text),
            Piece::Part(Part::Attachment(attachment)) => to.push_str(&attachment.label()),
        }
    }

    fn shares(&self, text: &str) -> usize {
        let Piece::Part(Part::Text(other)) = self else { return 0 };
        let equal = text.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        equal.map(|(one, _)| one.len_utf8()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::Image;
    use crate::model::Message;

    fn ask(message: Message) -> Request {
        Request::new(vec![Message::system("ä"), message])
    }

    #[test]
    fn ends_at_the_first_character_that_differs() {
        let [one, other] = ["aü1", "aö2"].map(|text| ask(Message::user(text)));
        assert_eq!(shared_prefix(&[one.clone(), other]), "--- system\nä\n--- user\na");
        assert_eq!(shared_prefix(&[one.clone(), ask(Message::assistant("aü1"))]), "--- system\nä");
        assert_eq!(shared_prefix(&[one.clone(), ask(Message::user("a"))]), "--- system\nä\n--- user\na");
        assert_eq!(shared_prefix(std::slice::from_ref(&one)), one.transcript());
        assert_eq!(shared_prefix(&[]), "");
    }

    #[test]
    fn an_attachment_that_differs_ends_it() {
        let [one, other] = [b"one", b"two"].map(|bytes| {
            ask(Message::user("See ").attach(Image::bytes("image/png", bytes).unwrap()).text("."))
        });
        assert_eq!(shared_prefix(&[one.clone(), other]), "--- system\nä\n--- user\nSee ");
        assert_eq!(shared_prefix(&[one.clone(), one.clone()]), one.transcript());
    }
}
