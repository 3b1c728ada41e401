use llmnode::prelude::*;

#[llm_output]
#[derive(Debug)]
struct City {
    name: String,
    inhabitants: Option<u64>,
}

#[llm_node(prompt = "What is the capital of {country}?", output = City, retries = 2)]
struct Capital {
    country: String,
}

#[tokio::main]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(OpenAi::from_env()?);
    println!("{:?}", run.call(&Capital { country: "Norway".into() }).await?);
    Ok(())
}
