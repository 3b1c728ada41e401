//! Which category an error of a provider belongs to, as data: the first row that holds wins.
//!
//! The order is the point: what a provider documents as a field comes first, then the status, then a text, and that
//! only under a status that leaves open what happened. A row is for a provider whose documentation or source stands
//! beside it, here or at the row of `errors.jsonl` that shows it. What is unknown goes by its status.

use llmnode_runtime::Category::{
    self, ApiKeyError, BadRequest, BadResponse, ContentFilter, ContextLengthError, NotFound, QuotaError,
    RateLimitError, SchemaError, ServerError, Timeout,
};

/// One row: all that it names must hold.
pub(crate) struct Rule {
    /// The status is one of these; a single digit stands for its class; empty: any.
    pub(crate) status: &'static [u16],
    pub(crate) sign: Sign,
    pub(crate) category: Category,
}

/// What a row looks for in the body.
pub(crate) enum Sign {
    /// Nothing: the status says it.
    None,
    /// A code, type, status or reason in the form of [`word`](super::error_body::word): one of these, separated by
    /// spaces; with a star at both ends, one that contains it.
    Field(&'static str),
    /// A code that has a word of each of these lists, separated by spaces, and none of [`NOT`]; beside a text in lower
    /// case that contains the other.
    Words(&'static [&'static str], &'static str),
    /// The request's field that is at fault.
    Param(&'static str),
    /// A text in lower case that contains one of these.
    Phrase(&'static [&'static str]),
}

const fn rule(status: &'static [u16], sign: Sign, category: Category) -> Rule {
    Rule { status, sign, category }
}

/// A code with a word of each list.
const fn code(words: &'static [&'static str], category: Category) -> Rule {
    rule(&[], Sign::Words(words, ""), category)
}

/// Words of a limit that a wait helps against, of a budget for thoughts, and of a filter that failed.
pub(super) const NOT: &str = "minute rate reasoning second thinking timeout token tokens unavailable";

/// Statuses that leave open what happened: a success that holds an error, a bad request, a failure of the server.
const OPEN: &[u16] = &[2, 400, 413, 422, 5];
/// The same, and those that an account without money gets as well.
const UNPAID: &[u16] = &[2, 400, 403, 429];
/// What a server's own failure comes with: a refusal's own status says more than a word such as `timeout`.
const FAILED: &[u16] = &[2, 429, 5];

