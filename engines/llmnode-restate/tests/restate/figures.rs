//! What a durable step costs, beside the engine's own. Prints; asserts no time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use llmnode::{FnModel, Reply, Request, Run};
use llmnode_restate::{Outcome, Worker};
use restate_sdk::prelude::*;
use serde_json::Value;

use crate::support::{Balancer, Restate, http, until};
use crate::work::{Counting, Growing, Site, World, counts, model};

/// Restate alone.
struct Bare;

#[restate_sdk::service]
impl Bare {
    #[handler]
    async fn ready(&self, ctx: Context<'_>, steps: u64) -> Result<u64, HandlerError> {
        for step in 0..steps {
            ctx.run(|| async { Ok("x".repeat(400)) })
                .name(step.to_string())
                .await?;
        }
        Ok(steps)
    }

    #[handler]
    async fn waiting(&self, ctx: Context<'_>, steps: u64) -> Result<u64, HandlerError> {
        for step in 0..steps {
            ctx.run(|| async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok("x".repeat(400))
            })
            .name(step.to_string())
            .await?;
        }
        Ok(steps)
    }
}

async fn bare(restate: &Restate) -> u16 {
    let listener = tokio::net::TcpSocket::new_v4().unwrap();
    listener.set_nodelay(true).unwrap();
    listener.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listener.listen(64).unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(HttpServer::new(Endpoint::builder().bind(Bare).build()).serve(listener));
    restate.register(port).await;
    port
}

async fn ours(restate: &Restate) {
    let make = async |world: World| {
        let model = FnModel::new(|_: &Request| Reply::text("x".repeat(300)));
        Ok(Run::new(model).with_state(world))
    };
    let worker = Worker::new()
        .flow("asks", make, || Counting)
        .flow("plain", make, || Growing);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(worker.serve_until(listener, std::future::pending()));
    restate.register(port).await;
}

fn print(what: &str, steps: u64, rounds: &mut [Duration]) {
    rounds.sort();
    let each = |at: usize| rounds[at].as_secs_f64() * 1000.0 / steps as f64;
    println!(
        "{what}: {:.2} ms a step (median of {}; {:.2} at best)",
        each(rounds.len() / 2),
        rounds.len(),
        each(0)
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "figures: scripts/restate --figures"]
async fn steps() {
    let restate = Restate::start().await;
    bare(&restate).await;
    ours(&restate).await;
    let runs = restate.client();
    let mut rounds: [Vec<Duration>; 4] = Default::default();
    for round in 0..12 {
        for (kind, rounds) in rounds.iter_mut().enumerate() {
            let started = Instant::now();
            let id = format!("r{round}");
            let world = World {
                steps_left: 100,
                ..World::on("300")
            };
            match kind {
                0 | 1 => {
                    let path = ["/Bare/ready", "/Bare/waiting"][kind];
                    restate
                        .ingress("POST", path, Some(100.into()))
                        .await
                        .unwrap();
                }
                _ => {
                    let flow = ["plain", "asks"][kind - 2];
                    runs.start(flow, &id, &world).await.unwrap();
                    let _: Outcome<Value, Value> = runs.result(flow, &id).await.unwrap();
                }
            }
            // The first is warming up.
            rounds.extend((round > 0).then(|| started.elapsed()));
        }
    }
    let names = [
        "bare, ready at once",
        "bare, waits 1 ms",
        "a step without a request",
        "a step with one",
    ];
    for (name, rounds) in names.iter().zip(&mut rounds) {
        print(name, 100, rounds);
    }
    for steps in [250, 500, 1000] {
        let started = Instant::now();
        let id = format!("long{steps}");
        runs.start(
            "asks",
            &id,
            &World {
                steps_left: steps,
                ..World::on("300")
            },
        )
        .await
        .unwrap();
        let outcome = runs.result::<Value, Value>("asks", &id).await;
        println!(
            "{steps} steps with a request: {outcome:?}",
            outcome = outcome.map(|_| "done")
        );
        print("of them", steps, &mut [started.elapsed()]);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "figures: scripts/restate --figures"]
async fn takeover() {
    let (model, asked) = model(0, Duration::from_secs(4)).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("takeover", model.base_url()),
    );
    let balancer = Balancer::start().await;
    let runs = restate.client();
    let (mut times, registered) = (Vec::new(), AtomicBool::new(false));
    for n in 0..11 {
        let (one, worker) = site.worker();
        balancer.list(&[one]);
        if !registered.swap(true, Ordering::Relaxed) {
            restate.register(balancer.port).await;
        }
        until("it listens", async || {
            http(one, "GET", "/", None).await.or(Some((0, Value::Null)))
        })
        .await;
        let topic = format!("o{n}");
        runs.start(
            "counting",
            &topic,
            &World {
                steps_left: 1,
                ..World::on(&topic)
            },
        )
        .await
        .unwrap();
        until("asked", async || {
            (counts(&asked, &topic).0 == 1).then_some(())
        })
        .await;
        let (two, _other) = site.worker();
        tokio::time::sleep(Duration::from_millis(500)).await;
        balancer.list(&[two]);
        worker.kill();
        let killed = Instant::now();
        until("asked again", async || {
            (counts(&asked, &topic).0 == 2).then_some(())
        })
        .await;
        times.push(killed.elapsed());
        let _: Outcome<World> = runs.result("counting", &topic).await.unwrap();
    }
    print(
        "from the death of a worker to the request of another (all)",
        1,
        &mut times,
    );
    println!("{times:?}");
}
