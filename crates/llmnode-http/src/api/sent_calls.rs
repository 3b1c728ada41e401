//! Names and ids of calls, in a form that the provider takes.
//!
//! A conversation holds what models wrote: the name of a tool that does not exist,
//! the id of another provider, no id, or the same id twice. It stays so in messages
//! and records. What is sent is made from it here, for each request anew and always
//! the same, so that a conversation keeps its beginning and an older one (a
//! history, a pause, a journal) is sent like a new one:
//!
//! - a *name* that no tool of the request has becomes 1 to 64 of `A-Z a-z 0-9 _ -`,
//!   as all providers want it;
//! - an *id* goes as it came, or in the [form](IdForm) that the provider is known
//!   to want. Calls without an id, and calls that share one, get ids of their own.
//!   A result has the id of its call.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use llmnode_model::Message;
use llmnode_model::internal::{sha256, sha256_hex};

const MAX_NAME_BYTES: usize = 64;

/// For a call that has no name at all.
const NO_NAME: &str = "unnamed";

/// What ids of calls a provider takes.
/// From the freest to the narrowest; which one a provider wants is in its `Wire`,
/// or was learned from a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdForm {
    Any,
    /// At most 64 bytes.
    Short,
    /// At most 64 of `a-z A-Z 0-9 _ -`.
    Word,
    /// Nine letters and digits, as Mistral wants them; everybody else takes them, too.
    Nine,
}

impl IdForm {
    /// Keeps an id that fits. Another one always becomes the same id.
    fn fit(self, id: &str) -> Cow<'_, str> {
        let fits = match self {
            IdForm::Any => true,
            IdForm::Short => id.len() <= 64,
            IdForm::Word => id.len() <= 64 && id.bytes().all(is_of_word),
            IdForm::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        if fits && !id.is_empty() {
            Cow::Borrowed(id)
        } else {
            Cow::Owned(self.hashed(id))
        }
    }

    /// By a hash, so that the same id becomes the same one in each request.
    fn hashed(self, of: &str) -> String {
        if self != IdForm::Nine {
            return format!("c{}", &sha256_hex(of.as_bytes())[..32]);
        }
        const LETTERS: &[u8; 62] =
            b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut rest = 0_u64;
        for byte in sha256(of.as_bytes()).iter().take(8) {
            rest = rest << 8 | u64::from(*byte);
        }
        let mut id = String::with_capacity(9);
        for _ in 0..9 {
            id.push(char::from(LETTERS[(rest % 62) as usize]));
            rest /= 62;
        }
        id
    }
}

/// The ids of a conversation's calls and results as they are sent.
/// Computed once for a request, in the order of its messages.
#[derive(Default)]
pub(crate) struct SentIds<'a> {
    ids: Vec<Cow<'a, str>>,
    /// For each message, where its ids end.
    ends: Vec<usize>,
}

impl<'a> SentIds<'a> {
    pub(crate) fn of(messages: impl Iterator<Item = &'a Message>, form: IdForm) -> Self {
        let mut sent = SentIds::default();
        let mut calls = Calls {
            form,
            used: HashSet::new(),
            next: HashMap::new(),
        };
        let mut round = Round::default();
        for message in messages {
            if !message.calls().is_empty() {
                round = Round::default();
                for call in message.calls() {
                    let id = calls.id(&call.id);
                    round.add(&call.id, id.clone());
                    sent.ids.push(id);
                }
            } else if let Some(model_id) = message.answers() {
                let id = match round.answered(model_id) {
                    Some(id) => id,
                    None => form.fit(model_id),
                };
                sent.ids.push(id);
            }
            sent.ends.push(sent.ids.len());
        }
        sent
    }

    /// Of the message at this place: an id for each of its calls, or the one of the
    /// call whose result it is.
    pub(crate) fn at(&self, message: usize) -> &[Cow<'a, str>] {
        let begin = match message.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        let end = self.ends.get(message).copied().unwrap_or(begin);
        self.ids.get(begin..end).unwrap_or_default()
    }
}

