//! What servers say of a part that they do not take: data, each with the place
//! where it was seen. All in lower case.
//!
//! A phrase says *that* something is refused; [`fields`](super::fields) say what it
//! is about. The phrases of [`CONCLUSIVE`] say both.

use super::fields::Field;
use super::parts::Part;

/// A phrase, and where it was seen.
pub(super) type Phrase = (&'static str, &'static str);

/// Texts are in lower case.
pub(super) fn any_of(text: &str, phrases: &[Phrase]) -> bool {
    phrases.iter().any(|(phrase, _)| text.contains(phrase))
}

/// Codes that say so whatever the text is.
pub(super) const NOT_HERE_CODES: [Phrase; 4] = [
    ("unsupported_parameter", "OpenAI"),
    ("unsupported_value", "OpenAI"),
    ("unknown_parameter", "OpenAI"),
    ("unrecognized_request_argument", "Azure"),
];

/// The part is not taken, or not with this value.
pub(super) const NOT_HERE: &[Phrase] = &[
    ("not supported", "OpenAI, Google and many others"),
    ("isn't supported", "LM Studio"),
    ("aren't supported", "LM Studio"),
    ("unsupported", "OpenAI, Azure, Cerebras"),
    ("not support", "xAI, Groq, Ollama, DashScope: does, do, may"),
    ("doesn't support", "Moonshot"),
    (
        "does not have",
        "Novita: this model does not have a thinking mode",
    ),
    ("don't support", "LiteLLM"),
    ("not available", "Groq"),
    ("unavailable", "DeepSeek"),
    ("not enabled", "Google"),
    ("not implemented", "llama.cpp"),
    ("not accept", "Fireworks"),
    ("not recognized", "Together"),
    ("not valid for", "Bedrock"),
    ("not a valid parameter", "Novita"),
    ("not a recognized", "Baseten"),
    ("not compatible with", "Anthropic"),
    ("incompatible with", "Moonshot"),
    ("cannot be combined", "Groq"),
    (
        "cannot both",
        "Anthropic: `temperature` and `top_p` cannot both be specified",
    ),
    ("cannot be changed", "Moonshot"),
    ("cannot force", "Anthropic, behind gateways"),
    ("do not have access", "Bedrock, of prompt caching"),
    ("cannot be used", "Cerebras, Gemini"),
    ("cannot be set", "Bedrock"),
    ("cannot be specified", "Bedrock"),
    (
        "cannot use",
        "llama.cpp: Cannot use custom grammar constraints with tools",
    ),
    ("can't be used", "SiliconFlow"),
    ("can't be set", "SiliconFlow"),
    ("can not be used", "SiliconFlow"),
    ("should not be set", "MiniMax"),
    ("must not be set", "vLLM"),
    ("must be omitted", "Fireworks"),
    ("is fixed at", "Moonshot, of the temperature"),
    ("is restricted to", "DashScope"),
    ("currently disabled", "Groq"),
    (
        "no endpoints",
        "OpenRouter: No endpoints found that support ...",
    ),
    ("unknown parameter", "OpenAI"),
    ("unknown field", "Mistral, Go's decoder"),
    ("unknown name", "Google"),
    ("unknown argument", "Cohere"),
    ("unknown variant", "serde"),
    ("unexpected field", "Cloudflare"),
    ("unexpected keyword", "vLLM, SGLang"),
    ("unrecognized", "Azure"),
    ("unrecognised", "Perplexity"),
    ("not permitted", "pydantic: Extra inputs are not permitted"),
    (
        "not allowed",
        "jsonschema: Additional properties are not allowed",
    ),
    (
        "is deprecated",
        "Anthropic: `temperature` is deprecated for this model",
    ),
    ("non-default values", "Anthropic"),
    ("may only be set to", "Anthropic"),
    ("can only be set to", "Moonshot"),
    ("cannot find field", "Google"),
    ("property unsupported", "Cerebras"),
    ("invalid tool_choice", "LM Studio, Groq"),
];

/// The same, behind the word `only`.
pub(super) const ONLY: &[Phrase] = &[
    ("allowed", "Moonshot: only 1 is allowed for this model"),
    (
        "support",
        "LiteLLM: only temperature=1 is supported; xAI: only supports tool_choice auto",
    ),
    (
        "enabled",
        "Google: include_thoughts is only enabled when thinking is enabled",
    ),
    ("available", "Bedrock: is only available for ..."),
    ("is accepted", "Novita"),
    ("accepts", "Novita"),
    ("takes", "Baseten"),
];

