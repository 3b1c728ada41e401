//! What a request asks of the provider's cache: the table by API, host and kind of call.
//!
//! In: what the call knows ([`CachePlan`]), the setting of the handle, and what
//! this handle has seen so far ([`CacheMemory`]). Out:
//! [`CacheFields`], which the writers of bodies put in their places. In this order, the first that holds:
//!
//! 1. The program has a field of the cache in `extra`: nothing of ours.
//! 2. `Off`, or an API without such fields: nothing.
//! 3. A time that was set by hand: marks with that time, at any host, whatever the length.
//! 4. `Auto`, at OpenAI's or Anthropic's own host, if the prompt is long enough:
//!    what costs least. A mark is written by one request at a time: others with the
//!    same beginning go without it meanwhile, since they would pay for writing, and
//!    read nothing.
//!
//! The line of a batch is marked whatever the memory says, and tells it nothing.
//!
//! How the beginning of a conversation was sent stays as its first request had it:
//! another place of a mark, or of the system's text, would change the beginning
//! itself. Which models have explicit marks is known from refusals alone
//! ([`Part::CacheOptions`]).

use std::time::Duration;

use llmnode_model::ext::{CachePlan, Repeats};
use llmnode_model::internal::fnv;
use llmnode_model::{ApiKind, Cache, Request, Role};

use super::cache_fields::{CacheFields, CacheKey, CacheOptions, SharedEnd};
use super::cache_memory::{Likely, Share};
use super::inner::Inner;
use super::prepared_request::RequestContext;
use crate::refusal::parts::{Part, Parts};
use crate::refusal::quirks::Quirks;

/// The fields of all APIs. Where the program writes one of them, it knows what it wants.
const FIELDS: [&str; 4] = [
    "cache_control",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
];
/// What providers keep has at least so many tokens.
/// Sources: OpenAI's guide on prompt caching and Anthropic's, both 1,024 for most
/// models. Some models keep less (512) or more (4,096); a mark that keeps nothing
/// costs nothing.
const LEAST_TOKENS: usize = 1_024;
/// An estimate that is low for most languages, so that no mark is written for too
/// little.
const BYTES_OF_A_TOKEN: usize = 4;
/// A mark in the user's message is worth a part of its own from this length on.
const LEAST_LITERAL_BYTES: usize = 1_024;
/// From so many requests to a model on, one more refusal of a field is worth what the field saves.
/// Explicit options save a quarter of a prompt's price each time, since implicit
/// ones write what nobody reads; a refusal costs one request.
const LEAST_REQUESTS: u64 = 10;

/// How long OpenAI keeps a prompt that is marked, at least.
/// Source: OpenAI's guide, from gpt-5.6 on.
const OPENAI_TTL: Duration = Duration::from_secs(30 * 60);
/// The Responses API alone takes it.
const OPENAI_LONG_TTL: Duration = Duration::from_secs(12 * 60 * 60);
/// What older models keep without being subject. They say five to ten minutes.
const OLDER_TTL: Duration = Duration::from_secs(5 * 60);
/// Both are renewed by each read.
const ANTHROPIC_TTL: Duration = Duration::from_secs(5 * 60);
const ANTHROPIC_LONG_TTL: Duration = Duration::from_secs(60 * 60);

/// What a request is about, as far as the cache is concerned.
struct CacheSubject<'a> {
    request: &'a Request,
    plan: CachePlan,
    model: &'a str,
    quirks: Quirks,
    context: RequestContext<'a>,
    shared: Option<SharedEnd>,
    /// The hash of what is shared.
    hash: u64,
    /// The hash of the conversation's beginning.
    begins: u64,
}

impl Inner {
    /// What this request asks of the cache.
    pub(crate) fn cache_fields(
        &self,
        request: &Request,
        model: &str,
        quirks: Quirks,
        context: RequestContext<'_>,
    ) -> CacheFields {
        let plan = request.cache.unwrap_or_default();
        let setting = plan.setting.or(self.cache).unwrap_or_default();
        let is_off = setting == Cache::Off || self.wire.name == ApiKind::Gemini;
        // A request without a plan comes from outside of the runtime.
        let is_plain = setting == Cache::Auto && request.cache.is_none();
        if is_off || is_plain || setting == Cache::Auto && !self.is_own_host {
            return CacheFields::default();
        }
        let has_own = FIELDS
            .iter()
            .any(|field| request.extra.contains_key(*field));
        if has_own {
            return CacheFields::default();
        }
        let shared = shared_end(request, plan, quirks);
        let subject = CacheSubject {
            request,
            plan,
            model,
            quirks,
            context,
            shared,
            hash: shared_hash(request, model, shared),
            begins: beginning_hash(request),
        };
        let fields = match (self.wire.name, setting) {
            (_, Cache::Auto) if total_bytes(request) < LEAST_TOKENS * BYTES_OF_A_TOKEN => {
                CacheFields::default()
            }
            (ApiKind::Anthropic, Cache::Auto) => self.anthropic_auto(&subject),
            (_, Cache::Auto) => self.openai_auto(&subject),
            (ApiKind::Anthropic, time) => anthropic_by_hand(&subject, time),
            (_, time) => self.openai_by_hand(&subject, time),
        };
        self.without_refused(fields, quirks)
    }

