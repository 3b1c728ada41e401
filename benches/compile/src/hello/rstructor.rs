use rstructor::{Instructor, LLMClient, OpenAIClient};
use serde::{Deserialize, Serialize};

#[derive(Instructor, Serialize, Deserialize, Debug)]
struct City {
    name: String,
    inhabitants: Option<u64>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = OpenAIClient::from_env()?;
    let city: City = client.materialize(&format!("What is the capital of {}?", "Norway")).await?;
    println!("{city:?}");
    Ok(())
}
