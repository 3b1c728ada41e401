//! Maps errors of providers to categories, as data: the first row that matches wins.
//!
//! The order matters: fields that a provider documents come first, then the status,
//! then texts, and those only under a status that leaves open what happened. Each
//! row is for a provider whose documentation or source is named beside it, or at
//! the row of `errors.jsonl` that shows it. Unknown errors are classified by their
//! status.

use llmnode_model::Category::{
    self, ApiKeyError, BadRequest, BadResponse, ContentFilter, ContextLengthError, NotFound,
    QuotaError, RateLimitError, SchemaError, ServerError, Timeout,
};

/// One row. Its place in the table matters, so a new row goes behind those that are
/// surer.
pub(crate) struct Rule {
    /// A single digit is a class of statuses; empty: any.
    pub(crate) status: &'static [u16],
    pub(crate) pattern: BodyPattern,
    pub(crate) category: Category,
}

/// What has to be in the body, from the surest on.
pub(crate) enum BodyPattern {
    None,
    /// Any of these, separated by spaces, normalised by
    /// [`word`](super::error_body::word); `*word*` matches a part.
    Field(&'static str),
    /// A code with a word of each list and none of [`EXCLUDED_WORDS`]; and a text
    /// with the second string.
    Words(&'static [&'static str], &'static str),
    Param(&'static str),
    Phrase(&'static [&'static str]),
    /// Each a whole word of the text.
    Word(&'static [&'static str]),
}

/// So that a row is a line.
const fn rule(status: &'static [u16], pattern: BodyPattern, category: Category) -> Rule {
    Rule {
        status,
        pattern,
        category,
    }
}

/// A row for names of codes that nobody has listed: by their words.
const fn code(words: &'static [&'static str], category: Category) -> Rule {
    rule(&[], BodyPattern::Words(words, ""), category)
}

/// Of rate limits, reasoning budgets, and failed filters.
pub(super) const EXCLUDED_WORDS: &str =
    "minute rate reasoning second thinking timeout token tokens unavailable";

/// What happened is open: a success that holds an error, a bad request, a failure of the server.
const AMBIGUOUS_STATUSES: &[u16] = &[2, 400, 413, 422, 5];
/// Statuses under which providers say that an account is empty.
const UNPAID: &[u16] = &[2, 400, 403, 429];
/// With a refusal, the status says more than a word such as `timeout`.
const SERVER_FAILURE_STATUSES: &[u16] = &[2, 429, 5];

