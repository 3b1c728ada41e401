//! A map against a rate limit with an outage in it, over sockets: what is lost, how long it takes, how often it is refused.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml --bin limited -- 32
//! ```
//!
//! The argument is how many calls are in flight at most; 2,000 rows are asked. The server takes 50 requests a second, each of which
//! takes 100 ms, and refuses all others with a 429 and `retry-after: 1`; from second 5 to second 15 it refuses everything. So nobody
//! can take less than 50 s. With a second argument, `calm`, there is no outage, and the least is 40 s.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};

const ROWS: usize = 2_000;
const SECOND: Duration = Duration::from_secs(1);
/// Requests that the server takes in a second.
const TAKEN: u32 = 50;
/// When it refuses everything, from its first request on.
const OUTAGE: std::ops::Range<u64> = 5..15;

#[llm_output]
struct Label {
    category: String,
}

#[llm_node(system = "You sort letters.", prompt = "{text:fence}", output = Label, retries = 1, deadline = 60s)]
struct Sort {
    text: String,
}

/// What the server counts.
struct Counts {
    first: Instant,
    window: Instant,
    in_window: u32,
    answered: u64,
    refused: u64,
}

impl Counts {
    fn takes(&mut self, has_outage: bool) -> bool {
        if self.window.elapsed() > SECOND {
            self.window = Instant::now();
            self.in_window = 0;
        }
        self.in_window += 1;
        let is_out = has_outage && OUTAGE.contains(&self.first.elapsed().as_secs());
        let takes = self.in_window <= TAKEN && !is_out;
        if takes {
            self.answered += 1;
        } else {
            self.refused += 1;
        }
        takes
    }
}

/// `counts`: from the first request on.
fn reply(counts: &Mutex<Option<Counts>>, has_outage: bool) -> StubReply {
    let mut counts = counts
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let now = Instant::now();
    let none = Counts {
        first: now,
        window: now,
        in_window: 0,
        answered: 0,
        refused: 0,
    };
    if counts.get_or_insert(none).takes(has_outage) {
        return StubReply::text(r#"{"category": "billing"}"#)
            .usage(40, 3)
            .after(Duration::from_millis(100));
    }
    StubReply::failure(Category::RateLimitError).retry_after(SECOND)
}

/// On a thread of its own, so that neither side waits for the other. Returns its base URL.
fn serve(
    counts: Arc<Mutex<Option<Counts>>>,
    has_outage: bool,
) -> Result<String, Box<dyn std::error::Error>> {
    let (to_client, from_server) = std::sync::mpsc::channel();
    std::thread::spawn(move || -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let default = StubReply::for_request(move |_| reply(&counts, has_outage));
            let server = StubServer::builder().default_reply(default).start().await?;
            to_client
                .send(server.base_url())
                .map_err(std::io::Error::other)?;
            std::future::pending().await
        })
    });
    Ok(from_server.recv()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let in_flight = arguments.next().map_or(Ok(32), |number| number.parse())?;
    let has_outage = arguments.next().as_deref() != Some("calm");
    let counts = Arc::new(Mutex::new(None));
    let base_url = serve(Arc::clone(&counts), has_outage)?;
    let run = Run::new(
        OpenAi::builder()
            .base_url(base_url)
            .without_key()
            .model("m")
            .build()?,
    );
    let nodes = (0..ROWS).map(|row| Sort {
        text: format!("Letter {row}: where is my money?"),
    });
    let start = Instant::now();
    let labels = run.map(nodes).concurrency(in_flight).await;
    let seconds = start.elapsed().as_secs_f64();
    let lost = labels.iter().filter(|label| label.is_err()).count();
    let counts = counts
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let refused = counts.as_ref().map_or(0, |counts| counts.refused);
    let answered = counts.as_ref().map_or(0, |counts| counts.answered);
    println!(
        "{in_flight} in flight: {lost} lost, {seconds:.1} s, {refused} refused, {answered} answered"
    );
    Ok(())
}
