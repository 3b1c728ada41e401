//! Results that come as lines of JSON, in one file or several, read piece by piece.
//!
//! Files of results may have hundreds of megabytes, so one line is held at a time.
//! A file that breaks off is opened again from its beginning by whoever asks: lines
//! that were taken already are known by their ids.
//!
//! A line that is longer than an answer may be is left out, so that it hides none of
//! the others. After the last one, there is an error: what is missing may be in it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::batch::{BatchResults, LineResult};
use llmnode_model::{BoxFuture, Category, ModelError};
use serde_json::value::RawValue;

use super::exchange::Exchange;
use crate::api::inner::Inner;
use crate::http::client::Response;
use crate::http::url::Url;

/// A connection that gives nothing for so long is given up, and the file is read again.
const IDLE: Duration = Duration::from_secs(120);

/// Reads a line: its id, and what came of it. `None`: it is no result.
///
/// What a model wrote is taken out of the line as it stands, and never as a tree:
/// numbers keep their digits, halves of characters come to where they are known,
/// and a line takes no more memory than its bytes.
pub(crate) type ReadLine = fn(&str) -> Option<(String, LineResult)>;

/// JSON as a server wrote it. What is not there is `null`.
pub(crate) fn written(json: Option<&RawValue>) -> &str {
    json.map_or("null", RawValue::get)
}

/// The lines of all files, one after the other. Nothing is read ahead of who asks.
pub(crate) struct LineResults {
    inner: Arc<Inner>,
    files: VecDeque<Url>,
    open: Option<Response>,
    buffer: Vec<u8>,
    /// Where the line begins that is read next.
    begin: usize,
    /// Up to here that line has no end. A server may send single bytes.
    searched: usize,
    /// What is read belongs to a line that is too long.
    is_in_long: bool,
    has_left_out: bool,
    read: ReadLine,
}

impl LineResults {
    pub(crate) fn new(inner: Arc<Inner>, files: Vec<Url>, read: ReadLine) -> Self {
        LineResults {
            inner,
            files: files.into(),
            open: None,
            buffer: Vec::new(),
            begin: 0,
            searched: 0,
            is_in_long: false,
            has_left_out: false,
            read,
        }
    }

    /// Lines are cut out of the buffer as long as there are any; then more is read.
    async fn next_line(&mut self) -> Result<Option<(String, LineResult)>, ModelError> {
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
                let line = self.begin..self.searched + length;
                self.begin = line.end + 1;
                self.searched = self.begin;
                if self.is_in_long || line.len() > self.inner.service.body_cap {
                    self.is_in_long = false;
                    self.has_left_out = true;
                    continue;
                }
                if let Some(result) = self.read_line(line) {
                    return Ok(Some(result));
                }
                continue;
            }
            self.buffer.drain(..self.begin);
            self.begin = 0;
            if self.is_in_long || self.buffer.len() > self.inner.service.body_cap {
                self.is_in_long = true;
                self.buffer.clear();
            }
            self.searched = self.buffer.len();
            if !self.fill().await? {
                return match self.has_left_out {
                    true => Err(self.left_out()),
                    false => Ok(None),
                };
            }
        }
    }

    /// A line that cannot be read is as one that is missing.
    fn read_line(&self, line: std::ops::Range<usize>) -> Option<(String, LineResult)> {
        let line = self.buffer[line].trim_ascii();
        if line.is_empty() {
            return None;
        }
        // A byte that is none of UTF-8 costs its character, not the answer.
        let result = (self.read)(&String::from_utf8_lossy(line));
        if result.is_none() {
            tracing::warn!(target: "llmnode::batch", "a line of {} bytes in the results is no \
                                                      result, and is left out", line.len());
        }
        result
    }

    fn left_out(&self) -> ModelError {
        let cap = self.inner.service.body_cap;
        let message = format!(
            "a line of its results is longer than {cap} bytes; set `max_body_bytes` to more"
        );
        ModelError::new(Category::BadResponse, message)
    }

    /// More bytes, or the next file. `false`: there is neither.
    async fn fill(&mut self) -> Result<bool, ModelError> {
        let Some(response) = &mut self.open else {
            let Some(url) = self.files.pop_front() else {
                return Ok(false);
            };
            self.open = Some(self.inner.open_exchange(Exchange::get(url)).await?);
            return Ok(true);
        };
        let service = &self.inner.service;
        let deadline = service.deadline(Some(IDLE));
        let mut incoming = service.incoming(response.body_mut(), deadline);
        match incoming.next().await? {
            Some(bytes) => {
                self.buffer.extend_from_slice(&bytes);
                Ok(true)
            }
            // The last line may have no line break.
            None => {
                self.open = None;
                self.buffer.push(b'\n');
                Ok(true)
            }
        }
    }
}

impl BatchResults for LineResults {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<(String, LineResult)>, ModelError>> {
        Box::pin(self.next_line())
    }
}