    /// What the model has refused is not sent again, but stays noted as wanted, so
    /// that a record can say what is missing.
    fn without_refused(&self, mut fields: CacheFields, quirks: Quirks) -> CacheFields {
        let is_anthropic = self.wire.name == ApiKind::Anthropic;
        fields.unfiltered = Parts::default()
            .with_if(Part::Cache, is_anthropic && fields.marks())
            .with_if(Part::CacheOptions, fields.options.is_some())
            .with_if(Part::CacheKey, fields.key.is_some());
        if is_anthropic && quirks.leaves_out(Part::Cache) {
            return CacheFields {
                unfiltered: fields.unfiltered,
                ..CacheFields::default()
            };
        }
        if !is_anthropic && quirks.leaves_out(Part::CacheOptions) {
            fields.options = None;
            fields.shared = None;
        }
        if quirks.leaves_out(Part::CacheKey) {
            fields.key = None;
        }
        fields
    }

    /// Anthropic writes only where a mark stands. For turns of a conversation there
    /// are two: behind the system's text, which all conversations share, and at the
    /// end, which the next turn reads. For calls that share a beginning there is one,
    /// if it is likely to be read before its time is over.
    fn anthropic_auto(&self, subject: &CacheSubject<'_>) -> CacheFields {
        let fields = CacheFields {
            ttl: Some(ANTHROPIC_TTL),
            ..CacheFields::default()
        };
        if subject.plan.repeats == Repeats::Turns {
            return CacheFields {
                shared: system_end(subject.request),
                end: true,
                ..fields
            };
        }
        let share = self.share(subject, ANTHROPIC_TTL);
        match subject.shared.filter(|_| share.marks) {
            Some(shared) => CacheFields {
                shared: Some(shared),
                share,
                ..fields
            },
            None => CacheFields {
                share,
                ..CacheFields::default()
            },
        }
    }

    /// From gpt-5.6 on, the implicit mode writes at the newest message, 1.25 times
    /// the price, whether anybody reads it or not. For turns of a conversation that
    /// is right. For calls that share only a beginning the explicit mode writes
    /// what is shared, and nothing else.
    fn openai_auto(&self, subject: &CacheSubject<'_>) -> CacheFields {
        let memory = &self.cache_memory;
        let has_options = !subject.quirks.leaves_out(Part::CacheOptions);
        if subject.plan.repeats == Repeats::Turns {
            return openai_turns(subject, has_options && memory.takes_options(subject.model));
        }
        if !has_options {
            return self.older_openai_auto(subject);
        }
        let in_batch = subject.context.in_batch;
        // How a line is sent is known from itself: an order has no first request.
        let form_of_line = memory.form(subject.begins).filter(|_| !in_batch);
        let share = self.share(subject, OPENAI_TTL);
        let marks = form_of_line.map_or(share.marks, |form| form.marks) && subject.shared.is_some();
        // Until a model was asked often, a refusal of the field would cost more
        // than it saves.
        let many = memory.requests(subject.model) >= LEAST_REQUESTS;
        let is_explicit =
            marks || many || subject.plan.repeats == Repeats::Items || share.is_repeat;
        if !in_batch {
            memory.keep_form(subject.begins, marks);
        }
        let options = match is_explicit {
            true => Some(CacheOptions {
                mode: "explicit",
                ttl: None,
            }),
            false => None,
        };
        // Explicit, and without a mark: nothing is kept.
        let ttl = match marks || !is_explicit {
            true => Some(OPENAI_TTL),
            false => None,
        };
        CacheFields {
            shared: subject.shared.filter(|_| marks),
            options,
            ttl,
            share,
            ..CacheFields::default()
        }
    }