pub(crate) const RULES: &[Rule] = &[
    rule(&[413], Sign::None, ContextLengthError),
    rule(&[407], Sign::None, Category::ConfigError),
    // Fields that say it, whatever the status. Those of OpenAI that no page lists are in pydantic-ai's _model_errors.py.
    rule(
        &[],
        Sign::Field(
            "contextlengthexceeded contextwindowexceeded exceedcontextsize requesttoolarge tokenslimitreached",
        ),
        ContextLengthError,
    ),
    // vLLM: vllm/entrypoints/openai, `parameter="input_tokens"`.
    rule(OPEN, Sign::Param("input_tokens"), ContextLengthError),
    rule(
        &[],
        Sign::Field(
            "accountoverdue allocationquotafreetieronly arrearage billing blockedapiaccess exceededcurrentquota \
             insufficientquota organizationusagelimitexceeded servicequotaexceeded",
        ),
        QuotaError,
    ),
    code(&["enough insufficient", "balance budget credit credits funds quota"], QuotaError),
    code(
        &["balance billing budget credit credits spend", "active exceeded exhausted limit reached"],
        QuotaError,
    ),
    code(&["credits", "error"], QuotaError),
    // A limit that the account's owner set. https://docs.byteplus.com/en/docs/ModelArk/1299023
    rule(&[], Sign::Words(&["limit", "exceeded"], "paused"), QuotaError),
    // Google's id of the quota says how long it lasts; the message is the same.
    rule(&[429], Sign::Field("*perday*"), QuotaError),
    rule(&[429], Sign::Field("*perminute* *persecond*"), RateLimitError),
    rule(
        &[],
        Sign::Field(
            "contentfilter datainspectionfailed flaggedinput invalidprompt responsibleaipolicyviolation",
        ),
        ContentFilter,
    ),
    code(
        &["content moderation safety", "blocked filter filtered policy prohibited sensitive violation"],
        ContentFilter,
    ),
    // The provider checked the model's own answer and rejects it.
    rule(&[], Sign::Field("jsonvalidatefailed outputparsefailed toolusefailed"), SchemaError),
    rule(
        &[],
        Sign::Field("deploymentnotfound invalidmodel modeldecommissioned modelnotfound unknownmodel"),
        NotFound,
    ),
    // Numbers: Z.ai's under 4xx, MiniMax' under 200. https://docs.z.ai/api-reference/api-code,
    // https://platform.minimax.io/docs/api-reference/errorcode
    rule(&[429], Sign::Field("1113 1304 1308 1309 1310"), QuotaError),
    rule(&[400], Sign::Field("1261"), ContextLengthError),
    rule(&[400], Sign::Field("1301"), ContentFilter),
    rule(&[400], Sign::Field("1211"), NotFound),
    rule(&[2], Sign::Field("1008"), QuotaError),
    rule(&[2], Sign::Field("1002 1039"), RateLimitError),
    rule(&[2], Sign::Field("1004 2049"), ApiKeyError),
    rule(&[2], Sign::Field("1026 1027"), ContentFilter),
    rule(&[2], Sign::Field("1001"), Timeout),
    // Statuses that say it. 424 is a failure of what stands behind, 498 Groq's word for no capacity.
    rule(&[401], Sign::None, ApiKeyError),
    rule(&[402], Sign::None, QuotaError),
    rule(&[404, 405, 410], Sign::None, NotFound),
    rule(&[408, 524], Sign::None, Timeout),
    rule(&[409, 424, 498], Sign::None, ServerError),
    // Fields that errors of several kinds share.
    rule(
        &[],
        Sign::Field(
            "accessdenied apikeyinvalid auth authentication invalidapikey invalidauthentication nodbconnection \
             organizationrestricted permission permissiondenied unauthenticated",
        ),
        ApiKeyError,
    ),
    rule(&[], Sign::Field("notfound"), NotFound),
    rule(&[429], Sign::Field("resourceexhausted"), RateLimitError),
    // What is asked for is more than the limit: no wait helps, though the code is that of a limit on the rate.
    // https://platform.openai.com/docs/guides/rate-limits
    rule(&[429], Sign::Phrase(&["request too large for"]), ContextLengthError),
    // LiteLLM replaces OpenAI's code and type by its own words for the status.
    rule(&[429], Sign::Phrase(&["exceeded your current quota"]), QuotaError),
    rule(FAILED, Sign::Field("engineoverloaded modelnotready overloaded"), ServerError),
    rule(&[], Sign::Field("ratelimit ratelimitexceeded resourceexhausted throttling"), RateLimitError),
    rule(FAILED, Sign::Field("deadlineexceeded timeout"), Timeout),
    // Texts of those who have no field for it.
    rule(
        OPEN,
        Sign::Phrase(&[
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
        Sign::Phrase(&[
            "credit balance is too low",  // Anthropic
            "specified api usage limits", // Anthropic
            "used all available credits", // xAI
            "api calls / month",          // Cohere
            "free-models-per-day",        // OpenRouter
        ]),
        QuotaError,
    ),
    // xAI
    rule(&[400, 403], Sign::Phrase(&["violates usage guidelines"]), ContentFilter),
    rule(
        OPEN,
        Sign::Phrase(&[
            "content management policy", // Azure behind LiteLLM
            "content filtering policy",  // Anthropic
            "content exists risk",       // DeepSeek
        ]),
        ContentFilter,
    ),
    rule(
        OPEN,
        Sign::Phrase(&[
            "api key not valid",              // Google
            "incorrect api key",              // xAI
            "organization has been disabled", // Anthropic
        ]),
        ApiKeyError,
    ),
    rule(
        OPEN,
        Sign::Phrase(&[
            "invalid model name passed", // LiteLLM
            "is not a valid model id",   // OpenRouter
            "model not exist",           // DeepSeek
            "unexpected endpoint",       // LM Studio
        ]),
        NotFound,
    ),
    // llama.cpp says so as a failure of its own: tools/server/utils.hpp.
    rule(&[500], Sign::Phrase(&["input is not supported - hint"]), BadRequest),
    rule(&[2], Sign::Field("2013"), BadRequest),
    rule(&[403], Sign::None, ApiKeyError),
    rule(&[429], Sign::None, RateLimitError),
];

/// The category of a status that no row names.
pub(crate) fn by_class(status: u16) -> Category {
    match status {
        // An error object that came with a success, or a server's own failure.
        200..=299 | 500.. => ServerError,
        400..=499 => BadRequest,
        _ => BadResponse,
    }
}
