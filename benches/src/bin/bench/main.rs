//! Measures everything, and prints one table in Markdown. `benches/run` builds and starts it.

mod processes;
mod table;

use std::collections::BTreeMap;

use llmnode_benches::measure::{median, open_files};
use processes::{Server, measure};

/// Each round measures every client once, in an order of its own.
const ROUNDS: usize = 9;
const MEMORY_ROUNDS: usize = 3;
const BY: [&str; 3] = ["llmnode", "async-openai", "reqwest"];

/// What was measured, by name: one value per round.
#[derive(Default)]
pub struct Figures(BTreeMap<String, Vec<f64>>);

impl Figures {
    fn add(&mut self, prefix: &str, measured: BTreeMap<String, f64>) {
        for (name, value) in measured {
            self.0
                .entry(format!("{prefix}{name}"))
                .or_default()
                .push(value);
        }
    }

    /// The median of all rounds.
    pub fn of(&self, name: &str) -> f64 {
        median(self.rounds(name).clone())
    }

    /// The median of the ratios in each round, which a load that comes and goes spoils less than the figures.
    pub fn ratio(&self, ours: &str, other: &str) -> f64 {
        let pairs = self.rounds(ours).iter().zip(self.rounds(other));
        median(pairs.map(|(ours, other)| ours / other).collect())
    }

    fn rounds(&self, name: &str) -> &Vec<f64> {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("{name} was not measured"))
    }
}

fn main() {
    let mut figures = Figures::default();
    // Where a process happens to lie in memory has its effect on such short times: several processes.
    for round in 0..ROUNDS {
        eprintln!("without a server, round {} of {ROUNDS} ...", round + 1);
        for program in ["allocations", "render", "mocked"] {
            figures.add("", measure(program, &[]));
        }
    }
    over_http(&mut figures);
    let in_flight = memory(&mut figures);
    table::print(&figures, in_flight);
}

/// Processor time of calls over HTTP.
fn over_http(figures: &mut Figures) {
    let server = Server::start(0);
    for round in 0..ROUNDS {
        eprintln!("calls over HTTP, round {} of {ROUNDS} ...", round + 1);
        for (in_flight, calls) in [("1", "8000"), ("64", "20000"), ("1024", "20000")] {
            for client in rotated(
                &[&BY[..], &["llmnode-corrected", "reqwest-corrected"]].concat(),
                round,
            ) {
                let measured = measure(
                    "client",
                    &[client, &server.address, "calls", in_flight, calls],
                );
                figures.add(&format!("{client}@{in_flight}."), measured);
            }
        }
        for client in rotated(&["llmnode-4-retries", "llmnode-8-retries"], round) {
            let measured = measure("client", &[client, &server.address, "calls", "16", "1000"]);
            figures.add(&format!("{client}."), measured);
        }
    }
}

/// Memory of calls in flight, and how many there were: as many as files may be open, up to ten thousand.
fn memory(figures: &mut Figures) -> u64 {
    let in_flight = open_files().saturating_sub(100).min(10_000);
    let server = Server::start(2000);
    for round in 0..MEMORY_ROUNDS {
        eprintln!(
            "memory with {in_flight} calls in flight, round {} of {MEMORY_ROUNDS} ...",
            round + 1
        );
        for client in rotated(&BY, round) {
            let measured = measure(
                "client",
                &[client, &server.address, "memory", &in_flight.to_string()],
            );
            figures.add(&format!("{client}."), measured);
        }
    }
    in_flight
}

fn rotated<'a>(clients: &[&'a str], round: usize) -> Vec<&'a str> {
    let mut clients = clients.to_vec();
    let length = clients.len();
    clients.rotate_left(round % length);
    clients
}
