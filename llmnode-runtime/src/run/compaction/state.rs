//! What is known of a conversation that is kept short: a part of its call's
//! [`History`](crate::run::history::History).

use llmnode_model::{Message, Request, Role};
use llmnode_reader::text::one_line;

use super::covers;
use super::originals::Originals;
use super::quotes::Sources;
use super::results;
use super::rules::{Compact, share_of};
use super::size::{listed_tokens, message_tokens, messages_tokens, request_tokens};
use super::summary::{Part, Summary, pieces, summary_message};
use crate::conversation::Covers;
use crate::ledger::{Compacted, Compaction, CompactionCause, CompactionStep, Edit};
use crate::pause::CompactedSoFar;

/// Each compaction rewrites the prompt, and the provider's cache of it is lost. So
/// there is the half of the mark between two, and less only where the window is
/// nearly full.
const NEARLY_FULL: f64 = 0.9;

/// What a compaction before a refusal has to free of the mark, to be worth the cache.
const LEAST_FREED: u64 = 10;

/// After a failed summary, the conversation grows by this part before the next one.
const AFTER_FAILURE: u64 = 10;

/// A refusal that names no window says that it is smaller than this share of the
/// request, by estimate.
const REFUSED_SHARE: f64 = 0.95;

/// What is to be done before a request.
pub(in crate::run) enum Due {
    /// These edits.
    Edits(Compaction),
    /// The part before the last rounds is to be summed up.
    Summary(ToSumUp),
}

/// A part that is to be summed up.
pub(in crate::run) struct ToSumUp {
    cause: CompactionCause,
    part: Part,
    /// The messages of the part, in pieces of which each is short enough to be summed up.
    pub(in crate::run) pieces: Vec<Vec<Message>>,
    /// What the program wrote in the whole conversation.
    pub(in crate::run) sources: Sources,
    window: Option<u64>,
}

/// Why a part was not summed up.
struct FailedSummary {
    /// The tokens of the conversation then.
    at: u64,
    why: String,
}

/// The rules of a node, and what is known of the conversation of one call: how long
/// it is, how long it may be, and what was done to it. The messages themselves
/// stand in the request, as they are sent.
pub(in crate::run) struct Compacting {
    rules: Compact,
    can_sum_up: bool,
    failed: Option<FailedSummary>,
    /// Messages before the conversation, which stay as they are.
    opening: usize,
    whole: Originals,
    /// How many of the compactions a store of conversations has.
    stored: usize,
    /// What an earlier turn that has no answer did to this history, without its
    /// opening. Done before the first request that is asked.
    offered: Vec<Compaction>,
    /// The tokens of the newest answer and of all before it, as the provider counted them.
    counted: Option<u64>,
    /// The tokens, about, after the last compaction.
    after_last: Option<u64>,
    /// The model has refused the request that is to be asked.
    is_refused: bool,
    /// The window is not larger, as far as refusals tell.
    bound: Option<u64>,
    /// A compaction has changed what is sent, and no answer came since.
    pub(in crate::run) has_changed: bool,
}

impl Compacting {
    pub(in crate::run) fn new(rules: Compact, opening: usize, can_sum_up: bool) -> Box<Self> {
        Box::new(Compacting {
            rules,
            can_sum_up,
            failed: None,
            opening,
            whole: Originals::default(),
            stored: 0,
            offered: Vec::new(),
            counted: None,
            after_last: None,
            is_refused: false,
            bound: None,
            has_changed: false,
        })
    }

    /// An answer was counted.
    pub(in crate::run) fn count(&mut self, tokens: Option<u64>) {
        self.counted = tokens;
        self.is_refused = false;
    }

    /// The round that is appended has the tokens of its answer.
    pub(in crate::run) fn write_count(&mut self, round: &mut [Message]) {
        let tokens = self.counted.take();
        if let Some(first) = round.first_mut()
            && tokens.is_some()
        {
            *first = first.clone().counted(tokens);
        }
    }

    /// The model refused the request as too long. Returns whether a shorter one can follow.
    pub(in crate::run) fn refuse(&mut self, request: &Request, named: Option<u64>) -> bool {
        let below = match named {
            Some(window) => window,
            None => share_of(request_tokens(request), REFUSED_SHARE),
        };
        let bound = self.bound.unwrap_or(below);
        self.bound = Some(bound.min(below));
        let length = request.messages.len();
        let has_edits = !self.edits_of_refused(request, length).is_empty();
        self.is_refused = has_edits || self.part_of_refused(request, length, self.bound).is_some();
        self.is_refused
    }