    /// Of a line, the mark that is its own. The memory has no part in it: when
    /// lines are asked, and in which order, nobody knows, so that each may be the
    /// first; and requests that are sent at once are not to wait for a line.
    fn share(&self, subject: &CacheSubject<'_>, ttl: Duration) -> Share {
        let likely = subject.likely();
        if subject.context.in_batch {
            return Share::of_line(likely);
        }
        self.cache_memory
            .share(subject.hash, subject.context.asker, likely, ttl)
    }

    /// Models up to gpt-5.5: all that is long enough is kept without being subject,
    /// on the machine that had it.
    fn older_openai_auto(&self, subject: &CacheSubject<'_>) -> CacheFields {
        let share = self.share(subject, OLDER_TTL);
        let is_likely = share.is_repeat || subject.likely() == Likely::Certain;
        let mut key = None;
        if is_likely {
            let hash = subject.plan.node ^ subject.hash;
            // Nobody knows in which minute a line is asked.
            let lane = match subject.context.in_batch {
                true => None,
                false => Some(self.cache_memory.lane(hash)),
            };
            key = Some(CacheKey { hash, lane });
        }
        CacheFields {
            key,
            ttl: Some(OLDER_TTL),
            share,
            ..CacheFields::default()
        }
    }

    /// The program says for how long: at any host, since it knows what it talks to.
    fn openai_by_hand(&self, subject: &CacheSubject<'_>, time: Cache) -> CacheFields {
        let is_long = time == Cache::Hour1;
        let ttl = match (is_long, self.wire.name) {
            (false, _) => Some("30m"),
            (true, ApiKind::Responses) => Some("12h"),
            // Chat completions have no time that long: what they keep by default is all there is.
            (true, _) => None,
        };
        let has_turns = subject.plan.repeats == Repeats::Turns || subject.request.cache.is_none();
        let shared = subject.shared.filter(|_| !has_turns);
        let mode = if shared.is_some() {
            "explicit"
        } else {
            "implicit"
        };
        let takes_key = self.is_own_host && subject.quirks.leaves_out(Part::CacheOptions);
        let key = match takes_key {
            true => Some(CacheKey {
                hash: subject.begins,
                lane: None,
            }),
            false => None,
        };
        let is_kept_for = match ttl {
            Some("12h") => OPENAI_LONG_TTL,
            _ => OPENAI_TTL,
        };
        CacheFields {
            shared,
            options: Some(CacheOptions { mode, ttl }),
            key,
            ttl: Some(is_kept_for),
            ..CacheFields::default()
        }
    }

    /// The request has ended: whether it was answered, and so may have written what it marked.
    pub(crate) fn cache_ended(&self, fields: &CacheFields, model: &str, is_answered: bool) {
        let memory = &self.cache_memory;
        memory.ended(fields.share);
        // Only at OpenAI's own host does a decision depend on them.
        let is_counted = self.wire.name != ApiKind::Anthropic && self.is_own_host;
        if is_answered && (is_counted || fields.options.is_some()) {
            memory.answered(model, fields.options.is_some());
        }
    }
}

/// In implicit mode, each turn is read back by the next one. Older models find it
/// on the machine that had it.
fn openai_turns(subject: &CacheSubject<'_>, takes_options: bool) -> CacheFields {
    let at_end = CacheFields {
        end: true,
        ..CacheFields::default()
    };
    if takes_options {
        return CacheFields {
            ttl: Some(OPENAI_TTL),
            ..at_end
        };
    }
    let key = CacheKey {
        hash: subject.begins,
        lane: None,
    };
    CacheFields {
        key: Some(key),
        ttl: Some(OLDER_TTL),
        ..at_end
    }
}

/// The end of the system's text and of the conversation; of an item of a map, what
/// its items share.
fn anthropic_by_hand(subject: &CacheSubject<'_>, time: Cache) -> CacheFields {
    let is_long = time == Cache::Hour1;
    let is_item = subject.plan.repeats == Repeats::Items;
    let shared = match is_item {
        true => subject.shared,
        false => Some(SharedEnd::System),
    };
    let ttl = match is_long {
        true => ANTHROPIC_LONG_TTL,
        false => ANTHROPIC_TTL,
    };
    CacheFields {
        shared,
        end: !is_item,
        is_long,
        ttl: Some(ttl),
        ..CacheFields::default()
    }
}