/// Gives ids to calls, one after the other.
struct Calls<'a> {
    form: IdForm,
    used: HashSet<Cow<'a, str>>,
    /// Of ids that cannot be sent as they are, or not again: the number of the next one.
    next: HashMap<&'a str, u32>,
}

impl<'a> Calls<'a> {
    /// Two calls never get the same id.
    fn id(&mut self, model_id: &'a str) -> Cow<'a, str> {
        if !model_id.is_empty() {
            let id = self.form.fit(model_id);
            if self.used.insert(id.clone()) {
                return id;
            }
        }
        let first = u32::from(!model_id.is_empty());
        let next = self.next.entry(model_id).or_insert(first);
        loop {
            let id: Cow<'_, str> = Cow::Owned(self.form.hashed(&format!("{model_id}#{next}")));
            *next += 1;
            if self.used.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// The calls of one message, until they have their results.
/// Results refer to calls by ids that may be there twice, so they are taken in
/// order.
#[derive(Default)]
struct Round<'a> {
    calls: Vec<RoundCall<'a>>,
    /// All calls before it have results, as long as results come in the order of calls.
    first_open: usize,
    results: usize,
}

struct RoundCall<'a> {
    /// The id that the model gave.
    model_id: &'a str,
    id: Cow<'a, str>,
    has_result: bool,
}

impl<'a> Round<'a> {
    fn add(&mut self, model_id: &'a str, id: Cow<'a, str>) {
        self.calls.push(RoundCall {
            model_id,
            id,
            has_result: false,
        });
    }

    /// The id of the first call with this id that has no result yet, else of its
    /// last one. A result without an id belongs to the call at its place.
    fn answered(&mut self, model_id: &str) -> Option<Cow<'a, str>> {
        let place = self.results;
        self.results += 1;
        let mut open = self.calls.iter_mut().skip(self.first_open);
        if let Some(call) = open.find(|call| call.model_id == model_id && !call.has_result) {
            call.has_result = true;
            let id = call.id.clone();
            self.skip_answered();
            return Some(id);
        }
        let mut all = self.calls.iter().rev();
        let call = match all.find(|call| call.model_id == model_id) {
            None if model_id.is_empty() => self.calls.get(place),
            last => last,
        };
        call.map(|call| call.id.clone())
    }

    /// So that not all calls are looked through for each result.
    fn skip_answered(&mut self) {
        let answered = self.calls.iter().skip(self.first_open);
        self.first_open += answered.take_while(|call| call.has_result).count();
    }
}

/// Names of tools are sent as they are; a name that a model made up has to be one at all.
pub(crate) fn sent_name<'a>(name: &'a str, is_known: impl FnOnce(&str) -> bool) -> Cow<'a, str> {
    let fits = name.len() <= MAX_NAME_BYTES && name.bytes().all(is_of_word);
    if (fits && name.bytes().next().is_some_and(begins_a_name)) || is_known(name) {
        return Cow::Borrowed(name);
    }
    let mut clean = String::new();
    for c in name.chars() {
        match c {
            _ if clean.len() == MAX_NAME_BYTES => break,
            c if c.is_ascii_alphanumeric() || c == '-' => clean.push(c),
            _ if clean.ends_with('_') => {}
            _ => clean.push('_'),
        }
    }
    let clean = clean.trim_matches('_');
    match clean.bytes().next() {
        None if name.is_empty() => Cow::Borrowed(NO_NAME),
        None => {
            let hash = sha256_hex(name.as_bytes());
            Cow::Owned(format!("tool_{}", &hash[..8]))
        }
        Some(first) if begins_a_name(first) => Cow::Owned(clean.to_owned()),
        Some(_) => {
            let end = clean.len().min(MAX_NAME_BYTES - 1);
            Cow::Owned(format!("_{}", &clean[..end]))
        }
    }
}

