//! What a model at this base URL refuses or ignores: learned once, then remembered.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use llmnode_model::{CallId, Reasoning, ResponseFormat};

use super::reasoning::{Refused, Thinking};
use super::refused_turns::TurnPart;
use super::response_formats::{ResponseFormats, ruled_out};
use super::unsupported::UnsupportedFeature;

/// Models of one base URL. When full, all are forgotten.
const CAPACITY: usize = 256;
/// Refused schemas of one model. When full, the oldest is forgotten.
const MAX_SCHEMAS: usize = 64;
/// Running calls of one model whose conversations leave something out.
const MAX_CALLS: usize = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Newer models of OpenAI refuse the older name; older servers silently ignore the newer one.
    pub(crate) max_completion_tokens: bool,
    pub(crate) no_temperature: bool,
    pub(crate) reasoning: Refused,
    pub(crate) no_stream: bool,
    /// Refused, or ignored: the answer was text.
    pub(crate) no_forced_tool: bool,
    pub(crate) no_forced_tool_in_thought: bool,
    pub(crate) no_stream_options: bool,
    /// Encrypted reasoning, which this model lacks.
    pub(crate) no_include: bool,
    pub(crate) no_json_schema_parameters: bool,
    pub(crate) nine_letter_ids: bool,
    /// Reasoning in messages of the assistant.
    pub(crate) no_reasoning_in_turns: bool,
    pub(crate) no_server_tools_mark: bool,
    pub(crate) most_tokens: Option<u32>,
    pub(crate) no_choices: bool,
    /// The server has recognised a tool call.
    pub(crate) calls_natively: bool,
    pub(crate) refused: ResponseFormats,
    /// The first call whose answer did not follow the schema. From then on, the prompt has the schema as well.
    pub(crate) unenforced: Option<CallId>,
}

