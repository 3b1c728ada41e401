//! The parts of our request that a server may not want, and what is believed about one of them.
//!
//! A part is something that *we* decided to send, and that the request can be
//! without. What the program wrote is no part: leaving it out would be another
//! request than the one that was asked for.

use super::efforts::Refused;
use super::response_formats::ResponseFormats;

/// A part that can be left out, or be sent in another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Temperature,
    Stream,
    StreamOptions,
    /// Encrypted reasoning, which the model lacks.
    Include,
    Store,
    /// Of what it thinks.
    Summary,
    ParallelCalls,
    /// That the arguments of a function follow its schema.
    StrictFunctions,
    /// Anthropic's marks.
    Cache,
    /// OpenAI's explicit mode and marks, which models before gpt-5.6 lack.
    CacheOptions,
    /// OpenAI's key, by which requests are sent to the machine that has their beginning.
    CacheKey,
    /// The system's text then begins the user's first message.
    System,
    /// What came back beside earlier answers, of this conversation: its server knows it no longer.
    Carried,
    /// The same, of all conversations: the server gives it and takes it from nobody.
    CarriedFields,
    /// Answers without the field of the model's thoughts; one with a blank goes in their place.
    BareAnswers,
    /// Thoughts that were made behind another beginning of the conversation; the
    /// provider is asked to drop them.
    BoundThoughts,
    /// The ids of calls in their own form; a hash of nine letters and digits goes in their place.
    CallIds,
    /// In a turn that began without it.
    Thoughts,
    /// The values that the state allows.
    Choices,
    /// Gemini's name for a function's parameters as a JSON schema.
    JsonSchemaParameters,
    /// Gemini's wish to see the calls of its own tools.
    ServerSideTools,
    /// The provider's own search of tools, with those that it is to find; the
    /// program's search goes in its place.
    ToolSearch,
}

impl Part {
    /// As records name it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Part::Temperature => "temperature",
            Part::Stream => "stream",
            Part::StreamOptions => "stream_options",
            Part::Include => "include",
            Part::Store => "store",
            Part::Summary => "summary",
            Part::ParallelCalls => "parallel_tool_calls",
            Part::StrictFunctions => "strict_functions",
            Part::Cache => "cache",
            Part::CacheOptions => "prompt_cache_options",
            Part::CacheKey => "prompt_cache_key",
            Part::System => "system",
            Part::Carried | Part::CarriedFields => "carried",
            Part::BareAnswers => "reasoning_content",
            Part::BoundThoughts => "bound_thoughts",
            Part::CallIds => "tool_call_id",
            Part::Thoughts => "thinking",
            Part::Choices => "choices",
            Part::JsonSchemaParameters => "parametersJsonSchema",
            Part::ServerSideTools => "includeServerSideToolInvocations",
            Part::ToolSearch => "tool_search",
        }
    }
}

/// A set of parts.
/// Bits, since there is one of it in every request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts(u32);

impl Parts {
    pub(crate) fn contains(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn with(self, part: Part) -> Parts {
        Parts(self.0 | (1 << part as u32))
    }

    pub(crate) fn with_if(self, part: Part, is_in: bool) -> Parts {
        if is_in { self.with(part) } else { self }
    }
}

/// What a model at a server does not take.
/// What is believed, as it was read from a refusal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fact {
    LeaveOut(Part),
    /// The limit on tokens by its older name. Older servers ignore the newer one.
    OlderLimit,
    MostTokens(u32),
    LeastTokens(u32),
    Efforts(Refused),
    /// A number of tokens for thoughts beyond these.
    Budget {
        least: Option<u32>,
        most: Option<u32>,
    },
    /// A choice of one function by its name.
    NamedChoice,
    /// Any choice that forces a call.
    ForcedChoice,
    Formats(ResponseFormats),
    /// Of one type, by its name: other types may be taken.
    Schema(String, ResponseFormats),
    /// An answer in one piece.
    OnlyStreams,
}

/// Maxima below are one call's: a server may have meant what its prompt left.
const LEAST_KEPT_MAXIMUM: u32 = 256;

impl Fact {
    /// Whether other calls are asked so, too.
    pub(crate) fn is_kept(&self) -> bool {
        match self {
            Fact::LeaveOut(Part::Carried | Part::Thoughts | Part::BoundThoughts) => false,
            Fact::MostTokens(most) => *most >= LEAST_KEPT_MAXIMUM,
            _ => true,
        }
    }

    /// What holds for as long as it is used: servers do not take such a change back.
    pub(crate) fn lasts(&self) -> bool {
        matches!(self, Fact::OlderLimit | Fact::LeaveOut(Part::System))
    }
}

/// What a part was refused together with. Without it, it may be taken.
/// A refusal of a temperature beside thoughts says nothing about requests without
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) with_tools: bool,
    pub(crate) thought: WhenThinking,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WhenThinking {
    #[default]
    Always,
    /// Only if the request asks for thoughts.
    Asked,
    /// Also if it asks for nothing: many models then think.
    UnlessOff,
}

/// What a request asks of a model's thoughts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Thought {
    #[default]
    Unsaid,
    Off,
    On,
}

/// The request about which something is believed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Situation<'a> {
    pub(crate) schema: Option<&'a str>,
    pub(crate) tools: bool,
    pub(crate) thought: Thought,
}

impl Condition {
    /// Whether a belief is about this request.
    pub(crate) fn holds(self, situation: Situation<'_>) -> bool {
        let by_tools = !self.with_tools || situation.tools;
        by_tools
            && match self.thought {
                WhenThinking::Always => true,
                WhenThinking::Asked => situation.thought == Thought::On,
                WhenThinking::UnlessOff => situation.thought != Thought::Off,
            }
    }
}