pub(crate) const RULES: &[Rule] = &[
    rule(&[413], BodyPattern::None, ContextLengthError),
    rule(&[407], BodyPattern::None, Category::ConfigError),
    // Whatever the fields say: many gateways send the code of a missing permission.
    rule(
        &[403],
        BodyPattern::Word(&["arrears", "balance", "credits", "funds", "余额"]),
        QuotaError,
    ),
    // Conclusive fields, whatever the status. OpenAI's undocumented ones are in
    // pydantic-ai's _model_errors.py.
    rule(
        &[],
        BodyPattern::Field(
            "contextlengthexceeded contextwindowexceeded exceedcontextsize requesttoolarge \
             tokenslimitreached",
        ),
        ContextLengthError,
    ),
    // vLLM: vllm/entrypoints/openai, `parameter="input_tokens"`.
    rule(
        AMBIGUOUS_STATUSES,
        BodyPattern::Param("input_tokens"),
        ContextLengthError,
    ),
    rule(
        &[],
        BodyPattern::Field(
            "accountoverdue allocationquotafreetieronly arrearage billing blockedapiaccess \
             exceededcurrentquota insufficientquota organizationusagelimitexceeded \
             servicequotaexceeded",
        ),
        QuotaError,
    ),
    code(
        &[
            "enough insufficient",
            "balance budget credit credits funds quota",
        ],
        QuotaError,
    ),
    code(
        &[
            "balance billing budget credit credits spend",
            "active exceeded exhausted limit reached",
        ],
        QuotaError,
    ),
    code(&["credits", "error"], QuotaError),
    // A limit that the account's owner set. https://docs.byteplus.com/en/docs/ModelArk/1299023
    rule(
        &[],
        BodyPattern::Words(&["limit", "exceeded"], "paused"),
        QuotaError,
    ),
    // Google's id of the quota says how long it lasts; the message does not.
    rule(&[429], BodyPattern::Field("*perday*"), QuotaError),
    rule(
        &[429],
        BodyPattern::Field("*perminute* *persecond*"),
        RateLimitError,
    ),
    rule(
        &[],
        BodyPattern::Field(
            "biopolicy contentfilter datainspectionfailed flaggedinput invalidprompt \
             misalignmentpolicyviolation responsibleaipolicyviolation",
        ),
        ContentFilter,
    ),
    code(
        &[
            "content moderation safety",
            "blocked filter filtered policy prohibited sensitive violation",
        ],
        ContentFilter,
    ),
    // The provider's own check rejected the answer.
    rule(
        &[],
        BodyPattern::Field("jsonvalidatefailed outputparsefailed toolusefailed"),
        SchemaError,
    ),
    rule(
        &[],
        BodyPattern::Field(
            "deploymentnotfound invalidmodel modeldecommissioned modelnotfound unknownmodel",
        ),
        NotFound,
    ),
    // Numbers: Z.ai's under 4xx, MiniMax' under 200. https://docs.z.ai/api-reference/api-code,
    // https://platform.minimax.io/docs/api-reference/errorcode
    rule(
        &[429],
        BodyPattern::Field("1113 1304 1308 1309 1310"),
        QuotaError,
    ),
    rule(&[400], BodyPattern::Field("1261"), ContextLengthError),
    rule(&[400], BodyPattern::Field("1301"), ContentFilter),
    rule(&[400], BodyPattern::Field("1211"), NotFound),
    rule(&[2], BodyPattern::Field("1008"), QuotaError),
    rule(&[2], BodyPattern::Field("1002 1039"), RateLimitError),
    rule(&[2], BodyPattern::Field("1004 2049"), ApiKeyError),
    rule(&[2], BodyPattern::Field("1026 1027"), ContentFilter),
    rule(&[2], BodyPattern::Field("1001"), Timeout),
    // ArcGIS and gateways after it: a token that is expired or missing. Groq: no capacity.
    rule(
        &[498],
        BodyPattern::Word(&["token", "key", "expired", "unauthorized", "authentication"]),
        ApiKeyError,
    ),
    // Conclusive statuses. 424 is a failure of a dependency.
    rule(&[401], BodyPattern::None, ApiKeyError),
    rule(&[402], BodyPattern::None, QuotaError),
    // OpenRouter knows the model, and no provider of it that takes what was sent.
    rule(
        &[404],
        BodyPattern::Phrase(&[
            "no endpoints found that",
            "no endpoints found matching",
            "no endpoints available",
        ]),
        BadRequest,
    ),
    rule(&[404, 405, 410], BodyPattern::None, NotFound),
    // What the server has not: asking again does not help. llama.cpp, LocalAI.
    rule(&[501], BodyPattern::None, BadRequest),
    rule(&[408, 524], BodyPattern::None, Timeout),
    rule(&[409, 424, 498], BodyPattern::None, ServerError),
    // Fields that errors of several kinds share.
    rule(
        &[],
        BodyPattern::Field(
            "accessdenied apikeyinvalid auth authentication invalidapikey invalidauthentication \
             nodbconnection organizationrestricted permission permissiondenied unauthenticated",
        ),
        ApiKeyError,
    ),
    rule(&[], BodyPattern::Field("notfound"), NotFound),
    rule(
        &[429],
        BodyPattern::Field("resourceexhausted"),
        RateLimitError,
    ),
    // Over the limit by itself: waiting does not help, though the code is that of a rate limit.
    // https://platform.openai.com/docs/guides/rate-limits
    // Anthropic: a prompt of a context tier that the account does not have.
    rule(
        &[429],
        BodyPattern::Phrase(&[
            "request too large for",
            "required for long context requests",
        ]),
        ContextLengthError,
    ),
    // LiteLLM replaces OpenAI's code and type with its own words for the status.
    rule(
        &[429],
        BodyPattern::Phrase(&["exceeded your current quota"]),
        QuotaError,
    ),
    rule(
        SERVER_FAILURE_STATUSES,
        BodyPattern::Field("engineoverloaded modelnotready overloaded"),
        ServerError,
    ),
    rule(
        &[],
        BodyPattern::Field("ratelimit ratelimitexceeded resourceexhausted throttling"),
        RateLimitError,
    ),
    rule(
        SERVER_FAILURE_STATUSES,
        BodyPattern::Field("deadlineexceeded timeout"),
        Timeout,
    ),
    // Texts, for providers without a field.
    rule(
        AMBIGUOUS_STATUSES,
        BodyPattern::Phrase(&[
            "maximum context length", // OpenAI, vLLM, SGLang, Mistral, DeepSeek, Llama on Bedrock
            "context length is only", // vLLM
            "maximum model length",   // vLLM
            "max_tokens must be at least 1, got -", // vLLM: what the prompt left
            "longer than the model's context length", // SGLang, Together: tokenizer_manager.py
            "exceeds the maximum allowed length", // SGLang: managers/utils.py
            "exceeds the context window", // OpenAI
            "exceed context window",  // llama-cpp-python: llama.py
            "exceeds the available context size", // llama.cpp: tools/server
            "exceeds the context length", // Ollama: server/routes.go
            "exceeded max context length", // Ollama's cloud
            "greater than the context length", // LM Studio
            "prompt is too long",     // Anthropic, also on Bedrock and Vertex; Fireworks
            "exceed context limit",   // Anthropic
            "exceeds the maximum number of tokens allowed", // Gemini, Vertex
            "unable to submit request because the input token count", // Vertex
            "input is too long",      // Bedrock
            "too many total text bytes", // Bedrock
            "too many input tokens",  // Bedrock: Titan
            "prompt tokens (",        // Bedrock's gateway: github.com/BerriAI/litellm/pull/37862
            "reduce the length of the messages", // Cerebras, Groq
            "input tokens exceed",    // Bedrock: Nova
            "malformed input request: expected maxlength", // Bedrock
            "maximum prompt length",  // xAI
            "exceeded model token limit", // Moonshot
            "range of input length should be", // DashScope
            "context window exceeds limit", // MiniMax
            "tokens in the prompt cannot exceed", // Cohere
            "size limit exceeded by", // Cohere
            "`inputs` tokens + `max_new_tokens`", // TGI, Together: router/src/validation.rs
            "`inputs` must have less than", // TGI
        ]),
        ContextLengthError,
    ),
    rule(
        UNPAID,
        BodyPattern::Phrase(&[
            "credit balance is too low",  // Anthropic
            "specified api usage limits", // Anthropic
            "used all available credits", // xAI
            "api calls / month",          // Cohere
            "free-models-per-day",        // OpenRouter
        ]),
        QuotaError,
    ),
    // xAI
    rule(
        &[400, 403],
        BodyPattern::Phrase(&["violates usage guidelines"]),
        ContentFilter,
    ),
    rule(
        AMBIGUOUS_STATUSES,
        BodyPattern::Phrase(&[
            "content management policy", // Azure behind LiteLLM
            "content filtering policy",  // Anthropic
            "content exists risk",       // DeepSeek
        ]),
        ContentFilter,
    ),
    rule(
        AMBIGUOUS_STATUSES,
        BodyPattern::Phrase(&[
            "api key not valid",              // Google
            "incorrect api key",              // xAI
            "organization has been disabled", // Anthropic
        ]),
        ApiKeyError,
    ),
    rule(
        AMBIGUOUS_STATUSES,
        BodyPattern::Phrase(&[
            "invalid model name passed", // LiteLLM
            "is not a valid model id",   // OpenRouter
            "model not exist",           // DeepSeek
            "unexpected endpoint",       // LM Studio
        ]),
        NotFound,
    ),
    // llama.cpp reports these as its own failures: tools/server/utils.hpp.
    rule(
        &[500],
        BodyPattern::Phrase(&["input is not supported - hint", "requires --jinja"]),
        BadRequest,
    ),
    rule(&[2], BodyPattern::Field("2013"), BadRequest),
    // A response that failed for its request: openai-python's types/responses/response_error.py.
    rule(
        &[2],
        BodyPattern::Field("*image* dataresidencymismatch"),
        BadRequest,
    ),
    rule(&[403], BodyPattern::None, ApiKeyError),
    rule(&[429], BodyPattern::None, RateLimitError),
];

/// What the first digit says, for everything that no row knows.
pub(crate) fn by_class(status: u16) -> Category {
    match status {
        200..=299 | 500.. => ServerError,
        400..=499 => BadRequest,
        _ => BadResponse,
    }
}
