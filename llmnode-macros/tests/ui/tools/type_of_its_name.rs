// Cause: the function returns a type that has the name of the tool's struct.
// Mend: rename the function, `fn weather_of`, and write `#[tool(name = "weather")]`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Weather {
    degrees: i32,
}

/// The weather of a city.
#[tool]
fn weather(city: String) -> Result<Weather, String> {
    Err(format!("no weather of {city}"))
}

#[llm_node(prompt = "{question}", tools = [Weather])]
struct Ask {
    question: String,
}

fn main() {}
