//! By which dialect a model is asked for a type, given what it is known to refuse.

use llmnode_runtime::{Dialect, OutputSchema, StrictError};

use super::refused::Refused;

/// In this order the next one is tried: those that bind the model come first.
const ORDER: [Dialect; 5] =
    [Dialect::Tool, Dialect::Strict, Dialect::Schema, Dialect::JsonObject, Dialect::Prompt];

/// A set of dialects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dialects(u8);

impl Dialects {
    pub(crate) fn of(dialects: &[Dialect]) -> Dialects {
        dialects.iter().fold(Dialects::default(), |set, one| Dialects(set.0 | bit(*one)))
    }

    pub(crate) fn contains(self, dialect: Dialect) -> bool {
        self.0 & bit(dialect) != 0
    }

    pub(crate) fn and(self, other: Dialects) -> Dialects {
        Dialects(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

fn bit(dialect: Dialect) -> u8 {
    let place = ORDER.iter().position(|one| *one == dialect);
    place.map_or(0, |place| 1 << place)
}

/// The dialect to ask by: the chosen one, or else the strict one, and from there on the first that is not refused and
/// can say what the type is.
///
/// # Errors
/// The strict dialect is chosen, and cannot say it.
pub(crate) fn dialect(
    chosen: Option<Dialect>,
    schema: &OutputSchema,
    refused: Dialects,
) -> Result<Dialect, &StrictError> {
    let first = chosen.unwrap_or(Dialect::Strict);
    if first == Dialect::Strict && chosen.is_some() {
        schema.strict()?;
    }
    let expresses = |dialect: Dialect| dialect != Dialect::Strict || schema.strict().is_ok();
    let from = ORDER.iter().skip_while(|one| **one != first);
    let mut left = from.copied().filter(|one| !refused.contains(*one));
    Ok(left.find(|one| expresses(*one)).unwrap_or(Dialect::Prompt))
}

/// The dialects that [`dialect`] passes over because they are refused.
pub(crate) fn passed_over(
    chosen: Option<Dialect>,
    schema: &OutputSchema,
    refused: Dialects,
) -> impl Iterator<Item = Dialect> {
    let asked = dialect(chosen, schema, refused).unwrap_or(Dialect::Prompt);
    let first = chosen.unwrap_or(Dialect::Strict);
    let from = ORDER.into_iter().skip_while(move |one| *one != first).take_while(move |one| *one != asked);
    let says = schema.strict().is_ok();
    from.filter(move |one| refused.contains(*one) && (says || *one != Dialect::Strict))
}

/// The dialects that a refusal is about, of a request that was asked by this one.
pub(crate) fn ruled_out(refused: Refused, asked: Dialect) -> Dialects {
    use Dialect::{JsonObject, Schema, Strict, Tool};
    Dialects::of(match (refused, asked) {
        (Refused::Schema, Strict) => &[Strict],
        (Refused::Schema, Schema) => &[Strict, Schema],
        // What the parameters of a function may not say, a strict response format may not either.
        (Refused::Schema, Tool) => &[Tool, Strict],
        (Refused::Tools | Refused::ToolChoice, Tool) => &[Tool],
        (Refused::JsonSchema | Refused::FormatType, Strict | Schema) => &[Strict, Schema],
        (Refused::FormatType, JsonObject) => &[JsonObject],
        (Refused::Format, Strict | Schema | JsonObject) => &[Strict, Schema, JsonObject],
        // A refusal of what was not asked teaches nothing.
        _ => &[],
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn struct_and_map() -> (Arc<OutputSchema>, Arc<OutputSchema>) {
        (OutputSchema::of::<u8>(), OutputSchema::of::<std::collections::HashMap<String, u8>>())
    }

    #[test]
    fn without_a_choice_the_most_binding_one_that_can_say_the_type() {
        let (plain_type, map) = struct_and_map();
        let of = |schema, refused: &[Dialect]| dialect(None, schema, Dialects::of(refused)).unwrap();
        assert_eq!(of(&plain_type, &[]), Dialect::Strict);
        assert_eq!(of(&map, &[]), Dialect::Schema);
        assert_eq!(of(&plain_type, &[Dialect::Strict, Dialect::Schema]), Dialect::JsonObject);
        assert_eq!(of(&plain_type, &[Dialect::Tool]), Dialect::Strict, "tools are asked by only if chosen");
        assert_eq!(of(&map, &ORDER), Dialect::Prompt);
    }

    #[test]
    fn a_choice_is_where_it_begins() {
        let (plain_type, map) = struct_and_map();
        let none = Dialects::default();
        for one in ORDER {
            assert_eq!(dialect(Some(one), &plain_type, none).unwrap(), one);
            assert_eq!(dialect(Some(one), &map, none).is_ok(), one != Dialect::Strict);
        }
        let refused = Dialects::of(&[Dialect::Tool]);
        assert_eq!(dialect(Some(Dialect::Tool), &plain_type, refused).unwrap(), Dialect::Strict);
        assert_eq!(dialect(Some(Dialect::Tool), &map, refused).unwrap(), Dialect::Schema);
        let refused = Dialects::of(&[Dialect::JsonObject]);
        assert_eq!(dialect(Some(Dialect::JsonObject), &plain_type, refused).unwrap(), Dialect::Prompt);
    }

    #[test]
    fn only_what_is_refused_is_passed_over() {
        let (plain_type, map) = struct_and_map();
        let over = |chosen, schema, refused: &[Dialect]| {
            passed_over(chosen, schema, Dialects::of(refused)).map(Dialect::as_str).collect::<Vec<_>>()
        };
        let both = [Dialect::Strict, Dialect::Schema];
        assert_eq!(over(None, &plain_type, &both), ["strict", "schema"]);
        assert_eq!(over(None, &map, &both), ["schema"], "the strict dialect cannot say what it is");
        assert_eq!(over(Some(Dialect::Schema), &plain_type, &both), ["schema"]);
        assert!(over(Some(Dialect::Prompt), &plain_type, &both).is_empty());
        assert!(over(None, &plain_type, &[Dialect::JsonObject]).is_empty());
    }

    /// What follows a refusal is another dialect, or nothing is learned: no request is repeated as it was.
    #[test]
    fn every_refusal_leads_on_or_teaches_nothing() {
        let (plain_type, map) = struct_and_map();
        let all =
            [Refused::Format, Refused::JsonSchema, Refused::FormatType, Refused::Schema, Refused::Tools];
        for (schema, chosen) in [&plain_type, &map].into_iter().flat_map(|s| ORDER.map(|one| (s, one))) {
            let Ok(asked) = dialect(Some(chosen), schema, Dialects::default()) else { continue };
            for refused in all {
                let out = ruled_out(refused, asked);
                if !out.is_empty() {
                    assert_ne!(dialect(Some(chosen), schema, out).unwrap(), asked, "{refused:?} {asked:?}");
                }
            }
        }
        assert!(all.into_iter().all(|refused| ruled_out(refused, Dialect::Prompt).is_empty()));
    }
}