/// Of a temperature: no other is taken.
pub(super) const ONE_TEMPERATURE: &[Phrase] = &[
    ("must be 1 ", "Fireworks"),
    ("must be 1.0", "Google"),
    ("must be set to", "Anthropic, behind Bedrock"),
    ("must be exactly", "Moonshot"),
    ("should be 1", "SiliconFlow"),
    ("must use the default", "Azure"),
    ("only the default", "OpenAI"),
];

/// The same, of how a model is asked to think.
pub(super) const NO_SUCH_EFFORT: &[Phrase] = &[
    ("is invalid", "Google: Budget 0 is invalid"),
    ("does not match any of the expected", "pydantic, of tags"),
    ("invalid think value", "Ollama"),
    ("invalid reasoning", "Ollama"),
    ("input should be", "pydantic, of tags"),
];

/// Thoughts cannot be switched off.
pub(super) const OFF_REFUSED: &[Phrase] = &[
    ("cannot be disabled", "OpenRouter, Z.AI"),
    ("disabling ", "OpenRouter"),
    ("restricted to true", "DashScope, of enable_thinking"),
    ("can't be disabled", "OpenRouter"),
    ("cannot be turned off", "Moonshot"),
    ("cannot disable", "Bedrock"),
    ("is mandatory", "OpenRouter"),
    ("is required for this model", "MiniMax"),
    ("must be enabled", "Fireworks"),
    ("must be `enabled`", "Anthropic's form, behind gateways"),
    ("must be 'enabled'", "Z.AI"),
    ("always reasons", "xAI"),
    ("always engages in thinking", "Z.AI"),
    ("only works in thinking mode", "Google"),
    ("requires thinking", "Google"),
    ("requires reasoning", "OpenRouter"),
];

/// What stands before a list of values.
pub(super) const LISTS: &[&str] = &[
    "supported values are",    // OpenAI
    "supported values:",       // Azure
    "supported string values", // LM Studio
    "supported levels",        // Anthropic
    "supported efforts",       // OpenRouter
    "supported reasoning",     // xAI
    "supported types are",     // OpenAI
    "supported: ",             // Fireworks
    "allowed values",          // Fireworks
    "allowed: ",               // Cloudflare
    "accepted values",         // Bedrock
    "valid values",            // Baseten
    "valid options",           // Together
    "possible values",         // Cerebras
    "available options",       // SiliconFlow
    "must be one of",          // Groq
    "should be one of",        // DashScope
    "to be one of",            // llama.cpp
    "expected one of",         // serde
    "one of",                  // many
    "input should be",         // pydantic
    "choose from",             // SiliconFlow
    "please use",              // Z.AI
    "use one of",              // Moonshot
    "only supports",           // Mistral
    "supports only",           // Mistral
    "only support",            // DashScope
    "only accepts",            // Novita
    "must be either",          // Together
    "must be ",                // LM Studio, Ollama
    "only ",                   // Moonshot: only low and high are allowed
];

/// The same, as one word of a sentence that does not deny it: `this model supports:
/// low, high`, `allowed reasoning efforts: low`.
pub(super) const OFFERING_WORDS: &[&str] = &[
    "accepted",  // Bedrock
    "accepts",   // Novita
    "allowed",   // Fireworks
    "available", // SiliconFlow
    "expected",  // Zod, serde
    "permitted", // Baseten
    "possible",  // Cerebras
    "supported", // Together
    "supports",  // xAI
    "valid",     // Groq
];

/// Of efforts alone: what the text advises.
pub(super) const ADVICE: &[&str] = &[
    "use effort", // Anthropic: Use effort 'high' or below
    "try ",       // OpenAI
    "use ",       // xAI
];

/// What stands before the largest number that is taken. The second: what to add to the number.
pub(super) const AT_MOST: &[(&str, i64)] = &[
    ("at most", 0),                    // OpenAI
    ("less than or equal to", 0),      // Groq, pydantic
    ("lower than or equal to", 0),     // Cohere
    ("<=", 0),                         // Together
    ("no more than", 0),               // Cloudflare
    ("not exceed", 0),                 // DashScope
    ("cannot exceed", 0),              // Fireworks
    ("can't exceed", 0),               // Fireworks
    ("exceeds the maximum", 0),        // Bedrock
    ("exceeds the limit of", 0),       // Bedrock
    ("exceeds the model limit of", 0), // Bedrock
    ("maximum of", 0),                 // Moonshot
    ("maximum value is", 0),           // SiliconFlow
    ("maximum is", 0),                 // xAI
    ("maximum allowed is", 0),         // Z.AI
    ("maximum allowed", 0),            // Cloudflare
    ("maximum allowed value", 0),      // Z.AI
    ("larger than", 0),                // must not be larger than
    ("limit is", 0),                   // Novita
    ("limited to", 0),                 // Novita
    ("for this model is", 0),          // Bedrock: maximum output tokens for this model is
    ("up to", 0),                      // Baseten
    ("less than", -1),                 // vLLM
    ("≤", 0),                          // SambaNova
];

