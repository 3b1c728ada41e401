//! How a request is asked: what the program wants of it, less what is believed that
//! the model refuses.
//!
//! A request says what is wanted. Beliefs (`refusal`) say what this model has
//! refused so far: a field, a form of the answer, a way of thinking. Here the two
//! meet, and everything after it only writes what the shape says. In this order,
//! because each depends on the one before: what `extra` has taken, how the model
//! thinks, what may be carried, and last the form of the answer.

use llmnode_model::{ApiKind, Reasoning, Request, ResponseFormat};
use llmnode_reader::OutputSchema;
use llmnode_reader::ask::{has_choices, with_remedy, without_choices};

use super::inner::Inner;
use super::request_shape::RequestShape;
use super::wire::Wire;
use crate::refusal::beliefs::Asker;
use crate::refusal::efforts::{Effort, Thinking};
use crate::refusal::parts::{Part, Situation, Thought};
use crate::refusal::quirks::{Choice, Quirks};
use crate::refusal::response_formats;

impl Inner {
    /// How the model thinks is decided before anything else: what it refuses may
    /// depend on that (`Situation::thought`), so beliefs are asked for twice. The
    /// format of the answer comes last, since it depends on all that is left out.
    pub(super) fn shape<'a>(
        &'a self,
        request: &'a Request,
        model: &str,
        asker: Asker,
        without_thoughts: bool,
    ) -> Result<RequestShape<'a>, String> {
        let taken = self.taken_field(request)?;
        let tools = !request.tools.is_empty();
        let output = request
            .output
            .as_deref()
            .filter(|_| !request.extra.contains_key("response_format"));
        let mut situation = Situation {
            schema: output.map(OutputSchema::name),
            tools,
            ..Situation::default()
        };
        let quirks = self.beliefs.quirks(model, asker, situation);
        let no_thinking = quirks.leaves_out(Part::Thoughts);
        let without_thoughts =
            without_thoughts && tools && !self.wire.efforts.is_in(&request.extra);
        let thinking = if without_thoughts {
            let reasoning = request.reasoning.unwrap_or(Reasoning::Off);
            Some((reasoning, Thinking::Effort(Effort::None)))
        } else {
            self.thinking(request, quirks)?.filter(|_| !no_thinking)
        };
        situation.thought = self.thought(request, thinking, no_thinking);
        let quirks = self.beliefs.quirks(model, asker, situation);
        let carries = carries_state(request, quirks);
        let in_tools = request.tools.iter().any(|tool| has_choices(&tool.schema));
        let no_choices = quirks.leaves_out(Part::Choices);
        let mut shape = RequestShape {
            quirks,
            situation,
            schema: None,
            tools,
            carries,
            no_thinking,
            thinking,
            choices: in_tools && !no_choices,
            without_thoughts,
            drops_bound_thoughts: carries && quirks.leaves_out(Part::BoundThoughts),
            keeps_function: false,
        };
        let Some(schema) = output else {
            return Ok(shape);
        };
        let schema = if no_choices {
            without_choices(schema)
        } else {
            schema
        };
        let format = self.format(request, schema, quirks)?;
        if let Some(field) = taken.filter(|_| format == ResponseFormat::Tool) {
            return Err(format!(
                "the response format `tool` makes the request's `{field}`, and `extra` has one, \
                 too; leave it out, or choose another response format"
            ));
        }
        shape.schema = Some((format, schema.name()));
        shape.keeps_function = self.cannot_force_answer(request, quirks);
        let has_schema = !matches!(format, ResponseFormat::JsonObject | ResponseFormat::Prompt);
        shape.choices |= has_schema && has_choices(schema);
        Ok(shape)
    }

    /// The field of functions that `extra` takes for itself.
    fn taken_field(&self, request: &Request) -> Result<Option<&'static str>, String> {
        for field in ["tools", "tool_choice"] {
            if !request.extra.contains_key(field) || self.wire.joined.contains(&field) {
                continue;
            }
            if request.tools.is_empty() {
                return Ok(Some(field));
            }
            return Err(format!(
                "the node has tools, and `extra` has `{field}`, too; leave it out"
            ));
        }
        Ok(None)
    }

    /// Whether the model thinks: what it refuses may depend on that, such as a
    /// temperature. `Unsaid`: nobody has asked it either way.
    fn thought(
        &self,
        request: &Request,
        thinking: Option<(Reasoning, Thinking)>,
        no_thinking: bool,
    ) -> Thought {
        match thinking {
            _ if no_thinking => Thought::Off,
            Some((_, way)) if way.thinks() => Thought::On,
            Some(_) => Thought::Off,
            None if self.wire.efforts.is_in(&request.extra) => Thought::On,
            None => Thought::Unsaid,
        }
    }

    /// The best form that the model has not refused.
    fn format(
        &self,
        request: &Request,
        schema: &OutputSchema,
        quirks: Quirks,
    ) -> Result<ResponseFormat, String> {
        let chosen = self.chosen(request, quirks);
        self.check_chosen(chosen, schema)?;
        response_formats::response_format(self.wire.formats, chosen, schema, quirks.refused)
            .map_err(with_remedy)
    }

    /// The best way to ask for this much thinking. A wish that the API cannot
    /// express is an error and not a guess.
    pub(super) fn thinking(
        &self,
        request: &Request,
        quirks: Quirks,
    ) -> Result<Option<(Reasoning, Thinking)>, String> {
        let Wire { title, efforts, .. } = self.wire;
        let Some(reasoning) = request.reasoning.filter(|_| !efforts.is_in(&request.extra)) else {
            return Ok(None);
        };
        match reasoning {
            Reasoning::Budget(tokens) if !efforts.budgets => Err(format!(
                "reasoning is a budget of {tokens} tokens, and {title} takes a word: set \
                 Reasoning::Off, Low, Medium, High or Max"
            )),
            Reasoning::Budget(tokens) if request.max_tokens.is_some_and(|most| most <= tokens) => {
                Err(format!(
                    "reasoning may take {tokens} tokens, and max_tokens, which counts them too, is \
                     {}; raise it, or lower the budget",
                    request.max_tokens.unwrap_or_default()
                ))
            }
            reasoning => {
                let way = efforts.way(
                    reasoning,
                    limit(request, quirks),
                    quirks.reasoning,
                    quirks.budgets,
                );
                Ok(way.map(|way| (reasoning, way)))
            }
        }
    }

    /// A form that the program chose itself is not replaced by another one that it
    /// did not.
    fn check_chosen(
        &self,
        chosen: Option<ResponseFormat>,
        schema: &OutputSchema,
    ) -> Result<(), String> {
        let Wire { title, formats, .. } = self.wire;
        match chosen {
            Some(chosen) if !formats.order.contains(&chosen) => {
                let others: Vec<&str> = formats.order.iter().map(|one| one.as_str()).collect();
                Err(format!(
                    "{title} has no `{}`; choose one of {}",
                    chosen.as_str(),
                    others.join(", ")
                ))
            }
            Some(ResponseFormat::Strict)
                if schema.strict().is_ok() && !(formats.expresses)(schema) =>
            {
                Err(format!(
                    "{title}'s structured outputs cannot express the type, which is recursive or \
                     has too many unions; choose `tool`"
                ))
            }
            _ => Ok(()),
        }
    }

    /// With tools, the default is a function for the answer: some servers silently
    /// ignore tools beside a response format. If the model cannot be forced to call
    /// it, the last turn uses the response format if the server enforces one, else
    /// the form of the answer at the end. So it is where a format changes what
    /// Anthropic binds thoughts to.
    pub(super) fn chosen(&self, request: &Request, quirks: Quirks) -> Option<ResponseFormat> {
        let beside_tools = match self.cannot_force_answer(request, quirks) {
            _ if request.tools.is_empty() => None,
            true if self.enforces_formats(quirks) => None,
            true => Some(ResponseFormat::Prompt),
            false => Some(ResponseFormat::Tool),
        };
        request
            .response_format
            .or(self.response_format)
            .or(beside_tools)
    }

    /// Anthropic's answers under a format are not listed: there the form changes
    /// what thoughts are bound to.
    fn enforces_formats(&self, quirks: Quirks) -> bool {
        if quirks.unenforced.is_some() || self.wire.name == ApiKind::Anthropic {
            return false;
        }
        let takes_strict = !quirks.refused.contains(ResponseFormat::Strict);
        let takes_schema = !quirks.refused.contains(ResponseFormat::Schema);
        takes_strict || takes_schema
    }

    /// In the last turn of a model that cannot be forced to call the function for
    /// the answer. One that can be made to call some tool, but not which, would
    /// call another one, as it has in the turns before: any other form is surer.
    fn cannot_force_answer(&self, request: &Request, quirks: Quirks) -> bool {
        let is_ours = request.response_format.or(self.response_format).is_none();
        let has_function =
            !request.tools.is_empty() && !quirks.refused.contains(ResponseFormat::Tool);
        let is_free = quirks.choice != Choice::ByName;
        is_ours && has_function && request.answer_now && is_free
    }
}

/// The narrower of what is asked for and what the model allows.
pub(super) fn limit(request: &Request, quirks: Quirks) -> u32 {
    let asked_for = request.max_tokens.unwrap_or(u32::MAX);
    let allowed = quirks.most_tokens.unwrap_or(u32::MAX);
    asked_for.min(allowed)
}

/// Whether state of earlier answers goes back with the request.
fn carries_state(request: &Request, quirks: Quirks) -> bool {
    let has_state = request
        .messages
        .iter()
        .any(|message| message.carried().is_some());
    has_state && !quirks.leaves_out(Part::Carried) && !quirks.leaves_out(Part::CarriedFields)
}
