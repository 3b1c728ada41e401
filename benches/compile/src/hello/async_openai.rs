use async_openai::Client;
use async_openai::types::chat::{
    ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs, ResponseFormat, ResponseFormatJsonSchema,
};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, Debug)]
#[allow(dead_code)]
struct City {
    name: String,
    inhabitants: Option<u64>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = format!("What is the capital of {}?", "Norway");
    let format = ResponseFormatJsonSchema {
        description: None,
        name: "City".to_owned(),
        schema: schema_for!(City).to_value(),
        strict: Some(true),
    };
    let request = CreateChatCompletionRequestArgs::default()
        .model("gpt-5.6-luna")
        .messages(vec![ChatCompletionRequestUserMessage::from(prompt).into()])
        .response_format(ResponseFormat::JsonSchema { json_schema: format })
        .build()?;
    let response = Client::new().chat().create(request).await?;
    let answer = response.choices.into_iter().next().and_then(|choice| choice.message.content);
    let city: City = serde_json::from_str(&answer.unwrap_or_default())?;
    println!("{city:?}");
    Ok(())
}
