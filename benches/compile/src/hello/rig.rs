use rig_core::completion::CompletionRequest;
use rig_core::providers::openai::OpenAI;
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
    let model = OpenAI::from_env()?.completion("gpt-5.6-luna");
    let prompt = format!("What is the capital of {}?", "Norway");
    let response = model.call(CompletionRequest::new(prompt).output_schema(schema_for!(City))).await?;
    let city: City = serde_json::from_str(&response.text())?;
    println!("{city:?}");
    Ok(())
}
