use crate::api::Api;

/// A provider or server whose refusals a [`StubServer`](crate::StubServer) imitates.
///
/// ```
/// # mod llmnode { pub use llmnode_stub::StubServer; pub mod stub_server { pub use llmnode_stub::*; } }
/// use llmnode::{StubServer, stub_server::Provider};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// let server = StubServer::builder().as_provider(Provider::Mistral).start().await?;
/// # drop(server);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's own host: chat completions and Responses.
    OpenAi,
    /// Azure OpenAI and Foundry: chat completions and Responses.
    Azure,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini API: `generateContent`.
    Gemini,
    /// Amazon Bedrock: chat completions, Responses and Anthropic's Messages.
    Bedrock,
    /// Mistral's chat completions.
    Mistral,
    /// DeepSeek: chat completions and Responses.
    DeepSeek,
    /// Groq: chat completions and Responses.
    Groq,
    /// xAI: chat completions and Responses.
    Xai,
    /// Moonshot (Kimi): chat completions.
    Moonshot,
    /// Z.AI (GLM): chat completions.
    Zai,
    /// MiniMax: chat completions and Anthropic's Messages.
    MiniMax,
    /// Alibaba's DashScope (Qwen): chat completions and Responses.
    DashScope,
    /// Cerebras: chat completions.
    Cerebras,
    /// Fireworks: chat completions and Responses.
    Fireworks,
    /// OpenRouter: chat completions and Responses.
    OpenRouter,
    /// A LiteLLM proxy, which passes on all four APIs.
    LiteLlm,
    /// LM Studio: chat completions and Responses.
    LmStudio,
    /// Ollama: chat completions and Responses.
    Ollama,
    /// llama.cpp's server: chat completions, Responses and Anthropic's Messages.
    LlamaCpp,
    /// vLLM: chat completions and Responses.
    Vllm,
}

impl Provider {
    /// All of them, for tests that ask each.
    pub const ALL: &[Self] = &[
        Self::OpenAi,
        Self::Azure,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Mistral,
        Self::DeepSeek,
        Self::Groq,
        Self::Xai,
        Self::Moonshot,
        Self::Zai,
        Self::MiniMax,
        Self::DashScope,
        Self::Cerebras,
        Self::Fireworks,
        Self::OpenRouter,
        Self::LiteLlm,
        Self::LmStudio,
        Self::Ollama,
        Self::LlamaCpp,
        Self::Vllm,
    ];

    /// Returns the name that the rules have for it, such as `openai`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Mistral => "mistral",
            Self::DeepSeek => "deepseek",
            Self::Groq => "groq",
            Self::Xai => "xai",
            Self::Moonshot => "moonshot",
            Self::Zai => "zai",
            Self::MiniMax => "minimax",
            Self::DashScope => "dashscope",
            Self::Cerebras => "cerebras",
            Self::Fireworks => "fireworks",
            Self::OpenRouter => "openrouter",
            Self::LiteLlm => "litellm",
            Self::LmStudio => "lmstudio",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llamacpp",
            Self::Vllm => "vllm",
        }
    }

    pub(crate) fn speaks(self, api: Api) -> bool {
        use Api::{Chat, Gemini, Messages, Responses};
        let spoken: &[Api] = match self {
            Self::Anthropic => &[Messages],
            Self::Gemini => &[Gemini],
            Self::Mistral | Self::Moonshot | Self::Zai | Self::Cerebras => &[Chat],
            Self::MiniMax => &[Chat, Messages],
            Self::Bedrock | Self::LlamaCpp => &[Chat, Responses, Messages],
            Self::LiteLlm => &[Chat, Responses, Messages, Gemini],
            _ => &[Chat, Responses],
        };
        spoken.contains(&api)
    }
}
