//! What a refusal says of the way in which a model was asked to think.

use llmnode_model::Reasoning;

use super::efforts::{BETWEEN_TOOLS_OFFERED, EFFORTS, MOST_GUESSES, NUMBERS, Refused, Thinking, WORDS};
use super::phrases::{OFF_REFUSED, any_of};
use super::values::{Bounds, bounds, named_values};

/// What a refusal says of the way in which thoughts were asked for.
#[derive(Debug, PartialEq)]
pub(super) enum EffortFault {
    Refused(Refused),
    Budget(Bounds),
}

/// `text`: in lower case. `refuses`: it says that something is not supported.
pub(super) fn refused(
    (reasoning, way): (Reasoning, Thinking),
    known: Refused,
    text: &str,
    refuses: bool,
) -> Option<EffortFault> {
    if let (Thinking::Budget(tokens @ 1..), Some(range)) = (way, bounds(text, None))
        && range.excludes(tokens)
    {
        return Some(EffortFault::Budget(range));
    }
    let names = EFFORTS.map(|(_, name, _)| name);
    if let (Thinking::Effort(word), Some(offer)) = (way, named_values(text, &names)) {
        let others = EFFORTS.iter().filter(|(_, other, _)| !offer.contains(other));
        let others = others.map(|(other, ..)| Refused::of(Thinking::Effort(*other)));
        let others = others.fold(Refused::default(), Refused::union);
        return others.has(Thinking::Effort(word)).then_some(EffortFault::Refused(others));
    }
    let off_is_refused = any_of(text, OFF_REFUSED);
    if off_is_refused && !way.is_off() && !refuses {
        return None;
    }
    if !refuses && !off_is_refused {
        return None;
    }
    let own = Refused::of(way);
    Some(EffortFault::Refused(match way {
        Thinking::Budget(0) if text.contains("between_tools") => own.union(Refused(BETWEEN_TOOLS_OFFERED)),
        _ if way.is_off() && (off_is_refused || way == Thinking::Budget(0)) => own,
        Thinking::BetweenTools => own,
        Thinking::Effort(word) if has_word(text, word.as_str()) && known.guesses() < MOST_GUESSES => own,
        Thinking::Effort(_) => Refused(WORDS),
        // The program has to correct its own number.
        Thinking::Budget(tokens) if has_word(text, &tokens.to_string()) => match reasoning {
            Reasoning::Budget(_) => return None,
            _ => own,
        },
        Thinking::Budget(_) => Refused(NUMBERS),
    }))
}

pub(crate) fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|one| one == word)
}
