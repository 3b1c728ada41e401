//! Rates the reviews of a CSV file, for a limited sum, and goes on where it was stopped.
//!
//! ```text
//! cargo run --manifest-path examples/apps/Cargo.toml --bin batch               # no key needed; prints CSV
//! cargo run --manifest-path examples/apps/Cargo.toml --bin batch -- reviews.csv ratings.csv \
//!     --resume ratings.journal --money 0.50 --price 2.0,8.0
//! ```
//!
//! The columns of the input are `id` and `text`. Ctrl-C lets the calls under way end; pressed twice it ends at once. Either
//! way, the same command with `--resume` continues, and asks for no answer again that it has. `--money` is the most to spend,
//! and `--price` is what a million tokens of prompts and of answers cost. Exit code 0: each review is rated. 1: some
//! are not. 2: nothing could be done.
//!
//! The output has a row for each review: its rating or the category of the failure, what it cost, and how many requests it
//! took. An answer from the journal has the figures of the process that asked for it, which count for `--money`, too.

#[path = "../../../../common/mod.rs"]
mod common;
mod options;
mod rate;
mod rows;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use llmnode::{ChatModel, StubServer};

use options::Options;
use rate::rate_all;

#[tokio::main]
async fn main() -> ExitCode {
    match batch().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

async fn batch() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::from_arguments(std::env::args().skip(1))?;
    let reviews = rows::read(&options.input)?;
    let (model, server) = common::model(stub()).await?;
    let price = options
        .price
        .or(server.is_some().then_some(Price::per_million(2.0, 8.0)));
    if price.is_none() && options.limits.money.is_some() {
        return Err("--money needs --price".into());
    }
    let name = model.model().unwrap_or("stub").to_owned();
    let prices = price.map(|price| Prices::new().model(name, price));
    let run = Run::new(model).with_prices(prices.unwrap_or_default());
    let stop = Arc::new(AtomicBool::new(false));
    tokio::spawn(stop_at_ctrl_c(Arc::clone(&stop)));
    let bar = bar(reviews.len())?;
    let counts = rate_all(&run, &reviews, &options, &stop, &bar).await?;
    bar.finish_and_clear();
    let spent = run.ledger().total();
    eprintln!(
        "{counts}; {} requests, {}",
        spent.requests,
        rate::money(&spent.cost)
    );
    Ok(if counts.rated == reviews.len() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn stop_at_ctrl_c(stop: Arc<AtomicBool>) {
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    stop.store(true, Ordering::Relaxed);
    eprintln!("stopping when the calls under way have ended; Ctrl-C once more stops at once");
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(130);
    }
}

/// Without a terminal it draws nothing.
fn bar(reviews: usize) -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len}, {msg}, {eta} to go")?;
    Ok(ProgressBar::new(reviews as u64).with_style(style))
}

/// A server that goes by words, and declines to rate an empty review.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        if !asked.lines().any(|line| line.ends_with('.')) {
            return StubReply::refusal("There is no review to rate.");
        }
        let annoyed = ["closed at", "too many", "charged"]
            .iter()
            .any(|word| asked.to_lowercase().contains(word));
        let answer = if annoyed {
            ("Annoyed", 2)
        } else {
            ("Pleased", 5)
        };
        StubReply::json(serde_json::json!({"mood": answer.0, "stars": answer.1}))
    }))
}
