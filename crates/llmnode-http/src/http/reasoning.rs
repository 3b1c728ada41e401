//! Chooses how a model is asked to think, given the ways that it is known to refuse.

use llmnode_model::Reasoning;
use serde_json::{Map, Value};

use super::error_body::ErrorBody;

/// Words of all APIs; each accepts some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

/// With the number of tokens for APIs that take only numbers.
const EFFORTS: [(Effort, &str, u32); 7] = [
    (Effort::None, "none", 0),
    (Effort::Minimal, "minimal", 0),
    (Effort::Low, "low", 1_024),
    (Effort::Medium, "medium", 4_096),
    (Effort::High, "high", 16_384),
    (Effort::XHigh, "xhigh", 32_768),
    (Effort::Max, "max", 32_768),
];

impl Effort {
    pub(crate) const fn as_str(self) -> &'static str {
        EFFORTS[self as usize].1
    }

    pub(crate) const fn tokens(self) -> u32 {
        EFFORTS[self as usize].2
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    Effort(Effort),
    Budget(u32),
}

impl Thinking {
    pub(crate) fn thinks(self) -> bool {
        !matches!(self, Thinking::Effort(Effort::None) | Thinking::Budget(0))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Efforts {
    pub(crate) off: &'static [Thinking],
    pub(crate) words: &'static [Effort],
    pub(crate) budgets: bool,
    /// The field, and a pointer into it, by which `extra` may ask instead.
    pub(crate) field: (&'static str, &'static str),
}

impl Efforts {
    /// Best first. A budget must leave room below `limit`.
    fn ways(self, reasoning: Reasoning, limit: u32) -> impl Iterator<Item = Thinking> {
        let (most, number) = match reasoning {
            Reasoning::Off | Reasoning::Budget(0) => (Effort::None, None),
            Reasoning::Low => (Effort::Low, None),
            Reasoning::Medium => (Effort::Medium, None),
            Reasoning::High => (Effort::High, None),
            Reasoning::Budget(tokens) => (at_most(tokens), Some(Thinking::Budget(tokens))),
            _ => (Effort::Max, None),
        };
        let off = if most == Effort::None { self.off } else { &[] };
        let words = self.words.iter().filter(move |word| **word as u16 <= most as u16);
        let numbers = words.clone().filter(move |word| self.budgets && word.tokens() < limit);
        let words = words.map(|word| Thinking::Effort(*word));
        let numbers = numbers.map(|word| Thinking::Budget(word.tokens()));
        off.iter().copied().chain(number).chain(words).chain(numbers)
    }

    pub(crate) fn is_in(self, extra: &Map<String, Value>) -> bool {
        let (field, within) = self.field;
        extra.get(field).is_some_and(|value| value.pointer(within).is_some())
    }

    pub(crate) fn way(self, reasoning: Reasoning, limit: u32, refused: Refused) -> Option<Thinking> {
        self.ways(reasoning, limit).find(|way| !refused.has(*way))
    }
}

fn at_most(tokens: u32) -> Effort {
    let lower = EFFORTS.iter().rev().find(|(_, _, number)| *number <= tokens && *number > 0);
    lower.map_or(Effort::Low, |(effort, ..)| *effort)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused(u16);

/// A bit for each effort, then one for 0 tokens.
const WORDS: u16 = 0b0111_1111;
const NO_TOKENS: u16 = 1 << 7;
/// Bits of efforts as numbers. If all are set, no number is accepted.
const NUMBERS: u16 = 0b0111_1100_0000_0000;

impl Refused {
    pub(crate) const SUMMARY: Refused = Refused(1 << 15);

    fn of(way: Thinking) -> Refused {
        Refused(match way {
            Thinking::Effort(effort) => 1 << effort as u16,
            Thinking::Budget(0) => NO_TOKENS,
            Thinking::Budget(tokens) => match at_most(tokens) {
                effort if effort.tokens() == tokens => 1 << (8 + effort as u16),
                _ => 0,
            },
        })
    }

    fn has(self, way: Thinking) -> bool {
        let no_numbers = matches!(way, Thinking::Budget(1..)) && self.contains(Refused(NUMBERS));
        let own = Refused::of(way);
        no_numbers || (own.0 != 0 && self.contains(own))
    }

    pub(crate) fn contains(self, other: Refused) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn union(self, other: Refused) -> Refused {
        Refused(self.0 | other.0)
    }
}

const NAMES: [&str; 5] = ["reasoning", "effort", "thinking", "thought", "output_config: extra"];

const OFFERS: [&str; 5] =
    ["supported values are", "supported levels", "supported: ", "one of", "input should be"];

/// In addition to the phrases for all parts of a request.
const REFUSES: [&str; 2] = ["is invalid", "does not match any of the expected"];

/// `text`: in lower case. `refuses`: it says that something is not supported.
pub(super) fn refused(
    asked: (Reasoning, Thinking),
    error: &ErrorBody,
    text: &str,
    refuses: bool,
) -> Option<Refused> {
    let (reasoning, way) = asked;
    let param = error.param.as_deref().unwrap_or_default();
    if param.contains("summary") || text.contains("reasoning summar") {
        return Some(Refused::SUMMARY);
    }
    if !NAMES.iter().any(|name| text.contains(name) || param.contains(name)) {
        return None;
    }
    let words =
        |text: &str, word: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|one| one == word);
    // The text may quote the request after the list.
    let offer = OFFERS.iter().find_map(|lead| text.split_once(lead)?.1.split(['"', '.', ']']).next());
    if let (Thinking::Effort(word), Some(offer)) = (way, offer) {
        let others = EFFORTS.iter().filter(|(_, other, _)| !words(offer, other));
        let others = others.map(|(other, ..)| Refused::of(Thinking::Effort(*other)));
        let others = others.fold(Refused::default(), Refused::union);
        return Some(others).filter(|others| others.has(Thinking::Effort(word)));
    }
    let (is_named, form) = match way {
        Thinking::Effort(word) => (words(text, word.as_str()), WORDS),
        Thinking::Budget(0) => (true, NO_TOKENS),
        Thinking::Budget(tokens) => (words(text, &tokens.to_string()), NUMBERS),
    };
    match reasoning {
        _ if !refuses && !REFUSES.iter().any(|phrase| text.contains(phrase)) => None,
        // The program has to correct its own number.
        Reasoning::Budget(1..) if is_named => None,
        _ if is_named => Some(Refused::of(way)),
        _ => Some(Refused(form)),
    }
}
