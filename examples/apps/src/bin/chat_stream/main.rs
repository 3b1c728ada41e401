//! A typed answer that grows as a live form in the terminal, with its tokens, cost and attempts.
//!
//! ```text
//! cargo run --manifest-path examples/apps/Cargo.toml --bin chat_stream -- "A cold soup"      # no key needed
//! ```
//!
//! Without a key, a stub server plays the model, and its first answer is bad: the form begins anew. `q` cancels.

#[path = "../../../../common/mod.rs"]
mod common;
mod form;
#[cfg(test)]
mod tests;

use std::time::Duration;

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use llmnode::{ChatModel, StubServer};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event as Input, KeyCode};

use form::Form;

/// A recipe.
#[llm_output]
struct Recipe {
    name: String,
    #[schemars(range(max = 240))]
    minutes: u32,
    ingredients: Vec<String>,
    /// One sentence each.
    steps: Vec<String>,
}

#[validate]
impl Recipe {
    fn has_steps(&self) -> Result<(), Invalid> {
        if self.steps.len() >= 2 {
            Ok(())
        } else {
            Err(Invalid::at("steps", "a recipe has at least two"))
        }
    }
}

#[llm_node(prompt = "A recipe for: {wish}", output = Recipe, retries = 2, deadline = 120s)]
struct Cook {
    wish: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[WISH]");
    let wish = arguments
        .value(0)
        .unwrap_or("A cold soup for a hot day")
        .to_owned();
    let (model, _server) = common::model(stub()).await?;
    let name = ChatModel::model(&model).unwrap_or("stub").to_owned();
    let run = Run::new(model).with_prices(Prices::new().model(name, Price::per_million(0.4, 1.6)));
    let mut terminal = ratatui::init();
    let outcome = show(&run, &Cook { wish }, &mut terminal).await;
    ratatui::restore();
    match outcome? {
        Some(recipe) => println!(
            "{}: {} steps, {} minutes",
            recipe.name,
            recipe.steps.len(),
            recipe.minutes
        ),
        None => println!("cancelled; {} requests", run.ledger().total().requests),
    }
    Ok(())
}

/// Draws the answer until it is there, or somebody presses `q`.
async fn show(
    run: &Run,
    node: &Cook,
    terminal: &mut DefaultTerminal,
) -> Result<Option<Recipe>, Box<dyn std::error::Error>> {
    let mut form = Form::new(&node.wish);
    let mut answer = run.call(node).stream();
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    loop {
        terminal.draw(|frame| form.draw(frame))?;
        tokio::select! {
            event = answer.next() => match event {
                Some(Event::Text(text)) => form.grow(&text, answer.partial()),
                Some(Event::Restarted { category, .. }) => form.restart(category),
                Some(_) => {}
                None => break,
            },
            _ = ticks.tick() => if is_quit()? { return Ok(None) },
        }
    }
    let report = answer.report().await?;
    form.end(&report.record);
    terminal.draw(|frame| form.draw(frame))?;
    tokio::time::sleep(Duration::from_millis(800)).await;
    Ok(Some(report.value))
}

fn is_quit() -> std::io::Result<bool> {
    while event::poll(Duration::ZERO)? {
        if let Input::Key(key) = event::read()?
            && matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A model that writes slowly, and at first too little.
fn stub() -> StubServerBuilder {
    let ingredients = ["2 cucumbers", "500 g yoghurt", "dill", "ice"];
    let steps = [
        "Grate the cucumbers.",
        "Stir in the yoghurt and the dill.",
        "Serve it on ice.",
    ];
    let recipe = |steps: &[&str]| serde_json::json!({"name": "Tarator", "minutes": 15, "ingredients": ingredients, "steps": steps});
    let slowly = |recipe: serde_json::Value| {
        let text: Vec<char> = recipe.to_string().chars().collect();
        let pieces: Vec<String> = text.chunks(4).map(|piece| piece.iter().collect()).collect();
        StubReply::pieces(pieces).pause(Duration::from_millis(40))
    };
    StubServer::builder().script([slowly(recipe(&steps[..1])), slowly(recipe(&steps))])
}
