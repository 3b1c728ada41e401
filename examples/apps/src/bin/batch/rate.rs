//! The calls: side by side, in the order of the reviews, for a limited sum.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use llmnode::Cost;
use llmnode::journal::{JournalFile, MapExt};
use llmnode::prelude::*;

use crate::options::Options;
use crate::rows::{Review, Row, writer};

#[llm_output]
pub struct Rating {
    pub mood: Mood,
    #[schemars(range(min = 1, max = 5))]
    pub stars: u8,
}

#[llm_output]
pub enum Mood {
    Pleased,
    Annoyed,
}

#[llm_node(prompt = "Rate this review:\n{text:fence}", output = Rating, retries = 1, max_tokens = 100, deadline = 60s)]
struct Rate<'a> {
    text: &'a str,
}

/// What came of all reviews.
#[derive(Default)]
pub struct Counts {
    pub rated: usize,
    failed: usize,
    stopped: usize,
}

/// Rates all reviews until `stop` is set, and writes a row for each as its turn comes.
pub async fn rate_all(
    run: &Run,
    reviews: &[Review],
    options: &Options,
    stop: &AtomicBool,
    bar: &ProgressBar,
) -> Result<Counts, Box<dyn Error>> {
    let ledger = run.ledger();
    // Where the iterator ends, no further call begins, and those under way end well.
    let nodes = reviews
        .iter()
        .take_while(|_| !stop.load(Ordering::Relaxed))
        .map(|review| Rate { text: &review.text });
    let mut map = run
        .map(nodes)
        .concurrency(8)
        .limits(options.limits)
        .on_progress(|so_far| {
            bar.set_message(format!(
                "{} failed, {}",
                so_far.failed,
                money(&ledger.total().cost)
            ));
            bar.set_position(so_far.done as u64);
        });
    if let Some(file) = &options.resume {
        map = map.resume(JournalFile::open(file)?);
    }
    let mut ratings = map.report().stream();
    let (mut rows, mut counts) = (writer(options.output.as_deref())?, Counts::default());
    for review in reviews {
        let row = match ratings.next().await {
            Some(Ok(report)) => {
                counts.rated += 1;
                Row::rated(review, report)
            }
            // No call can be made, or the journal cannot be used.
            Some(Err(error))
                if matches!(error.category(), Category::ConfigError | Category::Aborted) =>
            {
                return Err(error.into());
            }
            Some(Err(error)) => {
                counts.failed += 1;
                bar.suspend(|| eprintln!("{}: {error}", review.id));
                Row::failed(review, &error)
            }
            None => {
                counts.stopped += 1;
                Row::stopped(review)
            }
        };
        rows.serialize(row)?;
        rows.flush()?;
    }
    Ok(counts)
}

/// What was spent, as far as it is known.
pub fn money(cost: &Cost) -> String {
    match cost.unknown_calls {
        0 => format!("{:.6} spent", cost.known()),
        unknown => format!(
            "{:.6} spent, and {unknown} requests of unknown cost",
            cost.known()
        ),
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rated, {} failed, {} not asked for",
            self.rated, self.failed, self.stopped
        )
    }
}