    /// Whether the model has refused the conversation, and it can be made shorter.
    pub(in crate::run) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// What is to be done before this request, of whose messages so many are
    /// stable.
    ///
    /// Results are left out first, which costs nothing. A summary costs a request,
    /// so it is made only where that is not enough: if more than half of the mark
    /// is still there, or if the model has refused the request and no result is
    /// left to go. Edits that free too little are not made either: each change
    /// loses the provider's cache.
    pub(in crate::run) fn due(
        &self,
        request: &Request,
        length: usize,
        window: Option<u64>,
    ) -> Option<Due> {
        let window = self.room(request, window);
        let cause = self.cause(request, window)?;
        let edits = match cause {
            CompactionCause::Refused => {
                let edits = self.edits_of_refused(request, length);
                if edits.is_empty() {
                    let part = self.part_of_refused(request, length, window)?;
                    return Some(self.to_sum_up(request, length, part, cause, window));
                }
                edits
            }
            CompactionCause::Full { tokens } => {
                let keep = self.rules.kept_rounds();
                let mark = self.rules.mark(window)?;
                let edits = results::left_out(request, self.opening, length, keep);
                let freed = freed(request, &edits);
                let is_enough = tokens.saturating_sub(freed) <= mark / 2;
                if !is_enough && let Some(part) = self.part(request, length, keep, window) {
                    return Some(self.to_sum_up(request, length, part, cause, window));
                }
                if freed < mark / LEAST_FREED {
                    return None;
                }
                edits
            }
        };
        Some(Due::Edits(Compaction {
            step: CompactionStep::Results,
            cause,
            length: self.whole.length(length),
            edits,
        }))
    }

    /// The window without what the answer may take of it, since providers refuse
    /// what has no room for that. At least half of it.
    fn room(&self, request: &Request, window: Option<u64>) -> Option<u64> {
        let window = window.into_iter().chain(self.bound).min()?;
        let answer = request.max_tokens.map_or(0, u64::from);
        let room = window.saturating_sub(answer);
        Some(room.max(window / 2))
    }

    /// Another model is asked, whose window may be larger.
    pub(in crate::run) fn forget_window(&mut self) {
        self.bound = None;
        self.is_refused = false;
    }

    /// `None`: nothing can be summed up, or it has just failed.
    fn part(
        &self,
        request: &Request,
        length: usize,
        keep: usize,
        window: Option<u64>,
    ) -> Option<Part> {
        if !self.can_sum_up || self.has_just_failed(request_tokens(request)) {
            return None;
        }
        Part::before_last_rounds(request, self.opening, length, keep, window)
    }

    fn part_of_refused(
        &self,
        request: &Request,
        length: usize,
        window: Option<u64>,
    ) -> Option<Part> {
        let mut keep = self.rules.kept_rounds();
        loop {
            let part = self.part(request, length, keep, window);
            if part.is_some() || keep <= 1 {
                return part;
            }
            keep /= 2;
        }
    }

    fn to_sum_up(
        &self,
        request: &Request,
        length: usize,
        part: Part,
        cause: CompactionCause,
        window: Option<u64>,
    ) -> Due {
        let most = window.map_or(u64::MAX, |window| window / 2);
        let question = request
            .question
            .and_then(|at| request.messages.get(usize::from(at)));
        let stable = &request.messages[..length];
        let sources = Sources::of(&self.whole(stable), question);
        Due::Summary(ToSumUp {
            cause,
            pieces: pieces(&part.messages(request), most),
            part,
            sources,
            window,
        })
    }

    /// The edits that put a summary in the place of its part. `Err`: it is no shorter.
    pub(in crate::run) fn summed_up(
        &self,
        to_sum_up: &ToSumUp,
        summary: &Summary,
        request: &Request,
        length: usize,
    ) -> Result<Compaction, String> {
        let messages = to_sum_up.part.messages(request);
        let quotes = to_sum_up.sources.found(&summary.binding);
        let by = summary_message(&messages, &quotes, summary, to_sum_up.window);
        let edits = to_sum_up.part.edits(by);
        if freed(request, &edits) == 0 {
            return Err("the summary is as long as what it sums up".to_owned());
        }
        Ok(Compaction {
            step: CompactionStep::Summary,
            cause: to_sum_up.cause,
            length: self.whole.length(length),
            edits,
        })
    }

