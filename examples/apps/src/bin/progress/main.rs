//! Three hundred reviews, sixteen at a time, with a progress bar: how many are done, how many failed, how long it takes.
//!
//! ```text
//! cargo run --manifest-path examples/apps/Cargo.toml --bin progress
//! ```
//!
//! Needs no key: the model is a function that takes its time, and declines to judge some.

#[path = "../../../../common/arguments.rs"]
mod arguments;
mod model;
#[cfg(test)]
mod tests;

use indicatif::{ProgressBar, ProgressStyle};
use llmnode::BatchProgress;
use llmnode::prelude::*;

use model::SlowModel;

const REVIEWS: usize = 300;

#[llm_output]
enum Mood {
    Pleased,
    Annoyed,
}

#[llm_node(prompt = "Is the author of this review pleased?\n\n{review}", output = Mood)]
struct Judge {
    review: String,
}

/// What came of all reviews.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    pleased: usize,
    annoyed: usize,
    failed: usize,
}

/// Judges all reviews, and keeps the bar up to date. No review or result is kept longer than it is needed.
async fn judge_all(run: &Run, bar: &ProgressBar) -> Tally {
    let reviews = (0..REVIEWS).map(|number| Judge {
        review: format!("Review {number}"),
    });
    let mut moods = run
        .map(reviews)
        .concurrency(16)
        .on_progress(|so_far| show(bar, so_far))
        .as_completed();
    let mut tally = Tally::default();
    while let Some((_, mood)) = moods.next().await {
        match mood {
            Ok(Mood::Pleased) => tally.pleased += 1,
            Ok(Mood::Annoyed) => tally.annoyed += 1,
            Err(_) => tally.failed += 1,
        }
    }
    tally
}

fn show(bar: &ProgressBar, so_far: &BatchProgress) {
    if let Some(total) = so_far.total {
        bar.set_length(total as u64);
    }
    bar.set_message(format!("{} failed", so_far.failed));
    bar.set_position(so_far.done as u64);
}

/// Without a terminal it draws nothing.
fn bar() -> Result<ProgressBar, Box<dyn std::error::Error>> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len}, {msg}, {eta} to go")?;
    Ok(ProgressBar::no_length().with_style(style))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    arguments::Arguments::read("");
    let run = Run::new(SlowModel);
    let bar = bar()?;
    let tally = judge_all(&run, &bar).await;
    bar.finish_and_clear();
    println!(
        "{} pleased, {} annoyed, {} failed",
        tally.pleased, tally.annoyed, tally.failed
    );
    println!("{} requests", run.ledger().total().requests);
    Ok(())
}
