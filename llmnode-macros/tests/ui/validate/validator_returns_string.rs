// Cause: a validator's error is a text instead of an `Invalid`.
// Mend: return `Result<(), Invalid>`, and `Err(Invalid::new(…))`.
// Token: String
// Token: format!
use llmnode::prelude::*;

#[llm_output]
struct Review {
    stars: u8,
    text: String,
}

#[validate]
impl Review {
    fn stars_in_range(&self) -> Result<(), String> {
        if self.stars < 1 || self.stars > 5 {
            return Err(format!("stars must be 1 to 5, not {}", self.stars));
        }
        Ok(())
    }
}

#[llm_node(prompt = "Write a review of {book}.", output = Review, retries = 2)]
struct WriteReview {
    book: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"stars": 4, "text": "Nice."}"#));
    let review = run.call(&WriteReview { book: "Emma".into() }).await?;
    println!("{} {}", review.stars, review.text);
    Ok(())
}
