//! The task by hand over async-openai.

use std::sync::LazyLock;

use async_openai::Client as OpenAi;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage,
    CreateChatCompletionRequestArgs, ResponseFormat, ResponseFormatJsonSchema,
};
use llmnode_benches::task::{Choice, Choose, SYSTEM, World, strict_schema};

use crate::{Client, KEY, MODEL, check};

static SCHEMA: LazyLock<serde_json::Value> =
    LazyLock::new(|| serde_json::from_str(strict_schema().get()).unwrap());

pub struct ByAsyncOpenAi {
    client: OpenAi<OpenAIConfig>,
    world: World,
}

impl ByAsyncOpenAi {
    pub fn new(url: &str) -> ByAsyncOpenAi {
        let config = OpenAIConfig::new().with_api_base(url).with_api_key(KEY);
        ByAsyncOpenAi {
            client: OpenAi::build(reqwest::Client::new(), config),
            world: World::of_bytes(1000),
        }
    }
}

impl Client for ByAsyncOpenAi {
    async fn choose(&self, door: usize) {
        let prompt = Choose::door(door).prompt_by_hand(&self.world);
        let request = CreateChatCompletionRequestArgs::default()
            .model(MODEL)
            .messages(vec![
                ChatCompletionRequestSystemMessage::from(SYSTEM).into(),
                ChatCompletionRequestUserMessage::from(prompt).into(),
            ])
            .response_format(ResponseFormat::JsonSchema {
                json_schema: ResponseFormatJsonSchema {
                    description: None,
                    name: "Choice".to_owned(),
                    schema: SCHEMA.clone(),
                    strict: Some(true),
                },
            })
            .build()
            .unwrap();
        let response = self.client.chat().create(request).await.unwrap();
        let answer = response
            .choices
            .into_iter()
            .next()
            .unwrap()
            .message
            .content
            .unwrap();
        let choice: Choice = serde_json::from_str(&answer).unwrap();
        check(&choice, &self.world).unwrap();
        assert_eq!(choice.chosen_item, "lamp");
    }
}
