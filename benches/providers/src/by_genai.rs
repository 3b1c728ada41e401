use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ReasoningEffort, Tool, ToolCall,
    ToolResponse, Usage,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::json;

use crate::Outcome;

pub async fn run(url: &str, question: &'static str) -> Outcome {
    let base = format!("{url}/v1/");
    let target = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        let model = ModelIden::new(AdapterKind::Anthropic, target.model.model_name);
        let (endpoint, auth) = (
            Endpoint::from_owned(base.clone()),
            AuthData::from_single("sk-test"),
        );
        Ok(ServiceTarget {
            endpoint,
            auth,
            model,
        })
    };
    let client = Client::builder()
        .with_service_target_resolver_fn(target)
        .build()
        .unwrap();
    let stock = Tool::new("stock").with_description("Says how much of an item is in stock.").with_schema(
        json!({"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}),
    );
    let options = ChatOptions::default()
        .with_max_tokens(4096)
        .with_cache_control(CacheControl::Ephemeral)
        .with_reasoning_effort(ReasoningEffort::Budget(1024));
    let mut request = ChatRequest::new(vec![ChatMessage::user(question)])
        .with_system("You keep a shop.")
        .with_tools(vec![stock]);
    let mut tokens = [0; 4];
    for _ in 0..10 {
        let response = match client
            .exec_chat("claude-haiku-4-5", request.clone(), Some(&options))
            .await
        {
            Ok(response) => response,
            Err(error) => {
                return Outcome {
                    answer: Err(error.to_string()),
                    tokens,
                };
            }
        };
        add(&mut tokens, &response.usage);
        let calls: Vec<_> = response.tool_calls().into_iter().cloned().collect();
        if calls.is_empty() {
            let why = format!("{:?}", response.stop_reason);
            let answer = response.into_first_text().ok_or(why);
            return Outcome { answer, tokens };
        }
        request = request.append_message(ChatMessage::assistant(response.content));
        let result = |call: ToolCall| {
            let item = call.fn_arguments["item"].as_str().unwrap_or_default();
            ToolResponse::new(call.call_id.clone(), item.len().to_string())
        };
        request = request.append_message(calls.into_iter().map(result).collect::<Vec<_>>());
    }
    Outcome {
        answer: Err("too many turns".to_owned()),
        tokens,
    }
}

fn add(tokens: &mut [u64; 4], usage: &Usage) {
    let details = usage.prompt_tokens_details.as_ref();
    let cached = details.and_then(|details| details.cached_tokens);
    let written = details.and_then(|details| details.cache_creation_tokens);
    for (sum, one) in tokens.iter_mut().zip([
        usage.prompt_tokens,
        cached,
        written,
        usage.completion_tokens,
    ]) {
        *sum += u64::try_from(one.unwrap_or(0)).unwrap_or(0);
    }
}
