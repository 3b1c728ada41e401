//! The server, which draws what it does with each request, and reports each when it is done.

use std::io::{self, Write};
use std::time::Duration;

use llmnode::StubServer;
use llmnode::stub_server::{LoggedRequest, StubReply};

use crate::draw;
use crate::event::Event;
use crate::faulty::Act;
use crate::faulty::account::Seen;
use crate::options::Options;

/// Until the standard input ends.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn serve(options: &Options) -> io::Result<()> {
    let Options { seed, faults, .. } = *options;
    let server = StubServer::builder()
        .default_reply(StubReply::for_request(move |request| {
            act_for(request, seed, faults).reply(request)
        }))
        .log_limit(0)
        // So short that connections are sometimes closed at the moment of their next request.
        .idle_timeout(Duration::from_millis(100))
        .on_exchange(move |request| {
            let act = act_for(request, seed, faults);
            send(&Event::Seen(Seen::of(request, act)));
        })
        .start()
        .await?;
    send(&Event::Serving {
        base_url: server.base_url(),
    });
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    server.stop().await;
    Ok(())
}

/// What is done with a request: drawn from its number, so that a second asking gets the same.
fn act_for(request: &LoggedRequest, seed: u64, faults: u64) -> Act {
    let number = request
        .request_id()
        .trim_start_matches("req-")
        .parse()
        .unwrap_or(0);
    draw::act(draw::random(seed, number), faults)
}

/// One line on the standard output.
pub(crate) fn send(event: &Event) {
    let mut out = io::stdout().lock();
    let written = serde_json::to_writer(&mut out, event)
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"));
    written.expect("the process that watches is gone");
}
