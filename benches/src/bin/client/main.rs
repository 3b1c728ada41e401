//! One client of the benchmarks, in a process of its own: what a call costs it.
//!
//! Usage: `client CLIENT ADDRESS calls IN_FLIGHT CALLS` prints processor time of a call (µs), calls per second and
//! bytes sent by a call; `client CLIENT ADDRESS memory IN_FLIGHT` prints the memory of a call in flight (KB) and
//! the seconds that it took.

mod by_async_openai;
mod by_llmnode;
mod by_reqwest;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use llmnode_benches::measure::{cpu, resident};
use llmnode_benches::task::{Choice, World};

pub const MODEL: &str = "gpt-5.6-luna";
pub const KEY: &str = "sk-benchmark";

/// One way to do the task. A failure panics: there is nothing to measure then.
pub trait Client: Send + Sync + 'static {
    /// Asks which item opens a door, checks the answer, and checks that it is what the server gives.
    fn choose(&self, door: usize) -> impl Future<Output = ()> + Send;
}

/// The check that llmnode's validator makes, by hand.
pub fn check(choice: &Choice, world: &World) -> Result<(), String> {
    if world.inventory.contains(&choice.chosen_item) {
        return Ok(());
    }
    Err(format!(
        "{:?} is not available; allowed: {:?}",
        choice.chosen_item, world.inventory
    ))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [client, address, rest @ ..] = &arguments[..] else {
        panic!("client and address are missing")
    };
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    let url = |path: &str| format!("http://{address}/{path}/v1");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        match *client {
            "async-openai" => {
                measure(
                    by_async_openai::ByAsyncOpenAi::new(&url("good")),
                    address,
                    rest,
                )
                .await
            }
            "reqwest" => measure(by_reqwest::ByReqwest::new(&url("good")), address, rest).await,
            "reqwest-corrected" => {
                measure(
                    by_reqwest::ByReqwest::new(&url("bad-then-good")),
                    address,
                    rest,
                )
                .await
            }
            "llmnode" => measure(by_llmnode::Good::new(&url("good")), address, rest).await,
            "llmnode-corrected" => {
                measure(by_llmnode::Good::new(&url("bad-then-good")), address, rest).await
            }
            "llmnode-4-retries" => {
                measure(by_llmnode::Bad::new(&url("long-bad"), 4), address, rest).await
            }
            "llmnode-8-retries" => {
                measure(by_llmnode::Bad::new(&url("long-bad"), 8), address, rest).await
            }
            other => panic!("there is no client {other:?}"),
        }
    });
}

async fn measure(client: impl Client, address: &str, what: &[&str]) {
    let client = Arc::new(client);
    match what {
        ["calls", in_flight, calls] => {
            let (in_flight, calls) = (in_flight.parse().unwrap(), calls.parse().unwrap());
            many(&client, in_flight, 2 * in_flight + 200).await;
            let (sent, time, start) = (bytes_received_by(address), cpu(), Instant::now());
            many(&client, in_flight, calls).await;
            let (time, wall) = (cpu() - time, start.elapsed());
            let sent = bytes_received_by(address) - sent;
            println!("cpu {:.3}", time.as_secs_f64() * 1e6 / calls as f64);
            println!("rate {:.0}", calls as f64 / wall.as_secs_f64());
            println!("sent {:.1}", sent as f64 / calls as f64);
        }
        ["memory", in_flight] => {
            let in_flight = in_flight.parse().unwrap();
            client.choose(0).await;
            let (before, start) = (resident("VmRSS"), Instant::now());
            many(&client, in_flight, in_flight).await;
            println!(
                "memory {:.3}",
                (resident("VmHWM") - before) / in_flight as f64
            );
            println!("seconds {:.2}", start.elapsed().as_secs_f64());
        }
        other => panic!("nothing is measured by {other:?}"),
    }
}

/// Makes the calls, so many at a time.
async fn many<C: Client>(client: &Arc<C>, in_flight: usize, calls: usize) {
    let next = Arc::new(AtomicUsize::new(0));
    let task = |_| {
        let (client, next) = (Arc::clone(client), Arc::clone(&next));
        tokio::spawn(async move {
            loop {
                let door = next.fetch_add(1, Ordering::Relaxed);
                if door >= calls {
                    break;
                }
                client.choose(door).await;
            }
        })
    };
    for task in (0..in_flight).map(task).collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

fn bytes_received_by(address: &str) -> u64 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().last().unwrap().parse().unwrap()
}