/// What stands before the smallest number that is taken.
pub(super) const AT_LEAST: &[(&str, i64)] = &[
    ("at least", 0),                 // Anthropic
    ("greater than or equal to", 0), // pydantic
    (">=", 0),                       // OpenAI
    ("minimum of", 0),               // Bedrock
    ("minimum is", 0),               // Azure
    ("minimum value is", 0),         // SiliconFlow
    ("no less than", 0),             // DashScope
    ("greater than", 1),             // vLLM
    ("≥", 0),                        // SambaNova
];

/// Conclusive without a field. Some servers send these with the status of a failure of their own.
pub(super) const CONCLUSIVE: &[(&str, Field, &str)] = &[
    // A search of tools, on a model that has none.
    (
        "tool_search",
        Field::Part(Part::ToolSearch),
        "Moonshot: tool type \"tool_search\" is not supported",
    ),
    (
        "defer_loading",
        Field::Part(Part::ToolSearch),
        "OpenAI: deferred tools require tools.tool_search",
    ),
    // A tool that an earlier turn has found is gone.
    (
        "tool reference '",
        Field::Part(Part::Carried),
        "Anthropic: Tool reference 'x' not found in available tools",
    ),
    // A schema: too large, too deep, with a word that is not known.
    (
        "invalid schema for response_format",
        Field::Schema,
        "OpenAI",
    ),
    ("invalid schema for function", Field::NamedSchema, "OpenAI"),
    ("json_schema.strict", Field::Schema, "OpenAI, an older API"),
    (
        "enabled only for api versions",
        Field::JsonSchema,
        "Azure, an older API",
    ),
    ("json schema conversion failed", Field::Schema, "llama.cpp"),
    ("failed to parse grammar", Field::Schema, "llama.cpp"),
    (
        "grammar stack",
        Field::Schema,
        "llama.cpp: unexpected empty grammar stack",
    ),
    ("failed to initialize samplers", Field::Schema, "llama.cpp"),
    ("features not supported by xgrammar", Field::Schema, "vLLM"),
    ("grammar error", Field::Schema, "vLLM"),
    ("invalid grammar", Field::Schema, "vLLM, SGLang"),
    ("failed to compile grammar", Field::Schema, "SGLang"),
    (
        "grammar is too large",
        Field::Schema,
        "Anthropic: the compiled grammar is too large",
    ),
    ("too complex for compilation", Field::Schema, "Anthropic"),
    ("grammar compilation", Field::Schema, "Anthropic: timed out"),
    (
        "compilation of the grammar",
        Field::Schema,
        "Anthropic: timed out",
    ),
    (
        "compiling the grammar",
        Field::Schema,
        "Anthropic, behind gateways",
    ),
    (
        "compile the grammar",
        Field::Schema,
        "Anthropic, behind gateways",
    ),
    (
        "schema could not be compiled",
        Field::Schema,
        "Anthropic, behind gateways",
    ),
    ("circular reference", Field::Schema, "Anthropic"),
    ("nested levels", Field::Schema, "Anthropic, behind gateways"),
    (
        "constraint is too",
        Field::Schema,
        "Google: tall, for serving",
    ),
    (
        "schema is too complex",
        Field::Schema,
        "Anthropic, Fireworks",
    ),
    ("schema too complex", Field::Schema, "Google"),
    ("schema is too large", Field::Schema, "Fireworks"),
    ("too many optional parameters", Field::Schema, "Anthropic"),
    ("parameters with union types", Field::Schema, "Anthropic"),
    ("too many states for serving", Field::Schema, "Google"),
    ("maximum allowed nesting depth", Field::Schema, "Google"),
    ("nesting depth", Field::Schema, "OpenAI, Google"),
    ("levels of nesting", Field::Schema, "OpenAI"),
    ("generation_config.response_schema", Field::Schema, "Google"),
    (
        "generation_config.response_json_schema",
        Field::Schema,
        "Google",
    ),
    ("unsupported json schema", Field::Schema, "Cerebras"),
    ("invalid json schema", Field::Schema, "Ollama, Groq"),
    ("failed to convert json schema", Field::Schema, "LM Studio"),
    // Formats.
    (
        "support output format",
        Field::Format,
        "Anthropic: 'm' does not support output format",
    ),
    // Functions.
    ("requires --jinja", Field::Tools, "llama.cpp"),
    ("--enable-auto-tool-choice", Field::Tools, "vLLM"),
    ("does not support tools", Field::Tools, "Ollama"),
    (
        "no endpoints found that support tool use",
        Field::Tools,
        "OpenRouter",
    ),
    (
        "no endpoints found that support the provided 'tool_choice'",
        Field::ToolChoice,
        "OpenRouter",
    ),
    (
        "handle the requested parameters",
        Field::Format,
        "OpenRouter, of endpoints that have to take all",
    ),
    (
        "tool_choice forces tool use",
        Field::ToolChoice,
        "Anthropic",
    ),
    ("forced function calling", Field::ToolChoice, "Google"),
    (
        "parametersjsonschema",
        Field::Part(Part::JsonSchemaParameters),
        "Google",
    ),
    (
        "parameters_json_schema",
        Field::Part(Part::JsonSchemaParameters),
        "Google",
    ),
    // Thoughts that are sent back.
    (
        "invalid `signature`",
        Field::Part(Part::Carried),
        "Anthropic",
    ),
    ("invalid signature", Field::Part(Part::Carried), "Anthropic"),
    (
        "cannot be modified",
        Field::Part(Part::Carried),
        "Anthropic",
    ),
    (
        "thought signature is not valid",
        Field::Part(Part::Carried),
        "Google",
    ),
    (
        "corrupted thought signature",
        Field::Part(Part::Carried),
        "Google",
    ),
    (
        "encrypted content is not supported",
        Field::Part(Part::Include),
        "OpenAI",
    ),
    (
        "reasoning.encrypted_content",
        Field::Part(Part::Include),
        "OpenAI",
    ),
    ("encrypted content", Field::Part(Part::Carried), "OpenAI"),
    (
        "items are not persisted",
        Field::Part(Part::Carried),
        "OpenAI",
    ),
    (
        "item['content'] is not an array",
        Field::Part(Part::Carried),
        "LM Studio",
    ),
    (
        "expected `thinking` or `redacted_thinking`",
        Field::Part(Part::Thoughts),
        "Anthropic",
    ),
    // The system's text.
    (
        "system role not supported",
        Field::Part(Part::System),
        "chat templates",
    ),
    (
        "system role is not supported",
        Field::Part(Part::System),
        "templates",
    ),
    (
        "system messages are not supported",
        Field::Part(Part::System),
        "templates",
    ),
    (
        "roles must alternate",
        Field::Part(Part::System),
        "templates of Llama 2 and Mistral",
    ),
    (
        "only user and assistant roles",
        Field::Part(Part::System),
        "templates of Mistral",
    ),
    (
        "only user, assistant",
        Field::Part(Part::System),
        "templates of Mistral",
    ),
    (
        "developer instruction is not enabled",
        Field::Part(Part::System),
        "Google, of its open models",
    ),
    (
        "system instruction is not enabled",
        Field::Part(Part::System),
        "Google",
    ),
    (
        "system instruction is not supported",
        Field::Part(Part::System),
        "Google",
    ),
    (
        "unexpected role \"system\"",
        Field::Part(Part::System),
        "Anthropic, of what is not first",
    ),
    // Only streams.
    ("only support stream mode", Field::OnlyStreams, "DashScope"),
    (
        "only supports stream",
        Field::OnlyStreams,
        "DashScope, Zhipu",
    ),
    (
        "for non-streaming calls",
        Field::OnlyStreams,
        "DashScope: enable_thinking",
    ),
    ("stream must be true", Field::OnlyStreams, "Fireworks"),
    (
        "stream must be set to true",
        Field::OnlyStreams,
        "OpenAI, the Codex backend",
    ),
    ("set stream to true", Field::OnlyStreams, "DashScope"),
    ("streaming is required", Field::OnlyStreams, "Anthropic"),
    (
        "stream=true",
        Field::OnlyStreams,
        "Fireworks: requests with max_tokens > 4096 must have stream=true",
    ),
    (
        "non-streaming is not supported",
        Field::OnlyStreams,
        "DashScope",
    ),
];

/// Of a function that is chosen by its name, where `required` is taken.
pub(super) const NAMED_CHOICE: &[Phrase] = &[
    ("'object'", "LM Studio"),
    ("named tool", "vLLM, SGLang"),
    ("specific function", "Cohere"),
    ("specific tool", "Mistral"),
    ("by name", "SiliconFlow"),
    ("must be a string", "Go's decoders"),
    ("should be a valid string", "pydantic"),
    ("expected a string", "serde"),
    ("expected string", "zod"),
];