impl Quirks {
    /// Without tools, only the function for the answer could be forced.
    pub(crate) fn in_thought(mut self, tools: bool) -> Self {
        if self.no_forced_tool_in_thought && tools {
            self.no_forced_tool = true;
        } else if self.no_forced_tool_in_thought {
            self.refused =
                self.refused.union(ruled_out(UnsupportedFeature::ToolChoice, ResponseFormat::Tool));
        }
        self
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestShape<'a> {
    pub(crate) quirks: Quirks,
    pub(crate) schema: Option<(ResponseFormat, &'a str)>,
    pub(crate) tools: bool,
    pub(crate) carries: bool,
    /// The provider leaves out thoughts that are bound to another beginning of the conversation.
    pub(crate) drops_bound_thoughts: bool,
    /// The function for the answer stays listed, although the answer is asked for in another way.
    pub(crate) keeps_function: bool,
    /// The turn began without thinking, so that the model may not think now.
    pub(crate) no_thinking: bool,
    pub(crate) call: Option<CallId>,
    pub(crate) thinking: Option<(Reasoning, Thinking)>,
    pub(crate) thinks: bool,
    pub(crate) choices: bool,
}

#[derive(Debug, Default)]
struct ModelQuirks {
    quirks: Quirks,
    /// Formats refused for one schema, by its name; other schemas may be accepted.
    schemas: Vec<(String, ResponseFormats)>,
    /// Calls whose conversations leave something out.
    without: VecDeque<(CallId, UnsupportedFeature)>,
}

#[derive(Debug, Default)]
pub(crate) struct Capabilities(Mutex<HashMap<String, ModelQuirks>>);

impl Capabilities {
    pub(crate) fn of(&self, model: &str, schema: Option<&str>) -> Quirks {
        let known = self.lock();
        let Some(known) = known.get(model) else { return Quirks::default() };
        let own = known.schemas.iter().find(|(name, _)| Some(name.as_str()) == schema);
        let own = own.map_or(ResponseFormats::default(), |(_, refused)| *refused);
        Quirks { refused: known.quirks.refused.union(own), ..known.quirks }
    }

    /// Returns whether there is another way to ask.
    pub(crate) fn learn(&self, model: &str, asked: RequestShape<'_>, refused: UnsupportedFeature) -> bool {
        let response_formats = asked
            .schema
            .map_or(ResponseFormats::default(), |(response_format, _)| ruled_out(refused, response_format));
        let teaches = match refused {
            UnsupportedFeature::MaxTokens => !asked.quirks.max_completion_tokens,
            UnsupportedFeature::Temperature => !asked.quirks.no_temperature,
            UnsupportedFeature::Reasoning(refused) => !asked.quirks.reasoning.contains(refused),
            UnsupportedFeature::Stream => !asked.quirks.no_stream,
            UnsupportedFeature::StreamOptions => !asked.quirks.no_stream_options,
            UnsupportedFeature::Include => !asked.quirks.no_include,
            UnsupportedFeature::Carried => asked.carries && asked.call.is_some(),
            UnsupportedFeature::Thinking => !asked.no_thinking && asked.call.is_some(),
            UnsupportedFeature::JsonSchemaParameters => !asked.quirks.no_json_schema_parameters,
            UnsupportedFeature::Turn(part) => teaches_of_turn(part, asked),
            UnsupportedFeature::ToolChoice if asked.thinks => !asked.quirks.no_forced_tool_in_thought,
            UnsupportedFeature::ToolChoice if asked.tools => !asked.quirks.no_forced_tool,
            UnsupportedFeature::Schema if asked.choices => true,
            _ => !response_formats.is_empty(),
        };
        if !teaches {
            return false;
        }
        let mut all = self.lock();
        let known = entry(&mut all, model);
        match (refused, asked.schema) {
            (UnsupportedFeature::MaxTokens, _) => known.quirks.max_completion_tokens = true,
            (UnsupportedFeature::Temperature, _) => known.quirks.no_temperature = true,
            (UnsupportedFeature::Reasoning(refused), _) => {
                known.quirks.reasoning = known.quirks.reasoning.union(refused);
            }
            (UnsupportedFeature::ToolChoice, _) if asked.thinks => {
                known.quirks.no_forced_tool_in_thought = true
            }
            (UnsupportedFeature::ToolChoice, _) if asked.tools => known.quirks.no_forced_tool = true,
            (UnsupportedFeature::Carried | UnsupportedFeature::Thinking, _) => {
                known.leave_out(asked.call, refused);
            }
            (UnsupportedFeature::Stream, _) => known.quirks.no_stream = true,
            (UnsupportedFeature::StreamOptions, _) => known.quirks.no_stream_options = true,
            // Lists first: they are what is new in a known type's schema.
            (UnsupportedFeature::Schema, _) if asked.choices => known.quirks.no_choices = true,
            (UnsupportedFeature::Include, _) => known.quirks.no_include = true,
            (UnsupportedFeature::Turn(part), _) => known.learn_of_turn(part, refused, asked.call),
            (UnsupportedFeature::JsonSchemaParameters, _) => known.quirks.no_json_schema_parameters = true,
            (UnsupportedFeature::Schema, Some((_, name))) => known.refuse_schema(name, response_formats),
            _ => known.quirks.refused = known.quirks.refused.union(response_formats),
        }
        true
    }

    pub(crate) fn leaves_out(&self, model: &str, call: Option<CallId>, part: UnsupportedFeature) -> bool {
        let Some(call) = call else { return false };
        self.lock().get(model).is_some_and(|known| known.without.contains(&(call, part)))
    }

    pub(crate) fn limit_tokens(&self, model: &str, asked: RequestShape<'_>, most: u32) -> bool {
        let is_news = most > 0 && asked.quirks.most_tokens.is_none_or(|known| known > most);
        if is_news {
            entry(&mut self.lock(), model).quirks.most_tokens = Some(most);
        }
        is_news
    }

    pub(crate) fn unforced(&self, model: &str) {
        entry(&mut self.lock(), model).quirks.no_forced_tool = true;
    }

    pub(crate) fn called(&self, model: &str) {
        entry(&mut self.lock(), model).quirks.calls_natively = true;
    }

    pub(crate) fn unenforced(&self, model: &str, call: CallId) {
        entry(&mut self.lock(), model).quirks.unenforced.get_or_insert(call);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ModelQuirks>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry<'a>(all: &'a mut HashMap<String, ModelQuirks>, model: &str) -> &'a mut ModelQuirks {
    if all.len() >= CAPACITY && !all.contains_key(model) {
        all.clear();
    }
    all.entry(model.to_owned()).or_default()
}

fn teaches_of_turn(part: TurnPart, asked: RequestShape<'_>) -> bool {
    match part {
        TurnPart::CallId => !asked.quirks.nine_letter_ids,
        TurnPart::BoundThoughts => asked.carries && asked.call.is_some() && !asked.drops_bound_thoughts,
        TurnPart::Reasoning => asked.carries,
        TurnPart::ServerToolsMark => !asked.quirks.no_server_tools_mark,
    }
}

impl ModelQuirks {
    fn learn_of_turn(&mut self, part: TurnPart, refused: UnsupportedFeature, call: Option<CallId>) {
        match part {
            TurnPart::CallId => self.quirks.nine_letter_ids = true,
            TurnPart::BoundThoughts => self.leave_out(call, refused),
            TurnPart::Reasoning => self.quirks.no_reasoning_in_turns = true,
            TurnPart::ServerToolsMark => self.quirks.no_server_tools_mark = true,
        }
    }

    fn leave_out(&mut self, call: Option<CallId>, part: UnsupportedFeature) {
        if self.without.len() >= MAX_CALLS {
            self.without.pop_front();
        }
        self.without.extend(call.map(|call| (call, part)));
    }

    fn refuse_schema(&mut self, name: &str, response_formats: ResponseFormats) {
        if let Some((_, refused)) = self.schemas.iter_mut().find(|(own, _)| own == name) {
            *refused = refused.union(response_formats);
            return;
        }
        if self.schemas.len() >= MAX_SCHEMAS {
            self.schemas.remove(0);
        }
        self.schemas.push((name.to_owned(), response_formats));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(response_format: ResponseFormat) -> RequestShape<'static> {
        RequestShape { schema: Some((response_format, "A")), ..RequestShape::default() }
    }

    fn refuses(learned: &Capabilities, model: &str, response_format: ResponseFormat) -> bool {
        learned.of(model, Some("A")).refused.contains(response_format)
    }

    #[test]
    fn each_refusal_leads_on_and_the_last_one_ends_it() {
        let learned = Capabilities::default();
        for (refused, asked, next) in [
            (UnsupportedFeature::Schema, ResponseFormat::Strict, ResponseFormat::Schema),
            (UnsupportedFeature::Schema, ResponseFormat::Schema, ResponseFormat::JsonObject),
            (UnsupportedFeature::FormatType, ResponseFormat::JsonObject, ResponseFormat::Prompt),
        ] {
            assert!(learned.learn("m", by(asked), refused));
            assert!(refuses(&learned, "m", asked) && !refuses(&learned, "m", next));
        }
        assert!(!learned.learn("m", by(ResponseFormat::Prompt), UnsupportedFeature::Format));
        assert!(learned.learn("m", RequestShape::default(), UnsupportedFeature::MaxTokens));
        let asked = RequestShape { quirks: learned.of("m", None), schema: None, ..RequestShape::default() };
        assert!(!learned.learn("m", asked, UnsupportedFeature::MaxTokens));
        assert_eq!(learned.of("other", Some("A")), Quirks::default());
    }

    #[test]
    fn what_was_not_asked_cannot_be_refused() {
        let learned = Capabilities::default();
        for refused in [UnsupportedFeature::JsonSchema, UnsupportedFeature::Schema, UnsupportedFeature::Tools]
        {
            assert!(!learned.learn("m", by(ResponseFormat::JsonObject), refused));
        }
        assert!(
            !learned.learn("m", RequestShape::default(), UnsupportedFeature::Format),
            "no schema was sent"
        );
        assert_eq!(learned.of("m", Some("A")), Quirks::default());
    }

    #[test]
    fn requests_in_flight_together_learn_one_step() {
        let learned = Capabilities::default();
        for _ in 0..64 {
            assert!(learned.learn("m", by(ResponseFormat::Strict), UnsupportedFeature::JsonSchema));
        }
        assert!(!refuses(&learned, "m", ResponseFormat::JsonObject));
    }

    #[test]
    fn a_late_refusal_leads_no_model_back() {
        let learned = Capabilities::default();
        assert!(learned.learn("m", by(ResponseFormat::Strict), UnsupportedFeature::Format));
        assert!(
            learned.learn("m", by(ResponseFormat::Strict), UnsupportedFeature::Schema),
            "another way to ask is known"
        );
        assert!(refuses(&learned, "m", ResponseFormat::JsonObject));
    }

    #[test]
    fn a_schema_that_is_refused_says_nothing_of_others() {
        let learned = Capabilities::default();
        assert!(learned.learn("m", by(ResponseFormat::Strict), UnsupportedFeature::Schema));
        assert!(learned.of("m", Some("A")).refused.contains(ResponseFormat::Strict));
        assert!(!learned.of("m", Some("B")).refused.contains(ResponseFormat::Strict));
        assert!(learned.learn("m", by(ResponseFormat::Schema), UnsupportedFeature::JsonSchema));
        assert!(
            learned.of("m", Some("B")).refused.contains(ResponseFormat::Strict),
            "this one is about the model"
        );
    }

    #[test]
    fn what_is_learned_of_one_part_leaves_the_others_and_other_models() {
        let learned = Capabilities::default();
        assert!(learned.learn("m", by(ResponseFormat::Strict), UnsupportedFeature::JsonSchema));
        assert!(learned.learn("m", by(ResponseFormat::JsonObject), UnsupportedFeature::Temperature));
        learned.learn("n", RequestShape::default(), UnsupportedFeature::MaxTokens);
        let (m, n) = (learned.of("m", None), learned.of("n", None));
        assert_eq!((m.no_temperature, m.max_completion_tokens), (true, false));
        assert!(m.refused.contains(ResponseFormat::Schema) && n.refused.is_empty());
        assert_eq!((n.no_temperature, n.max_completion_tokens), (false, true));
    }

    #[test]
    fn the_memory_is_bounded() {
        let learned = Capabilities::default();
        for model in 0..10 * CAPACITY {
            learned.learn(&model.to_string(), RequestShape::default(), UnsupportedFeature::Temperature);
        }
        assert!(learned.lock().len() <= CAPACITY);
        for name in 0..10 * MAX_SCHEMAS {
            let name = name.to_string();
            let asked = RequestShape {
                schema: Some((ResponseFormat::Strict, name.as_str())),
                ..RequestShape::default()
            };
            assert!(learned.learn("m", asked, UnsupportedFeature::Schema));
        }
        assert!(learned.lock()["m"].schemas.len() <= MAX_SCHEMAS);
    }
}
