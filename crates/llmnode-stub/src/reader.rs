//! Reads requests from one connection: buffering, Content-Length and chunked bodies, caps.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::request::{BadRequest, Framing, Head, chunk_size, head_end, parse_head};

/// Of a size with its extensions, or of a trailer.
const MAX_CHUNK_LINE: usize = 4 * 1024;
const MAX_TRAILERS: usize = 64;
/// A larger buffer is freed after the body.
const KEEP_BUFFER: usize = 64 * 1024;

pub(super) enum ReadError {
    Gone,
    Bad(BadRequest),
}

impl From<BadRequest> for ReadError {
    fn from(bad: BadRequest) -> Self {
        Self::Bad(bad)
    }
}

pub(super) struct Reader {
    pub(super) stream: TcpStream,
    buf: Vec<u8>,
    pos: usize,
}

impl Reader {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            buf: Vec::new(),
            pos: 0,
        }
    }

    fn unread(&self) -> &[u8] {
        &self.buf[self.pos..]
    }

    async fn fill(&mut self) -> Result<(), ReadError> {
        if self.pos > 0 {
            self.buf.drain(..self.pos);
            self.pos = 0;
        }
        self.buf.reserve(2 * 1024);
        match self.stream.read_buf(&mut self.buf).await {
            Ok(0) | Err(_) => Err(ReadError::Gone),
            Ok(_) => Ok(()),
        }
    }

    pub(super) async fn head(&mut self) -> Result<Head, ReadError> {
        if self.pos == self.buf.len() && self.buf.capacity() > KEEP_BUFFER {
            (self.buf, self.pos) = (Vec::new(), 0);
        }
        let mut scanned = 0;
        loop {
            while scanned == 0 && self.unread().starts_with(b"\r\n") {
                self.pos += 2; // an empty line before a request is to be ignored (RFC 9112, 2.2)
            }
            let only_cr = self.unread() == b"\r";
            if !only_cr && let Some(length) = head_end(self.unread(), scanned)? {
                let head = parse_head(&self.unread()[..length])?;
                self.pos += length;
                return Ok(head);
            }
            scanned = if only_cr { 0 } else { self.unread().len() };
            self.fill().await?;
        }
    }

    pub(super) async fn body(&mut self, head: &Head, max: usize) -> Result<Vec<u8>, ReadError> {
        if head.expects_continue && self.unread().is_empty() && fits(head.framing, max) {
            let go_on = self
                .stream
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                .await;
            go_on.map_err(|_| ReadError::Gone)?;
        }
        match head.framing {
            Framing::Length(length) => {
                let mut body = Vec::new();
                self.take(capped(length, max)?, &mut body).await?;
                Ok(body)
            }
            Framing::Chunked => self.chunks(max).await,
        }
    }

    async fn chunks(&mut self, max: usize) -> Result<Vec<u8>, ReadError> {
        let mut body = Vec::new();
        loop {
            let size = chunk_size(&self.line().await?)?;
            if size == 0 {
                break;
            }
            let size = capped(size, max - body.len())?;
            self.take(size, &mut body).await?;
            if !self.line().await?.is_empty() {
                return Err(BadRequest::new(400, "a chunk is longer than its size says").into());
            }
        }
        for _ in 0..MAX_TRAILERS {
            if self.line().await?.is_empty() {
                return Ok(body);
            }
        }
        Err(BadRequest::new(431, "too many trailers").into())
    }

    async fn take(&mut self, mut count: usize, out: &mut Vec<u8>) -> Result<(), ReadError> {
        loop {
            let n = count.min(self.unread().len());
            out.extend_from_slice(&self.unread()[..n]);
            self.pos += n;
            count -= n;
            if count == 0 {
                return Ok(());
            }
            self.fill().await?;
        }
    }

    async fn line(&mut self) -> Result<Vec<u8>, ReadError> {
        loop {
            if let Some(end) = self.unread().windows(2).position(|w| w == b"\r\n") {
                let line = self.unread()[..end].to_vec();
                self.pos += end + 2;
                return Ok(line);
            }
            if self.unread().len() > MAX_CHUNK_LINE {
                return Err(
                    BadRequest::new(400, "a chunk does not end where its size says").into(),
                );
            }
            self.fill().await?;
        }
    }
}

fn fits(framing: Framing, max: usize) -> bool {
    match framing {
        Framing::Length(length) => capped(length, max).is_ok(),
        Framing::Chunked => true,
    }
}

fn capped(length: u64, max: usize) -> Result<usize, BadRequest> {
    let length = usize::try_from(length).ok().filter(|&n| n <= max);
    length
        .ok_or_else(|| BadRequest::new(413, "the request's body is longer than this server takes"))
}