    /// The conversation stays as it is, and the next try is a tenth later.
    pub(in crate::run) fn summary_failed(&mut self, request: &Request, why: String) {
        let at = request_tokens(request);
        self.failed = Some(FailedSummary { at, why });
    }

    fn has_just_failed(&self, tokens: u64) -> bool {
        let Some(failed) = &self.failed else {
            return false;
        };
        let next_try = failed.at.saturating_add(failed.at / AFTER_FAILURE);
        tokens < next_try
    }

    fn cause(&self, request: &Request, window: Option<u64>) -> Option<CompactionCause> {
        if self.is_refused {
            return Some(CompactionCause::Refused);
        }
        let mark = self.rules.mark(window)?;
        let tokens = request_tokens(request);
        if tokens <= mark {
            return None;
        }
        let is_after_another = match self.after_last {
            Some(after) => tokens < after.saturating_add(mark / 2),
            None => false,
        };
        let is_nearly_full = match window {
            Some(window) => tokens >= share_of(window, NEARLY_FULL),
            None => false,
        };
        let is_soon = is_after_another || self.has_just_failed(tokens);
        if is_soon && !is_nearly_full {
            return None;
        }
        Some(CompactionCause::Full { tokens })
    }

    /// Where the last rounds alone are too much, fewer stay: an error would be worse.
    fn edits_of_refused(&self, request: &Request, length: usize) -> Vec<Edit> {
        let mut keep = self.rules.kept_rounds();
        loop {
            let edits = results::left_out(request, self.opening, length, keep);
            if !edits.is_empty() || keep <= 1 {
                return edits;
            }
            keep /= 2;
        }
    }

    /// Carries it out on the stable messages of a request. `None`: it is of another conversation.
    pub(in crate::run) fn compact(
        &mut self,
        compaction: Compaction,
        request: &mut Request,
        stable: &mut usize,
    ) -> Option<&Compacted> {
        let before = request_tokens(request);
        let freed = freed(request, &compaction.edits);
        let feedback = request.messages.split_off(*stable);
        let mut question = None;
        if let Some(at) = request.question
            && let Some(to) = compaction.moved(usize::from(at))
        {
            question = u16::try_from(to).ok();
        }
        let fits = self
            .whole
            .compact(compaction, self.opening, &mut request.messages);
        *stable = request.messages.len();
        request.messages.extend(feedback);
        if !fits {
            return None;
        }
        request.question = question;
        let after = before.saturating_sub(freed);
        self.after_last = Some(after);
        // What is shorter now may be summed up, though a summary failed before.
        if let Some(failed) = &mut self.failed {
            failed.at = failed.at.min(after);
        }
        self.is_refused = false;
        self.has_changed = true;
        self.whole.newest()
    }

    /// Why a request that was refused cannot be made shorter.
    pub(in crate::run) fn why_not_shorter(&self, request: &Request) -> String {
        let messages = &request.messages;
        let mut largest = 0;
        for (at, message) in messages.iter().enumerate() {
            if message_tokens(message) > message_tokens(&messages[largest]) {
                largest = at;
            }
        }
        let Some(message) = messages.get(largest) else {
            return String::new();
        };
        let number = largest + 1;
        let role = role(message);
        let tokens = message_tokens(message);
        let summary = match &self.failed {
            Some(failed) => format!(", and the summary failed: {}", one_line(&failed.why, 200)),
            None => String::new(),
        };
        format!(
            "; `compact` found nothing more that may be left out{summary}; the longest message is number {number} (role {role}, about {tokens} tokens)"
        )
    }

    /// All messages, where these are sent.
    pub(in crate::run) fn whole(&self, sent: &[Message]) -> Vec<Message> {
        self.whole.of(sent)
    }

    /// How many there are, where so many are sent.
    pub(in crate::run) fn whole_length(&self, sent: usize) -> usize {
        self.whole.length(sent)
    }

    pub(in crate::run) fn done(&self) -> &[Compaction] {
        self.whole.done()
    }

    /// What was replaced, for the report.
    pub(in crate::run) fn take_replaced(&mut self) -> Vec<Compacted> {
        self.whole.take_replaced()
    }

    /// Goes on with a conversation that an earlier call compacted.
    pub(in crate::run) fn restore(&mut self, before: &CompactedSoFar, request: &mut Request) {
        self.counted = before.counted;
        self.after_last = before.after_last;
        self.restore_done(&before.done, request);
    }

