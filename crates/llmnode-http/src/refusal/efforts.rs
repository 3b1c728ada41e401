//! Chooses how a model is asked to think, given the ways that it is known to refuse.
//!
//! A program asks for an amount (off, low, medium, high, the most, or a number of
//! tokens). APIs and models take words, numbers, or both, and each model another
//! selection. So a wish becomes an ordered list of ways, best first, of which the
//! first is sent that this model has not refused.

use llmnode_model::Reasoning;
use serde_json::{Map, Value};

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
pub(super) const EFFORTS: [(Effort, &str, u32); 7] = [
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

/// One way to ask, as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    Effort(Effort),
    Budget(u32),
    /// Anthropic's least, where it cannot be switched off.
    BetweenTools,
}

impl Thinking {
    pub(crate) fn thinks(self) -> bool {
        matches!(self, Thinking::Effort(_) | Thinking::Budget(_)) && !self.is_off()
    }

    pub(super) fn is_off(self) -> bool {
        matches!(self, Thinking::Effort(Effort::None) | Thinking::Budget(0))
    }
}

/// What an API has: its ways to switch off, its words from the most on, and whether
/// it takes numbers.
#[derive(Clone, Copy)]
pub(crate) struct Efforts {
    pub(crate) off: &'static [Thinking],
    pub(crate) words: &'static [Effort],
    pub(crate) budgets: bool,
    /// The field, and a pointer into it, by which `extra` may ask instead.
    pub(crate) field: (&'static str, &'static str),
}

impl Efforts {
    /// Best first: the API's way to switch off, if that is asked for; a number, if one
    /// was given; then words from the most that is not above the wish, and at last
    /// their numbers.
    ///
    /// A budget must leave room below `limit`. Never more than was asked for: words
    /// and numbers above are left out.
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
        let words = self
            .words
            .iter()
            .filter(move |word| **word as u16 <= most as u16);
        let numbers = words
            .clone()
            .filter(move |word| self.budgets && word.tokens() < limit);
        let words = words.map(|word| Thinking::Effort(*word));
        let numbers = numbers.map(|word| Thinking::Budget(word.tokens()));
        off.iter()
            .copied()
            .chain(number)
            .chain(words)
            .chain(numbers)
    }

    /// Whether the program asks by a field of its own.
    pub(crate) fn is_in(self, extra: &Map<String, Value>) -> bool {
        let (field, within) = self.field;
        match extra.get(field) {
            Some(value) => value.pointer(within).is_some(),
            None => false,
        }
    }

    /// The best way that the model has not refused. `None`: it has refused all.
    pub(crate) fn way(
        self,
        reasoning: Reasoning,
        limit: u32,
        refused: Refused,
        budgets: Budgets,
    ) -> Option<Thinking> {
        let mut ways = self.ways(reasoning, limit);
        let way = ways.find(|way| !refused.has(*way))?;
        match way {
            Thinking::Budget(tokens @ 1..) => Some(Thinking::Budget(budgets.nearest(tokens))),
            way => Some(way),
        }
    }
}

/// The word whose number is the next one below.
fn at_most(tokens: u32) -> Effort {
    let lower = EFFORTS
        .iter()
        .rev()
        .find(|(_, _, number)| *number <= tokens && *number > 0);
    lower.map_or(Effort::Low, |(effort, ..)| *effort)
}

/// The numbers of tokens that a model takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Budgets {
    least: Option<u32>,
    most: Option<u32>,
}

impl Budgets {
    /// Several refusals together leave a range.
    pub(crate) fn narrow(&mut self, least: Option<u32>, most: Option<u32>) {
        self.least = self.least.max(least);
        self.most = [self.most, most].into_iter().flatten().min();
    }

    /// The number that is taken, nearest to the one that was wanted.
    fn nearest(self, tokens: u32) -> u32 {
        let mut nearest = tokens;
        if let Some(most) = self.most {
            nearest = nearest.min(most);
        }
        if let Some(least) = self.least {
            nearest = nearest.max(least);
        }
        nearest
    }
}

/// Ways of thinking, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused(pub(super) u32);

/// A bit for each effort, then one for 0 tokens.
pub(super) const WORDS: u32 = 0b0111_1111;
const NO_TOKENS: u32 = 1 << 7;
/// Bits of efforts as numbers. If all are set, no number is accepted.
pub(super) const NUMBERS: u32 = 0b0111_1100_0000_0000;
const BETWEEN_TOOLS: u32 = 1 << 16;
/// A refusal has named it. Before that, it is not asked for: few models know it.
pub(super) const BETWEEN_TOOLS_OFFERED: u32 = 1 << 17;
/// Words refused one by one, after which no other is tried: a call adapts only a few times.
pub(super) const MOST_GUESSES: u32 = 2;

impl Refused {
    pub(super) fn of(way: Thinking) -> Refused {
        Refused(match way {
            Thinking::Effort(effort) => 1 << effort as u32,
            Thinking::Budget(0) => NO_TOKENS,
            Thinking::BetweenTools => BETWEEN_TOOLS,
            Thinking::Budget(tokens) => match at_most(tokens) {
                effort if effort.tokens() == tokens => 1 << (8 + effort as u32),
                _ => 0,
            },
        })
    }

    /// A way that no refusal has offered counts as refused, if few models know it.
    pub(super) fn has(self, way: Thinking) -> bool {
        if way == Thinking::BetweenTools && !self.contains(Refused(BETWEEN_TOOLS_OFFERED)) {
            return true;
        }
        let is_number = matches!(way, Thinking::Budget(1..));
        if is_number && self.contains(Refused(NUMBERS)) {
            return true;
        }
        let of_way = Refused::of(way);
        of_way.0 != 0 && self.contains(of_way)
    }

    pub(crate) fn contains(self, other: Refused) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn union(self, other: Refused) -> Refused {
        Refused(self.0 | other.0)
    }

    pub(super) fn guesses(self) -> u32 {
        (self.0 & WORDS).count_ones()
    }
}