impl CacheSubject<'_> {
    /// A map has many items, so the next request is certain. Other calls may be the
    /// only one.
    fn likely(&self) -> Likely {
        match (self.shared, self.plan.repeats) {
            (None, _) => Likely::Never,
            (Some(_), Repeats::Items) => Likely::Certain,
            (Some(_), _) => Likely::IfSeen,
        }
    }
}

/// Where the part ends that the calls of a node have in common: tools, the schema,
/// the system's text, examples, and the literal beginning of the prompt. `None`: it
/// is too short to be kept.
fn shared_end(request: &Request, plan: CachePlan, quirks: Quirks) -> Option<SharedEnd> {
    let least = LEAST_TOKENS * BYTES_OF_A_TOKEN;
    let question = usize::from(request.question?);
    let before = request.messages.get(..question)?;
    let prompt = request.messages.get(question)?;
    let behind = request.messages.len() - 1 - question;
    let mut fixed = unwritten_bytes(request);
    for message in before {
        fixed += message.content.len();
    }
    // How many bytes of the prompt are the node's own text, before its first
    // variable.
    let literal = plan.shared_text.min(prompt.content.len());
    // The system's text then stands in the user's message.
    if quirks.leaves_out(Part::System) || fixed + literal < least {
        return None;
    }
    if literal >= LEAST_LITERAL_BYTES && literal < prompt.content.len() {
        return Some(SharedEnd::Within(behind, literal));
    }
    if fixed < least {
        return None;
    }
    // An answer of an example takes no mark; what the user said before it does.
    let last = before
        .iter()
        .rposition(|message| message.role != Role::Assistant)?;
    match before[last].role {
        Role::System => Some(SharedEnd::System),
        _ => Some(SharedEnd::Message(request.messages.len() - 1 - last)),
    }
}

/// The system's text, if it and what stands before it are long enough to be kept.
fn system_end(request: &Request) -> Option<SharedEnd> {
    let mut bytes = 0;
    for message in &request.messages {
        if message.role != Role::System {
            break;
        }
        bytes += message.content.len();
    }
    let is_long = bytes + unwritten_bytes(request) >= LEAST_TOKENS * BYTES_OF_A_TOKEN;
    if bytes == 0 || !is_long {
        return None;
    }
    Some(SharedEnd::System)
}

/// Of the tools and the schema of the answer.
fn unwritten_bytes(request: &Request) -> usize {
    let mut bytes = 0;
    for tool in request.tools.iter() {
        bytes += tool.schema.plain().get().len();
        bytes += tool.description.len();
    }
    if let Some(schema) = &request.output {
        bytes += schema.plain().get().len();
    }
    bytes
}

/// A lower bound of what the provider counts.
fn total_bytes(request: &Request) -> usize {
    let mut bytes = unwritten_bytes(request);
    for message in &request.messages {
        bytes += message.content.len();
    }
    bytes
}

/// Of exactly what the mark ends, model included.
fn shared_hash(request: &Request, model: &str, shared: Option<SharedEnd>) -> u64 {
    let end = match shared {
        None => return 0,
        Some(SharedEnd::System) => request
            .messages
            .iter()
            .position(|message| message.role != Role::System),
        Some(SharedEnd::Message(behind)) => Some(request.messages.len() - behind),
        Some(SharedEnd::Within(behind, _)) => Some(request.messages.len() - 1 - behind),
    };
    let end = end.unwrap_or(request.messages.len());
    let mut hash = fnv(model.as_bytes());
    for tool in &*request.tools {
        hash = joined(hash, &tool.name);
        hash = joined(hash, &tool.description);
    }
    if let Some(schema) = request.output.as_deref() {
        hash = joined(hash, schema.plain().get());
    }
    for message in &request.messages[..end] {
        hash = joined(hash, &message.content);
    }
    if let Some(SharedEnd::Within(_, bytes)) = shared {
        let literal = request.messages[end]
            .content
            .get(..bytes)
            .unwrap_or_default();
        hash = joined(hash, literal);
    }
    hash
}

/// Of all up to the user's first message, which every turn of a conversation has.
fn beginning_hash(request: &Request) -> u64 {
    let mut messages = request.messages.iter();
    let length = match messages.position(|message| message.role == Role::User) {
        Some(at) => at + 1,
        None => 1,
    };
    let mut hash = fnv(b"");
    for message in request.messages.iter().take(length) {
        hash = joined(hash, &message.content);
    }
    hash
}

/// Rotated, so that the order of texts counts.
fn joined(hash: u64, text: &str) -> u64 {
    hash.rotate_left(5) ^ fnv(text.as_bytes())
}