/// What providers allow in ids and names.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// As Google wants it.
fn begins_a_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use llmnode_model::ToolCall;

    use super::*;

    fn asks(ids: &[&str]) -> Message {
        Message::assistant("").calling(ids.iter().map(|id| ToolCall::new(*id, "stock", "{}")))
    }

    fn sent(messages: &[Message], form: IdForm) -> Vec<Vec<String>> {
        let ids = SentIds::of(messages.iter(), form);
        let of = |at| ids.at(at).iter().map(|id| id.to_string()).collect();
        (0..messages.len()).map(of).collect()
    }

    #[test]
    fn a_made_up_name_becomes_one_that_all_providers_take() {
        let known = |name: &str| name == "Straße";
        for (name, sent) in [
            ("stock", "stock"),
            ("Straße", "Straße"),
            ("multi_tool_use.parallel", "multi_tool_use_parallel"),
            ("shout<|channel|>commentary", "shout_channel_commentary"),
            ("$READFILE", "READFILE"),
            ("run shell cmd", "run_shell_cmd"),
            ("7up", "_7up"),
            ("", "unnamed"),
            ("погода", "tool_c1d5a896"),
        ] {
            assert_eq!(sent_name(name, known), sent, "{name:?}");
        }
        for long in [
            "a".repeat(90),
            "7".repeat(90),
            "é".repeat(90),
            ".a".repeat(90),
        ] {
            let name = sent_name(&long, known);
            assert!((1..=64).contains(&name.len()), "{name}");
            assert!(
                name.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                "{name}"
            );
        }
    }

    #[test]
    fn an_id_goes_as_it_came_or_in_the_form_that_is_wanted() {
        let long = "x".repeat(65);
        let model_id = ["a|b.c", "abc123XYZ", &long];
        let conversation = [
            asks(&model_id),
            Message::tool("abc123XYZ", "1"),
            Message::tool(&long, "2"),
            Message::tool("a|b.c", "3"),
        ];
        assert_eq!(sent(&conversation, IdForm::Any)[0], model_id);
        for form in [IdForm::Short, IdForm::Word, IdForm::Nine] {
            let ids = sent(&conversation, form);
            let [first, second, third] = &ids[0][..] else {
                panic!("three")
            };
            assert_eq!([&ids[1][0], &ids[2][0], &ids[3][0]], [second, third, first]);
            assert_eq!(second, "abc123XYZ");
            assert_eq!(ids, sent(&conversation, form));
            for id in [first, third] {
                match form {
                    IdForm::Nine => {
                        assert!(
                            id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
                        )
                    }
                    _ => assert!(id.len() <= 64),
                }
            }
        }
    }

    #[test]
    fn no_two_calls_share_an_id_and_each_result_has_its_calls() {
        let round = || {
            [
                asks(&["a", "a", ""]),
                Message::tool("a", "1"),
                Message::tool("a", "2"),
                Message::tool("", "3"),
            ]
        };
        let conversation: Vec<Message> = round()
            .into_iter()
            .chain([Message::user("On.")])
            .chain(round())
            .collect();
        for form in [IdForm::Any, IdForm::Word, IdForm::Nine] {
            let ids = sent(&conversation, form);
            let calls: HashSet<&String> = ids[0].iter().chain(&ids[5]).collect();
            assert_eq!(calls.len(), 6, "{ids:?}");
            for begin in [0, 5] {
                let results: Vec<&String> = ids[begin + 1..begin + 4].iter().flatten().collect();
                assert_eq!(results, ids[begin].iter().collect::<Vec<_>>());
            }
            // What was sent before stays, whatever follows.
            assert_eq!(sent(&conversation[..4], form), ids[..4]);
            assert!(ids[4].is_empty());
        }
    }

    #[test]
    fn a_result_without_an_id_belongs_to_the_call_at_its_place() {
        let conversation = [
            asks(&["a", "b"]),
            Message::tool("", "1"),
            Message::tool("", "2"),
        ];
        assert_eq!(
            sent(&conversation, IdForm::Any),
            [vec!["a", "b"], vec!["a"], vec!["b"]]
        );
    }
}
