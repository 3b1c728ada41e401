//! One connection: reads requests, and writes their replies with delays and faults.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::completion::Filler;
use super::log::LoggedRequest;
use super::reader::{ReadError, Reader};
use super::reply::{Content, Cut, Fault, StubReply, bad_request};
use super::request::{BadRequest, Head};
use super::response::{Body, Response};
use super::routes::Shared;

/// A refused client is still read for a while, since it would otherwise see a reset instead of the refusal.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: u64 = 256 * 1024 * 1024;
/// Smaller bodies are sent in one write with their head.
const MAX_SINGLE_WRITE: usize = 64 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionAction {
    KeepAlive,
    Close,
}

pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Otherwise small answers would wait for the client's acknowledgements. A failure only makes them slower.
    let _ = stream.set_nodelay(true);
    let mut reader = Reader::new(stream);
    let mut out = Vec::new();
    loop {
        let head = match timeout(shared.idle_timeout, reader.head()).await {
            Err(_) => return,
            Ok(Ok(head)) => head,
            Ok(Err(error)) => {
                return refuse(&mut reader.stream, &shared, Head::default(), error).await;
            }
        };
        let body = match reader.body(&head, shared.max_body).await {
            Ok(body) => body,
            Err(error) => return refuse(&mut reader.stream, &shared, head, error).await,
        };
        let keep_alive = head.keep_alive;
        let is_head = head.method == "HEAD";
        let number = shared.log.next_number();
        let parse = !shared.is_fixed();
        let request = LoggedRequest::new(number, head, body, parse);
        let log_index = shared.log.keep(&request);
        let mut exchange = Exchange {
            stream: &mut reader.stream,
            shared: &shared,
            request,
            log_index,
            out,
        };
        let reply = shared.reply_to(&exchange.request, parse);
        match exchange.answer(&reply, keep_alive, is_head).await {
            Ok(ConnectionAction::KeepAlive) => out = std::mem::take(&mut exchange.out),
            Ok(ConnectionAction::Close) | Err(_) => return,
        }
        if out.capacity() > 2 * MAX_SINGLE_WRITE {
            out = Vec::new();
        }
    }
}

async fn refuse(stream: &mut TcpStream, shared: &Shared, head: Head, error: ReadError) {
    let ReadError::Bad(BadRequest { status, message }) = error else {
        return;
    };
    let request = LoggedRequest::new(shared.log.next_number(), head, Vec::new(), false);
    let log_index = shared.log.keep(&request);
    let mut exchange = Exchange {
        stream,
        shared,
        request,
        log_index,
        out: Vec::new(),
    };
    let answered = exchange
        .answer(&bad_request(status, &message), false, false)
        .await;
    drop(exchange);
    if answered.is_ok() {
        let _ = stream.shutdown().await;
        let mut rest = stream.take(LINGER_BYTES);
        let _ = timeout(LINGER, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
    }
}

struct Exchange<'a> {
    stream: &'a mut TcpStream,
    shared: &'a Shared,
    request: LoggedRequest,
    log_index: Option<usize>,
    /// Collects small writes; reused by later requests.
    out: Vec<u8>,
}

