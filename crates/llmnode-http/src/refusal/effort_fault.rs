//! What a refusal says of the way in which a model was asked to think.

use llmnode_model::Reasoning;

use super::efforts::{
    BETWEEN_TOOLS_OFFERED, EFFORTS, Effort, MOST_GUESSES, NUMBERS, Refused, Thinking, WORDS,
};
use super::phrases::{ADVICE, OFF_REFUSED, any_of};
use super::values::{Bounds, bounds, named_values, values_behind};

/// What a refusal says of the way in which thoughts were asked for.
#[derive(Debug, PartialEq)]
pub(super) enum EffortFault {
    Refused(Refused),
    Budget(Bounds),
}

/// `text`: in lower case. `refuses`: it says that something is not supported.
///
/// In order: a range of numbers, a list of words that are taken, and only then what
/// the text says about switching off or about the word that was sent. A guess is
/// the last resort, and is made twice at most.
pub(super) fn refused(
    (reasoning, way): (Reasoning, Thinking),
    earlier: Refused,
    text: &str,
    refuses: bool,
) -> Option<EffortFault> {
    if let Thinking::Budget(tokens @ 1..) = way
        && let Some(range) = bounds(text, None)
        && range.excludes(tokens)
    {
        return Some(EffortFault::Budget(range));
    }
    let names = EFFORTS.map(|(_, name, _)| name);
    let offer = named_values(text, &names).or_else(|| values_behind(text, ADVICE, &names));
    if let Thinking::Effort(_) = way
        && let Some(offer) = offer
    {
        let mut others = Refused::default();
        for (other, name, _) in &EFFORTS {
            if !offer.contains(name) {
                others = others.union(Refused::of(Thinking::Effort(*other)));
            }
        }
        if !others.has(way) {
            return None;
        }
        return Some(EffortFault::Refused(others));
    }
    let off_is_refused = any_of(text, OFF_REFUSED);
    // Asked for in place of nothing, the least word means that.
    let asks_off = matches!(reasoning, Reasoning::Off | Reasoning::Budget(0));
    let least_in_place = asks_off && way == Thinking::Effort(Effort::Minimal);
    let is_off = way.is_off() || least_in_place;
    if off_is_refused && !is_off && !refuses {
        return None;
    }
    if !refuses && !off_is_refused {
        return None;
    }
    let refused_way = Refused::of(way);
    Some(EffortFault::Refused(match way {
        Thinking::Budget(0) if text.contains("between_tools") => {
            refused_way.union(Refused(BETWEEN_TOOLS_OFFERED))
        }
        _ if is_off && (off_is_refused || way == Thinking::Budget(0)) => refused_way,
        _ if least_in_place && has_word(text, Effort::None.as_str()) => refused_way,
        Thinking::BetweenTools => refused_way,
        Thinking::Effort(word)
            if has_word(text, word.as_str()) && earlier.guesses() < MOST_GUESSES =>
        {
            refused_way
        }
        Thinking::Effort(_) => Refused(WORDS),
        // The program has to correct its own number.
        Thinking::Budget(tokens) if has_word(text, &tokens.to_string()) => match reasoning {
            Reasoning::Budget(_) => return None,
            _ => refused_way,
        },
        Thinking::Budget(_) => Refused(NUMBERS),
    }))
}

pub(crate) fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|one| one == word)
}
