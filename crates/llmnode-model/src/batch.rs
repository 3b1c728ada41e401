//! The batch API of a provider, as the runtime sees it: many requests in one order,
//! answered within hours, at another price.
//!
//! In: requests, each written as the line of an order by [`BatchWire::line`]. Then,
//! in this order: [`upload`](BatchWire::upload) where the provider takes files,
//! [`create`](BatchWire::create), [`poll`](BatchWire::poll) until the batch has
//! ended,
//! [`results`](BatchWire::results) line by line. Out: for each line what came of it, which [`BatchWire::answer`] reads as the
//! response of its request, with the same categories as a response that came at
//! once. This module knows neither when a batch is sent nor what is done about a
//! line without an answer: the runtime decides that.

use std::sync::Arc;
use std::time::SystemTime;

use super::completion::Completion;
use super::error::ModelError;
use super::request::Request;
use super::sink::Sink;
use crate::BoxFuture;

/// A request as a line of an order. Requests of one model and API can be in one batch.
#[derive(Clone, Debug)]
pub struct BatchLine {
    /// The API, such as `"chat"`.
    pub api: &'static str,
    /// The model that it asks.
    pub model: String,
    /// The body of the request.
    pub body: Vec<u8>,
}

/// What is sent at once.
#[derive(Clone, Debug)]
pub struct BatchOrder {
    /// The name that a later process finds it by.
    pub name: String,
    /// As of its lines.
    pub api: &'static str,
    /// As of its lines.
    pub model: String,
    /// Its lines. What sends them shares them, since they may be sent again.
    pub lines: Arc<Vec<OrderLine>>,
    /// When the provider may delete the order's files, in seconds from now.
    pub expires_after: u64,
}

/// One line of an order.
#[derive(Clone, Debug)]
pub struct OrderLine {
    /// Its id, by which its result is found. Shared with whoever waits for it, since an order may have 100,000 lines.
    pub id: Arc<str>,
    /// The body of its request.
    pub body: Vec<u8>,
}

/// A batch that may have been created by a process that died.
#[derive(Clone, Debug)]
pub struct BatchTraces {
    /// The name of its order.
    pub name: String,
    /// As of its lines.
    pub api: String,
    /// As of its lines.
    pub model: String,
    /// The file that was uploaded for it.
    pub file: Option<String>,
    /// When it was planned.
    pub planned: SystemTime,
    /// How many lines it has.
    pub lines: usize,
    /// The id of one of its lines.
    pub line: Option<String>,
}

/// How much an order may have.
#[derive(Clone, Copy, Debug)]
pub struct BatchBounds {
    /// How many lines.
    pub lines: usize,
    /// How many bytes.
    pub bytes: usize,
}

/// Where a batch stands.
#[derive(Clone, Debug, Default)]
pub struct BatchStatus {
    /// It changes no more: its results can be read.
    pub has_ended: bool,
    /// The provider's word for it, such as `in_progress`.
    pub state: String,
    /// It was refused as a whole: the provider's words.
    pub refused: Option<BatchRefusal>,
    /// The files that hold its results, and the one that was uploaded.
    pub files: Vec<String>,
    /// Where results are read from: the ids of files, or a URL.
    pub results: Vec<String>,
    /// How many lines have ended. `None`: it does not say.
    pub ended_lines: Option<u64>,
    /// What became of lines without a result.
    pub missing: MissingLines,
    /// When it ended. `None`: it has not, or does not say.
    pub ended: Option<SystemTime>,
}

/// What became of the lines that the results of a batch leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingLines {
    /// Nobody knows.
    #[default]
    Lost,
    /// The batch's time was over.
    Expired,
    /// The batch was cancelled.
    Cancelled,
}

/// Why a batch was refused as a whole.
#[derive(Clone, Debug, Default)]
pub struct BatchRefusal {
    /// Its queue is full: the same order may be taken later, or a smaller one now.
    pub is_full: bool,
    /// In the provider's words.
    pub message: String,
    /// The lines at fault, from 0, with what is wrong with each. Empty: it does not say.
    pub lines: Vec<(usize, String)>,
}

/// What came of a line.
#[derive(Clone, Debug)]
pub enum LineResult {
    /// It was answered, or refused.
    Response(LineResponse),
    /// The batch's time was over. Nothing was spent.
    Expired,
    /// The batch was cancelled before its turn. Nothing was spent.
    Cancelled,
}

/// The response to a line.
#[derive(Clone, Debug)]
pub struct LineResponse {
    /// The status.
    pub status: u16,
    /// The body, as of a request that is answered at once.
    pub body: Vec<u8>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

/// The results of a batch, one after the other, in whatever order they come.
pub trait BatchResults: Send {
    /// The id of the next line, and what came of it. `None`: that was the last one.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<(String, LineResult)>, ModelError>>;
}

/// The batch API of a model's provider.
pub trait BatchWire: Send + Sync {
    /// The same for two handles whose requests may be in one batch: they share connections and key.
    fn place(&self) -> usize;

    /// Whether it has batches of this API, as its lines name it.
    fn has_api(&self, api: &str) -> bool;

    /// How much a batch may have.
    fn bounds(&self) -> BatchBounds;

    /// Writes a request as the line of an order.
    ///
    /// # Errors
    /// What prevents the request.
    fn line(&self, request: &Request, sink: &mut dyn Sink) -> Result<BatchLine, ModelError>;

    /// Uploads the order as a file, if the API takes files, and returns the file's id.
    ///
    /// # Errors
    /// As of a request.
    fn upload<'a>(
        &'a self,
        order: &'a BatchOrder,
    ) -> BoxFuture<'a, Result<Option<String>, ModelError>>;

    /// Creates the batch, and returns its id. `file`: what [`upload`](Self::upload) returned.
    ///
    /// # Errors
    /// As of a request.
    fn create<'a>(
        &'a self,
        order: &'a BatchOrder,
        file: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ModelError>>;

    /// The batch that a process left which died as it created it. `None`: there is
    /// none, so nothing was ordered.
    ///
    /// # Errors
    /// As of a request; `paused`: one that may be it has not ended, and before that
    /// nobody can say.
    fn find<'a>(
        &'a self,
        traces: &'a BatchTraces,
    ) -> BoxFuture<'a, Result<Option<String>, ModelError>>;

    /// Where the batch stands.
    ///
    /// # Errors
    /// As of a request.
    fn poll<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchStatus, ModelError>>;

    /// The results of a batch that has ended.
    ///
    /// # Errors
    /// As of a request.
    fn results<'a>(
        &'a self,
        status: &'a BatchStatus,
    ) -> BoxFuture<'a, Result<Box<dyn BatchResults>, ModelError>>;

    /// Cancels the batch. Lines that were answered stay answered.
    ///
    /// # Errors
    /// As of a request.
    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), ModelError>>;

    /// Deletes files of a batch that is read.
    ///
    /// # Errors
    /// As of a request.
    fn delete<'a>(&'a self, files: &'a [String]) -> BoxFuture<'a, Result<(), ModelError>>;

    /// Reads a response as that of its request. What is learned from a refusal
    /// holds for the next line of the request.
    ///
    /// # Errors
    /// As of a request that is answered at once.
    fn answer(
        &self,
        request: &Request,
        response: LineResponse,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError>;
}
