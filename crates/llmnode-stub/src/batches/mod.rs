//! Batches: OpenAI's, of files, Anthropic's and Gemini's, of lists.
//!
//! In: orders. Each line is answered as its request would be, with the script and the refusals of the server, when the batch
//! comes to its end: at the look at it that its [`StubBatch`] says. Out: results in the form of the API, with whatever fault the
//! batch has. Orders that a provider refuses are refused: two lines of one id, a stream, another path than that of the batch.

mod anthropic;
mod gemini;
mod openai;
mod run;
mod state;
mod time;

pub(super) use state::{Batches, Server};
pub use state::{BilledLine, StubBatch, StubBatchFault};

use super::log::LoggedRequest;
use super::reply::StubReply;

/// `None`: the request is not about batches.
pub(super) fn reply(server: &dyn Server, request: &LoggedRequest) -> Option<StubReply> {
    let fault = server.batches().fault(request);
    if let Some((status, false)) = fault {
        return Some(failed(status));
    }
    let reply = openai::reply(server, request)
        .or_else(|| anthropic::reply(server, request))
        .or_else(|| gemini::reply(server, request));
    reply.map(|reply| match fault {
        Some((status, _)) => failed(status),
        None => reply,
    })
}

fn failed(status: u16) -> StubReply {
    let kind = match status {
        400..500 => "invalid_request_error",
        _ => "server_error",
    };
    StubReply::error(status, kind, (), "the server failed")
}
