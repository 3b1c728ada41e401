//! Chooses the response format for a type, given the formats that the model is known to refuse.
//!
//! The search begins at the format that is wanted and goes down [`ORDER`], from formats that force the model to those that only ask
//! it: each refusal costs one request, after which the next weaker one is used. It never goes up by itself. A strict format
//! that cannot express the type is passed over without asking.

use llmnode_model::ResponseFormat;
use llmnode_reader::ask::take_strict_error;
use llmnode_reader::{OutputSchema, StrictError};

/// Fallback order: formats that constrain the model come first.
const ORDER: [ResponseFormat; 5] = [
    ResponseFormat::Tool,
    ResponseFormat::Strict,
    ResponseFormat::Schema,
    ResponseFormat::JsonObject,
    ResponseFormat::Prompt,
];

/// A set, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponseFormats(u8);

impl ResponseFormats {
    pub(crate) fn of(response_formats: &[ResponseFormat]) -> ResponseFormats {
        response_formats
            .iter()
            .fold(ResponseFormats::default(), |set, one| {
                ResponseFormats(set.0 | bit(*one))
            })
    }

    pub(crate) fn contains(self, response_format: ResponseFormat) -> bool {
        self.0 & bit(response_format) != 0
    }

    pub(crate) fn union(self, other: ResponseFormats) -> ResponseFormats {
        ResponseFormats(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

fn bit(response_format: ResponseFormat) -> u8 {
    let place = ORDER.iter().position(|one| *one == response_format);
    place.map_or(0, |place| 1 << place)
}

/// What a refusal says of the format that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatFault {
    Format,
    JsonSchema,
    /// Whichever type of response format was sent.
    FormatType,
    /// This schema, as a response format or as the parameters of a function.
    Schema,
    /// Functions, or forcing a call.
    Tools,
}

/// What an API has. The search begins at the form that is wanted, so what stands
/// before it is only used where it was chosen.
#[derive(Clone, Copy)]
pub(crate) struct Formats {
    pub(crate) order: &'static [ResponseFormat],
    pub(crate) expresses: fn(&OutputSchema) -> bool,
}

pub(crate) const ALL: Formats = Formats {
    order: &ORDER,
    expresses: |schema| schema.strict().is_ok(),
};

/// Fails only if the strict format is chosen, and cannot express the type.
pub(crate) fn response_format(
    formats: Formats,
    chosen: Option<ResponseFormat>,
    schema: &OutputSchema,
    refused: ResponseFormats,
) -> Result<ResponseFormat, &StrictError> {
    let first = chosen.unwrap_or(ResponseFormat::Strict);
    if first == ResponseFormat::Strict && chosen.is_some() {
        schema.strict()?;
    }
    if matches!(first, ResponseFormat::Strict | ResponseFormat::Tool)
        && let Some(error) = take_strict_error(schema)
    {
        tracing::info!(target: "llmnode::schema", name = schema.name(), "{error}");
    }
    for format in formats.order.iter().skip_while(|one| **one != first) {
        let is_expressible = *format != ResponseFormat::Strict || (formats.expresses)(schema);
        if !refused.contains(*format) && is_expressible {
            return Ok(*format);
        }
    }
    Ok(ResponseFormat::Prompt)
}

/// Those that would have been better, for the record.
pub(crate) fn passed_over(
    formats: Formats,
    chosen: Option<ResponseFormat>,
    schema: &OutputSchema,
    refused: ResponseFormats,
) -> impl Iterator<Item = ResponseFormat> + use<> {
    let current =
        response_format(formats, chosen, schema, refused).unwrap_or(ResponseFormat::Prompt);
    let first = chosen.unwrap_or(ResponseFormat::Strict);
    let from = formats.order.iter().copied();
    let from = from
        .skip_while(move |one| *one != first)
        .take_while(move |one| *one != current);
    let says = (formats.expresses)(schema);
    from.filter(move |one| refused.contains(*one) && (says || *one != ResponseFormat::Strict))
}

/// Which forms a refusal of this one says something about.
pub(crate) fn ruled_out(refused: FormatFault, current: ResponseFormat) -> ResponseFormats {
    use ResponseFormat::{JsonObject, Schema, Strict, Tool};
    ResponseFormats::of(match (refused, current) {
        (FormatFault::Schema, Strict) => &[Strict],
        (FormatFault::Schema, Schema) => &[Strict, Schema],
        // Some servers make a grammar of that as well.
        (FormatFault::Schema, JsonObject) => &[JsonObject],
        // A strict response format is no more expressive than a function's parameters.
        (FormatFault::Schema, Tool) => &[Tool, Strict],
        (FormatFault::Tools, Tool) => &[Tool],
        (FormatFault::JsonSchema | FormatFault::FormatType, Strict | Schema) => &[Strict, Schema],
        (FormatFault::FormatType, JsonObject) => &[JsonObject],
        (FormatFault::Format, Strict | Schema | JsonObject) => &[Strict, Schema, JsonObject],
        // A refusal of something that was not sent teaches nothing.
        _ => &[],
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn struct_and_map() -> (Arc<OutputSchema>, Arc<OutputSchema>) {
        (
            OutputSchema::of::<u8>(),
            OutputSchema::of::<std::collections::HashMap<String, u8>>(),
        )
    }

    #[test]
    fn without_a_choice_the_most_binding_one_that_can_say_the_type() {
        let (plain_type, map) = struct_and_map();
        let of = |schema, refused: &[ResponseFormat]| {
            response_format(ALL, None, schema, ResponseFormats::of(refused)).unwrap()
        };
        assert_eq!(of(&plain_type, &[]), ResponseFormat::Strict);
        assert_eq!(of(&map, &[]), ResponseFormat::Schema);
        assert_eq!(
            of(
                &plain_type,
                &[ResponseFormat::Strict, ResponseFormat::Schema]
            ),
            ResponseFormat::JsonObject
        );
        assert_eq!(
            of(&plain_type, &[ResponseFormat::Tool]),
            ResponseFormat::Strict,
            "tools are asked by only if chosen"
        );
        assert_eq!(of(&map, &ORDER), ResponseFormat::Prompt);
    }

    #[test]
    fn a_choice_is_where_it_begins() {
        let (plain_type, map) = struct_and_map();
        let none = ResponseFormats::default();
        for one in ORDER {
            assert_eq!(
                response_format(ALL, Some(one), &plain_type, none).unwrap(),
                one
            );
            assert_eq!(
                response_format(ALL, Some(one), &map, none).is_ok(),
                one != ResponseFormat::Strict
            );
        }
        let refused = ResponseFormats::of(&[ResponseFormat::Tool]);
        assert_eq!(
            response_format(ALL, Some(ResponseFormat::Tool), &plain_type, refused).unwrap(),
            ResponseFormat::Strict
        );
        assert_eq!(
            response_format(ALL, Some(ResponseFormat::Tool), &map, refused).unwrap(),
            ResponseFormat::Schema
        );
        let refused = ResponseFormats::of(&[ResponseFormat::JsonObject]);
        assert_eq!(
            response_format(ALL, Some(ResponseFormat::JsonObject), &plain_type, refused).unwrap(),
            ResponseFormat::Prompt
        );
    }

    #[test]
    fn only_what_is_refused_is_passed_over() {
        let (plain_type, map) = struct_and_map();
        let over = |chosen, schema, refused: &[ResponseFormat]| {
            passed_over(ALL, chosen, schema, ResponseFormats::of(refused))
                .map(ResponseFormat::as_str)
                .collect::<Vec<_>>()
        };
        let both = [ResponseFormat::Strict, ResponseFormat::Schema];
        assert_eq!(over(None, &plain_type, &both), ["strict", "schema"]);
        assert_eq!(
            over(None, &map, &both),
            ["schema"],
            "the strict dialect cannot say what it is"
        );
        assert_eq!(
            over(Some(ResponseFormat::Schema), &plain_type, &both),
            ["schema"]
        );
        assert!(over(Some(ResponseFormat::Prompt), &plain_type, &both).is_empty());
        assert!(over(None, &plain_type, &[ResponseFormat::JsonObject]).is_empty());
    }

    /// What follows a refusal is another response format, or nothing is learned: no
    /// request is repeated as it was.
    #[test]
    fn every_refusal_leads_on_or_teaches_nothing() {
        let (plain_type, map) = struct_and_map();
        let all = [
            FormatFault::Format,
            FormatFault::JsonSchema,
            FormatFault::FormatType,
            FormatFault::Schema,
            FormatFault::Tools,
        ];
        for (schema, chosen) in [&plain_type, &map]
            .into_iter()
            .flat_map(|s| ORDER.map(|one| (s, one)))
        {
            let Ok(current) =
                response_format(ALL, Some(chosen), schema, ResponseFormats::default())
            else {
                continue;
            };
            for refused in all {
                let out = ruled_out(refused, current);
                if !out.is_empty() {
                    assert_ne!(
                        response_format(ALL, Some(chosen), schema, out).unwrap(),
                        current,
                        "{refused:?} {current:?}"
                    );
                }
            }
        }
        assert!(
            all.into_iter()
                .all(|refused| ruled_out(refused, ResponseFormat::Prompt).is_empty())
        );
    }

    /// Counts the events of schemas.
    #[derive(Clone, Default)]
    struct Events(std::sync::Arc<std::sync::Mutex<Vec<&'static str>>>);

    impl tracing::Subscriber for Events {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            self.0.lock().unwrap().push(event.metadata().target());
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    #[test]
    fn that_strict_mode_cannot_say_a_type_is_told_once() {
        // With one listener alone, an event that another test is the first to meet
        // would be for nobody for good.
        let _listeners = [(); 2].map(|()| tracing::Dispatch::new(Events::default()));
        let events = Events::default();
        tracing::subscriber::with_default(events.clone(), || {
            let told = OutputSchema::from_value("Any", serde_json::json!({}));
            let fits = OutputSchema::from_value("Text", serde_json::json!({"type": "string"}));
            for _ in 0..3 {
                let chosen = |schema| {
                    response_format(ALL, None, schema, ResponseFormats::default()).unwrap()
                };
                assert_eq!(
                    (chosen(&told), chosen(&fits)),
                    (ResponseFormat::Schema, ResponseFormat::Strict)
                );
            }
        });
        assert_eq!(*events.0.lock().unwrap(), ["llmnode::schema"]);
    }
}
