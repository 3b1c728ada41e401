//! What an API takes of a schema that it does not enforce.

/// An API, and what the schema is for. Schemas that are enforced have dialects of their own:
/// [`strict`](crate::OutputSchema::strict) and those of Anthropic and Gemini.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The output of chat completions and Responses, by `json_schema` without `strict`.
    Output,
    /// The parameters of a function of chat completions and Responses.
    Function,
    /// A tool's `input_schema` on Anthropic's Messages.
    Anthropic,
    /// `parametersJsonSchema` of a function on Gemini.
    Gemini,
    /// The older `parameters` of a function on Gemini: OpenAPI's words, no references.
    OpenApi,
}

/// All words of Gemini's JSON Schema:
/// <https://ai.google.dev/api/generate-content#GenerationConfig>.
const GEMINI: [&str; 15] = [
    "type",
    "format",
    "description",
    "enum",
    "const",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
];
/// What Anthropic takes: `^[a-zA-Z0-9_.-]{1,64}$`.
const LONGEST_KEY: usize = 64;

impl Profile {
    pub(super) const ALL: [Profile; 5] = [
        Profile::Output,
        Profile::Function,
        Profile::Anthropic,
        Profile::Gemini,
        Profile::OpenApi,
    ];

    /// Whether a member may have this name.
    pub(super) fn takes_key(self, key: &str) -> bool {
        self != Profile::Anthropic || is_plain(key)
    }

    /// Whether a schema may have this keyword.
    pub(super) fn takes_keyword(self, keyword: &str) -> bool {
        !matches!(self, Profile::Gemini | Profile::OpenApi) || GEMINI.contains(&keyword)
    }

    /// llama.cpp compiles the schemas of all tools to one grammar, and refuses all
    /// of them for one pattern that it cannot read. A response format that it
    /// refuses has a next one.
    pub(super) fn takes_pattern(self, pattern: &str) -> bool {
        if self == Profile::Output {
            return true;
        }
        let is_anchored = pattern.starts_with('^') && pattern.ends_with('$');
        let has_classes = pattern.contains("(?") || pattern.contains('\\');
        is_anchored && !has_classes
    }
}

/// Whether a name needs no other one on any API.
pub(super) fn is_plain(key: &str) -> bool {
    let is_short = (1..=LONGEST_KEY).contains(&key.len());
    is_short && key.chars().all(is_plain_char)
}

pub(super) fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}
