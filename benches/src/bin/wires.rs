//! What a call and a streamed event cost on each wire, beside chat completions: one answer, in the form of each provider.
//!
//! Usage: `wires [ROUNDS]`. Each round makes the same calls on each wire, in turn, and takes the processor time of the thread that
//! makes them; the server has a thread of its own. A ratio is the median over the rounds, so that other load hardly counts.

use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{BoxError, Event};
use llmnode_benches::measure::{median, thread_cpu};
use llmnode_benches::wires::{Choose, Tell, serve, wires};

const CALLS: usize = 40;
const PIECES: usize = 2000;

/// Microseconds of a call, and of an event.
async fn round(run: &Run) -> Result<[f64; 2], BoxError> {
    let began = thread_cpu();
    for _ in 0..CALLS {
        assert_eq!(run.call(&Choose { goal: "climb down" }).await?.count, 2);
    }
    let called = thread_cpu();
    let mut answer = run.call(&Tell { what: "a story" }).stream();
    let mut length = 0;
    while let Some(event) = answer.next().await {
        if let Event::Text(piece) = event {
            length += piece.len();
        }
    }
    assert_eq!(
        (length, answer.finish().await?.len()),
        (4 * PIECES, 4 * PIECES)
    );
    let each = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count as f64;
    Ok([
        each(called - began, CALLS),
        each(thread_cpu() - called, PIECES),
    ])
}

fn main() -> Result<(), BoxError> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "a provider is there")?;
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(200), |rounds| rounds.parse::<usize>())?;
    let url = serve(PIECES);
    let runs = wires(&url)?;
    let mut figures: [Vec<[f64; 2]>; 4] = Default::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        for at in 0..rounds + 3 {
            for way in (0..runs.len()).map(|way| (way + at) % runs.len()) {
                let figure = round(&runs[way].1).await?;
                // The first rounds warm up.
                if at >= 3 {
                    figures[way].push(figure);
                }
            }
        }
        Ok::<(), BoxError>(())
    })?;
    println!("| wire | a call | to chat | a streamed event | to chat |\n|---|---|---|---|---|");
    for ((name, _), own) in runs.iter().zip(&figures) {
        let column = |at: usize| {
            let time = median(own.iter().map(|figure| figure[at]).collect());
            let ratio = median(
                own.iter()
                    .zip(&figures[0])
                    .map(|(own, chat)| own[at] / chat[at])
                    .collect(),
            );
            (time, ratio)
        };
        let ((call, call_ratio), (event, event_ratio)) = (column(0), column(1));
        println!("| {name} | {call:.1} µs | {call_ratio:.2} | {event:.2} µs | {event_ratio:.2} |");
    }
    Ok(())
}