    /// Goes on with a history of so many messages that earlier turns compacted.
    /// What they replaced is nothing that this call reports.
    pub(in crate::run) fn restore_covers(
        &mut self,
        covers: &[Covers],
        history: usize,
        request: &mut Request,
    ) {
        let chain = covers::read(covers, history);
        if let Some(why) = &chain.unusable {
            tracing::warn!(
                target: "llmnode::chat",
                "a row that stands for earlier messages cannot be used, and they are sent as they are, or summed up again: {why}"
            );
        }
        let mut done: Vec<Compaction> = Vec::with_capacity(chain.done.len());
        for compaction in chain.done {
            done.push(compaction.behind_opening(self.opening));
        }
        self.restore_done(&done, request);
        self.stored = self.whole.done().len();
        self.whole.take_replaced();
        // A turn of a node without `compact` has counted the whole conversation.
        for message in &mut request.messages {
            if message.tokens().is_some() {
                *message = message.clone().counted(None);
            }
        }
        if !self.whole.done().is_empty() {
            let then = request.messages.get(..self.whole.sent());
            let tokens = messages_tokens(then.unwrap_or_default());
            self.after_last = Some(tokens.saturating_add(listed_tokens(request)));
        }
    }

    /// What a store keeps of this call, behind what it has for a history of so many
    /// messages: of `messages` that it gets, with those.
    pub(in crate::run) fn covers(
        &self,
        before: &[Covers],
        history: usize,
        messages: usize,
    ) -> Vec<Covers> {
        let mut done = self.without_opening();
        done.extend_from_slice(&self.offered);
        covers::added(&done, before, history, messages)
    }

    /// Up to the first one that is about the opening.
    fn without_opening(&self) -> Vec<Compaction> {
        let done = self.whole.done().iter();
        done.map_while(|one| one.without_opening(self.opening))
            .collect()
    }

    /// An earlier turn of the chat did this and has no answer. `stored`: how many
    /// messages of the history it is about.
    pub(in crate::run) fn offer(&mut self, of_unfinished: &CompactedSoFar, stored: usize) {
        self.offered = covers::offered(of_unfinished, &self.without_opening(), stored);
    }

    /// What an earlier turn did, as a compaction of this conversation, of whose
    /// messages so many are stable. `None`: nothing more.
    pub(in crate::run) fn take_offered(&mut self, stable: usize) -> Option<Compaction> {
        if self.offered.is_empty() {
            return None;
        }
        let mut one = self.offered.remove(0).behind_opening(self.opening);
        one.length = self.whole.length(stable);
        Some(one)
    }

    /// This call has done something of its own, behind which nothing else fits.
    pub(in crate::run) fn forget_offered(&mut self) {
        self.offered.clear();
    }

    /// Whether a summary was paid for that no store has.
    pub(in crate::run) fn has_paid(&self) -> bool {
        let unstored = self.whole.done().iter().skip(self.stored);
        let mut all = unstored.chain(&self.offered);
        all.any(|one| one.step == CompactionStep::Summary)
    }

    fn restore_done(&mut self, done: &[Compaction], request: &mut Request) {
        self.whole
            .restore(done, self.opening, &mut request.messages);
        if let Some(question) = request.question {
            let mut place = Some(usize::from(question));
            for compaction in self.whole.done() {
                place = place.and_then(|place| compaction.moved(place));
            }
            request.question = place.and_then(|place| u16::try_from(place).ok());
        }
    }

    /// What a later call needs. `prompt`: how many messages stand before the first
    /// round.
    pub(in crate::run) fn so_far(&self, prompt: usize) -> Option<CompactedSoFar> {
        let mut done = self.done().to_vec();
        let offered = self.offered.iter().cloned();
        done.extend(offered.map(|one| one.behind_opening(self.opening)));
        if done.is_empty() && self.counted.is_none() {
            return None;
        }
        Some(CompactedSoFar {
            prompt,
            opening: Some(self.opening),
            done,
            counted: self.counted,
            after_last: self.after_last,
        })
    }
}

fn role(message: &Message) -> &'static str {
    match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        _ => "other",
    }
}

/// The tokens, about, that edits take away.
fn freed(request: &Request, edits: &[Edit]) -> u64 {
    let mut gone = 0_u64;
    let mut put = 0_u64;
    for edit in edits {
        let end = edit.at.saturating_add(edit.count);
        let messages = request.messages.get(edit.at..end).unwrap_or_default();
        gone += messages.iter().map(message_tokens).sum::<u64>();
        put += edit.by.iter().map(message_tokens).sum::<u64>();
    }
    gone.saturating_sub(put)
}
