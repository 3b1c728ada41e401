//! What a model reports while it answers goes into the attempt's record at once, so
//! that a call that is dropped has it.

use std::time::Duration;

use llmnode_model::ext::PromptParts;
use llmnode_model::gate::RateLimits;
use llmnode_model::{ApiKind, BoxFuture, Delta, ResponseFormat, Sink, TokenUsage};
use llmnode_reader::Flag;
use llmnode_reader::text::one_line;

use super::account::{MAX_WORD_BYTES, drop_impossible, flag as set_flag};
use super::written::Written;
use crate::ledger::OpenAttempt;
use crate::limits::Reservation;
use crate::run::batches::AttemptSinkExt;
use crate::run::map_item::MapItem;

const CHOICES: &str = "choices";

/// Writes what a model reports during an attempt into the record, the reservation and the listener.
pub(in crate::run) struct AttemptSink<'a, 'o, 'c, 'l> {
    pub(in crate::run) open: &'a mut OpenAttempt<'o>,
    pub(in crate::run) reserved: &'a mut Reservation<'c>,
    pub(in crate::run) written: Option<&'a mut Written<'l>>,
    /// Of a map: others may wait for the answer to begin.
    pub(in crate::run) item: Option<&'a MapItem<'a>>,
}

impl<'o> AttemptSinkExt<'o> for AttemptSink<'_, 'o, '_, '_> {
    fn open(&mut self) -> &mut OpenAttempt<'o> {
        self.open
    }
}

impl Sink for AttemptSink<'_, '_, '_, '_> {
    fn wait(&self, time: Option<Duration>) -> BoxFuture<'_, ()> {
        match time {
            Some(time) => self.open.clock().sleep(time),
            None => self.open.clock().never(),
        }
    }

    fn request_id(&mut self, id: &str) {
        self.open
            .note(|record| record.request_id = Some(one_line(id, MAX_WORD_BYTES)));
    }

    fn wants_prompt(&self) -> bool {
        true
    }

    fn prompt_before(&self) -> Option<&PromptParts> {
        self.open.prompt_before()
    }

    fn prompt(&mut self, parts: PromptParts, ttl: Option<Duration>) {
        self.open.asks(parts, ttl);
    }

    fn begins(&mut self) {
        if let Some(item) = self.item {
            item.is_answered();
        }
    }

    fn usage(&mut self, mut usage: TokenUsage) {
        drop_impossible(&mut usage, self.open);
        self.open.reports(usage);
        self.reserved.reports(usage);
    }

    fn response_format(&mut self, response_format: ResponseFormat) {
        self.open
            .note(|record| record.response_format = Some(response_format));
    }

    fn api(&mut self, api: ApiKind) {
        self.open.note(|record| record.api = Some(api));
    }

    fn refused(&mut self, part: &str) {
        self.open.note(|record| {
            if part == CHOICES {
                record.narrowed.clear();
            }
            record.refused.push(one_line(part, MAX_WORD_BYTES));
        });
    }

    fn unsent(&mut self) {
        self.open.note(|record| record.unsent = true);
        self.reserved.unsent();
    }

    fn flag(&mut self, flag: Flag) {
        if flag == Flag::EstimatedUsage {
            self.reserved.breaks_off();
        }
        if flag == Flag::OtherPrice {
            self.reserved.has_other_price();
        }
        set_flag(self.open, flag);
    }

    fn wants_rate_limits(&self) -> bool {
        self.open.wants_rate_limits
    }

    fn rate_limits(&mut self, limits: RateLimits) {
        self.open.rate_limits = Some(Box::new(limits));
    }

    fn listens(&self) -> bool {
        self.written.is_some()
    }

    fn delta(&mut self, delta: Delta<'_>) {
        self.open.writes(delta.text());
        self.reserved.writes(delta.text());
        let Some(written) = &mut self.written else {
            return;
        };
        if !written.has_begun {
            self.open.begins_to_answer();
        }
        written.delta(delta);
    }
}