impl Exchange<'_> {
    async fn answer(
        &mut self,
        reply: &StubReply,
        keep_alive: bool,
        is_head: bool,
    ) -> io::Result<ConnectionAction> {
        self.pause(reply.after).await?;
        if let Content::Fault(fault) = reply.content {
            return self.fail(fault).await;
        }
        let Some(response) = Response::new(reply, &self.request) else {
            return Ok(ConnectionAction::Close);
        };
        let close = !keep_alive
            || response
                .header("connection")
                .is_some_and(|v| v.eq_ignore_ascii_case("close"));
        self.update_log(|request| {
            let id = response.header("x-request-id");
            request.record_response(response.status, response.usage, id, reply.refused_by);
        });
        self.out.clear();
        response.write_head(&mut self.out, self.request.request_id(), close);
        if is_head || !response.may_have_body() {
            self.send_last(&[], &response).await?;
        } else if !self.send_body(reply, &response).await? {
            return Ok(ConnectionAction::Close);
        }
        Ok(if close {
            ConnectionAction::Close
        } else {
            ConnectionAction::KeepAlive
        })
    }

    /// Returns false if the body was cut short.
    async fn send_body(&mut self, reply: &StubReply, response: &Response) -> io::Result<bool> {
        if let Body::Pieces(pieces) = &response.body {
            return self.send_pieces(pieces, reply, response).await;
        }
        let in_two = reply.cut.is_some() || !reply.body_after.is_zero();
        let rest = match &response.body {
            Body::Bytes(body) if in_two => {
                let (half, rest) = body.split_at(body.len() / 2);
                self.write(half).await?;
                rest
            }
            Body::Bytes(body) => body,
            Body::Pieces(_) => return Ok(false),
            Body::Filler(filler) => {
                self.write_filler(
                    filler,
                    if in_two {
                        filler.bytes / 2
                    } else {
                        filler.bytes
                    },
                )
                .await?;
                &filler.after
            }
        };
        self.pause(reply.body_after).await?;
        if let Some(cut) = reply.cut {
            if cut == Cut::Reset {
                self.reset_on_close()?;
            }
            return Ok(false);
        }
        if let (Body::Filler(filler), true) = (&response.body, in_two) {
            self.fill(filler.bytes - filler.bytes / 2).await?;
        }
        self.send_last(rest, response).await?;
        Ok(true)
    }

    async fn send_pieces(
        &mut self,
        pieces: &[Vec<u8>],
        reply: &StubReply,
        response: &Response,
    ) -> io::Result<bool> {
        let half = reply.cut.map_or(pieces.len(), |_| pieces.len() / 2);
        for (at, piece) in pieces[..half].iter().enumerate() {
            if at > 0 {
                self.pause(reply.pause).await?;
            }
            if at == pieces.len() / 2 {
                self.pause(reply.body_after).await?;
            }
            // An empty chunk would end the body.
            if !piece.is_empty() {
                let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
                chunk.extend_from_slice(piece);
                chunk.extend_from_slice(b"\r\n");
                self.write(&chunk).await?;
            }
        }
        if let Some(cut) = reply.cut {
            // The head, if no piece was written.
            self.write(&[]).await?;
            if cut == Cut::Reset {
                self.reset_on_close()?;
            }
            return Ok(false);
        }
        self.send_last(b"0\r\n\r\n", response).await?;
        Ok(true)
    }

    async fn write_filler(&mut self, filler: &Filler, bytes: u64) -> io::Result<()> {
        self.write(&filler.before).await?;
        self.fill(bytes).await
    }

    async fn fill(&mut self, mut bytes: u64) -> io::Result<()> {
        let block = vec![b'x'; MAX_SINGLE_WRITE];
        while bytes > 0 {
            let n = bytes.min(block.len() as u64);
            self.stream.write_all(&block[..n as usize]).await?;
            bytes -= n;
        }
        Ok(())
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() <= MAX_SINGLE_WRITE {
            self.out.extend_from_slice(bytes);
            self.stream.write_all(&self.out).await?;
        } else {
            self.stream.write_all(&self.out).await?;
            self.stream.write_all(bytes).await?;
        }
        self.out.clear();
        Ok(())
    }

    /// Completes the log first: a client that has read the last bytes must find them there.
    async fn send_last(&mut self, bytes: &[u8], response: &Response) -> io::Result<()> {
        self.update_log(|request| request.complete = true);
        self.shared.log.add_usage(response.usage);
        let written = self.write(bytes).await;
        if written.is_err() {
            self.update_log(|request| request.complete = false);
            self.shared.log.subtract_usage(response.usage);
        }
        written
    }

    fn update_log(&mut self, change: impl FnOnce(&mut LoggedRequest)) {
        change(&mut self.request);
        self.shared.log.update(self.log_index, &self.request);
    }

    async fn fail(&mut self, fault: Fault) -> io::Result<ConnectionAction> {
        match fault {
            Fault::HangUp => {}
            Fault::Reset => self.reset_on_close()?,
            Fault::Stall => self.client_closed().await?,
            Fault::Garbage => {
                self.stream
                    .write_all(b"\x16\x03\x01 this is not HTTP\r\n\r\n")
                    .await?
            }
        }
        Ok(ConnectionAction::Close)
    }

    fn reset_on_close(&self) -> io::Result<()> {
        // Deprecated because a linger time blocks the thread that drops the socket; zero does not.
        #[allow(deprecated)]
        self.stream.set_linger(Some(Duration::ZERO))
    }

    /// Fails if the client leaves meanwhile.
    async fn pause(&self, delay: Duration) -> io::Result<()> {
        if delay.is_zero() {
            return Ok(());
        }
        tokio::select! {
            () = sleep(delay) => Ok(()),
            client_closed = self.client_closed() => client_closed.and(Err(io::ErrorKind::ConnectionAborted.into())),
        }
    }

    async fn client_closed(&self) -> io::Result<()> {
        if self.stream.peek(&mut [0]).await? > 0 {
            // More data from the client hides whether it has left.
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// However the exchange ends, also when the server stops.
impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if let Some(on_exchange) = &self.shared.on_exchange {
            on_exchange(&self.request);
        }
    }
}
