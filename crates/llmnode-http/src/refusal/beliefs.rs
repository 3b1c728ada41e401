//! What a handle believes about the models at its base URL, and how long.
//!
//! A refusal is first believed for the call that met it. Once the request that was
//! changed by it has been answered, it has helped, and all calls are asked so: see
//! [`Beliefs::answered`]. What did not help goes with its call. After an hour, one
//! request that begins a conversation is sent in its full form again
//! ([`Beliefs::begin`]): models and servers change. If it is answered, what was
//! believed is forgotten; if it is refused, it is believed for another hour.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use llmnode_model::{CallId, Message, Request, Role};
use tokio::time::Instant;

use super::parts::{Condition, Fact, Situation};
use super::quirks::Quirks;

/// Models of one base URL. When full, all are forgotten.
const MOST_MODELS: usize = 256;
/// What is believed of one model. When full, the oldest is forgotten.
const MOST_BELIEFS: usize = 128;
/// Calls of one model that have their own beliefs.
const MOST_CALLS: usize = 4096;
const LIFETIME: Duration = Duration::from_secs(3600);

/// A call, or a request of no call, by what it says.
/// A call adapts by itself: what one call tries out, others are not asked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Call(CallId),
    Request(u64),
}

impl Asker {
    /// Attempts of one call are one.
    pub(crate) fn of(request: &Request) -> Asker {
        match request.correlation {
            Some(attempt) => Asker::Call(attempt.call()),
            None => {
                let mut hasher = DefaultHasher::new();
                request.model.hash(&mut hasher);
                request
                    .messages
                    .iter()
                    .for_each(|message| message.content.hash(&mut hasher));
                Asker::Request(hasher.finish())
            }
        }
    }
}

/// What is not taken, and together with what.
#[derive(Clone, Debug, PartialEq)]
struct Belief {
    fact: Fact,
    condition: Condition,
}

/// Believed for all calls, since a time.
#[derive(Debug)]
struct Kept {
    belief: Belief,
    since: Instant,
}

/// What one call has changed so far.
#[derive(Debug)]
struct Tried {
    belief: Belief,
    /// The server's words, by their hash.
    words_hash: u64,
    /// The next refusal said the same.
    helped: bool,
}

#[derive(Debug)]
struct OfCall {
    asker: Asker,
    tried: Vec<Tried>,
    /// What this call is sent in spite of.
    doubted: Vec<Belief>,
}

/// All that is believed of one model. Counts of entries are bounded, so that a
/// server that gives each request another reason costs no memory.
#[derive(Debug, Default)]
struct OfModel {
    kept: Vec<Kept>,
    calls: VecDeque<OfCall>,
    calls_natively: bool,
    unenforced: Option<CallId>,
    /// In tokens, as the newest refusal of a long prompt named it.
    window: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Beliefs(Mutex<HashMap<String, OfModel>>);

impl Beliefs {
    /// Called for each request: what is kept and holds in this situation, and what
    /// this call has tried.
    pub(crate) fn quirks(&self, model: &str, asker: Asker, situation: Situation<'_>) -> Quirks {
        let mut quirks = Quirks::default();
        let mut models = self.lock();
        let Some(of_model) = models.get_mut(model) else {
            return quirks;
        };
        quirks.calls_natively = of_model.calls_natively;
        quirks.unenforced = of_model.unenforced;
        let OfModel { kept, calls, .. } = of_model;
        let of_call = calls.iter().find(|call| call.asker == asker);
        for Kept { belief, since } in kept {
            let is_doubted = of_call.is_some_and(|call| call.doubted.contains(belief));
            if is_doubted || !belief.condition.holds(situation) {
                continue;
            }
            if belief.fact.lasts() {
                *since = Instant::now();
            }
            quirks.add(&belief.fact, situation);
        }
        let tried = of_call.into_iter().flat_map(|call| &call.tried);
        tried.for_each(|tried| quirks.add(&tried.belief.fact, situation));
        quirks
    }

    /// A request that begins a conversation is about to be sent. One an hour is
    /// sent in its full form.
    pub(crate) fn begin(&self, model: &str, asker: Asker) {
        let mut models = self.lock();
        let Some(of_model) = models.get_mut(model) else {
            return;
        };
        let mut doubted = Vec::new();
        for Kept { belief, since } in &mut of_model.kept {
            if since.elapsed() >= LIFETIME {
                // For others, it is believed until this request is answered.
                *since = Instant::now();
                doubted.push(belief.clone());
            }
        }
        if !doubted.is_empty() {
            of_model.call(asker).doubted = doubted;
        }
    }

    /// A refusal has taught something, which is tried from now on by this call alone:
    /// only when a request is answered, it is believed for others, too.
    ///
    /// `words_hash`: of the server's words. If the same words come again, the last
    /// change has not helped.
    pub(crate) fn learn(
        &self,
        model: &str,
        asker: Asker,
        fact: Fact,
        condition: Condition,
        words_hash: u64,
    ) {
        let mut models = self.lock();
        let call = entry(&mut models, model).call(asker);
        let belief = Belief { fact, condition };
        // A trial of much that is still refused ends at the second refusal: a call
        // adapts only a few times.
        match call.tried.is_empty() {
            true => call.doubted.retain(|doubted| *doubted != belief),
            false => call.doubted.clear(),
        }
        if let Some(last) = call.tried.last_mut() {
            last.helped &= last.words_hash != words_hash;
        }
        call.tried.push(Tried {
            belief,
            words_hash,
            helped: true,
        });
    }

    /// The request was refused, for a reason that nobody reads, or not for the
    /// first time. Returns whether it was a trial of the full form, which is over.
    pub(crate) fn end_trial(&self, model: &str, asker: Asker) -> bool {
        let mut models = self.lock();
        let call = models
            .get_mut(model)
            .and_then(|of_model| of_model.calls.iter_mut().find(|call| call.asker == asker));
        call.is_some_and(|call| !std::mem::take(&mut call.doubted).is_empty())
    }

    /// The request was answered: what changed it has helped, and what was left in
    /// spite of a belief is taken.
    pub(crate) fn answered(&self, model: &str, asker: Asker) {
        let mut models = self.lock();
        let Some(of_model) = models.get_mut(model) else {
            return;
        };
        let Some(at) = of_model.calls.iter().position(|call| call.asker == asker) else {
            return;
        };
        let call = &mut of_model.calls[at];
        let doubted = std::mem::take(&mut call.doubted);
        let (of_call, kept): (Vec<Tried>, Vec<Tried>) = std::mem::take(&mut call.tried)
            .into_iter()
            .partition(|tried| !tried.belief.fact.is_kept());
        call.tried = of_call;
        if call.tried.is_empty() {
            of_model.calls.remove(at);
        }
        of_model.kept.retain(|kept| !doubted.contains(&kept.belief));
        kept.into_iter()
            .filter(|tried| tried.helped)
            .for_each(|tried| of_model.keep(tried.belief));
    }

    /// The model answered with text where it had to call.
    pub(crate) fn unforced(&self, model: &str) {
        self.ignores(model, Fact::ForcedChoice);
    }

    /// The model called another tool than the one it had to call, as with
    /// llama.cpp, which reads no choice but a word.
    pub(crate) fn unnamed(&self, model: &str) {
        self.ignores(model, Fact::NamedChoice);
    }

    /// The server has not refused a choice but ignored it. That is known at once, from
    /// the answer, so nothing has to be tried.
    fn ignores(&self, model: &str, fact: Fact) {
        let condition = Condition {
            with_tools: true,
            ..Condition::default()
        };
        entry(&mut self.lock(), model).keep(Belief { fact, condition });
    }

    /// The model writes calls natively, so none are looked for in its text.
    pub(crate) fn called(&self, model: &str) {
        entry(&mut self.lock(), model).calls_natively = true;
    }

    /// The first call that noticed; see `messages.rs` for what it means to that
    /// call and to others.
    pub(crate) fn unenforced(&self, model: &str, call: CallId) {
        entry(&mut self.lock(), model)
            .unenforced
            .get_or_insert(call);
    }

    pub(crate) fn window(&self, model: &str) -> Option<u64> {
        self.lock().get(model)?.window
    }

    pub(crate) fn learn_window(&self, model: &str, tokens: u64) {
        entry(&mut self.lock(), model).window = Some(tokens);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, OfModel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program that makes up names of models must not fill the memory: then all are
/// forgotten, which costs a refusal each.
fn entry<'a>(all: &'a mut HashMap<String, OfModel>, model: &str) -> &'a mut OfModel {
    if all.len() >= MOST_MODELS && !all.contains_key(model) {
        all.clear();
    }
    all.entry(model.to_owned()).or_default()
}

impl OfModel {
    /// Newest last.
    fn keep(&mut self, belief: Belief) {
        self.kept.retain(|kept| kept.belief != belief);
        if self.kept.len() >= MOST_BELIEFS {
            self.kept.remove(0);
        }
        self.kept.push(Kept {
            belief,
            since: Instant::now(),
        });
    }

    /// The call's entry; a new one takes the place of the oldest.
    fn call(&mut self, asker: Asker) -> &mut OfCall {
        let at = self
            .calls
            .iter()
            .position(|call| call.asker == asker)
            .unwrap_or_else(|| {
                if self.calls.len() >= MOST_CALLS {
                    self.calls.pop_front();
                }
                self.calls.push_back(OfCall {
                    asker,
                    tried: Vec::new(),
                    doubted: Vec::new(),
                });
                self.calls.len() - 1
            });
        &mut self.calls[at]
    }
}

/// Whether nothing was answered yet: a change of what is sent then costs no cache and no thoughts.
pub(crate) fn begins(messages: &[Message]) -> bool {
    messages
        .iter()
        .all(|message| matches!(message.role, Role::System | Role::User))
}

#[cfg(test)]
mod tests {
    use super::super::parts::Part;
    use super::*;

    const FACT: Fact = Fact::LeaveOut(Part::Temperature);

    fn leaves_out(beliefs: &Beliefs, model: &str, asker: Asker) -> bool {
        beliefs
            .quirks(model, asker, Situation::default())
            .leaves_out(Part::Temperature)
    }

    fn learn(beliefs: &Beliefs, asker: u64, words_hash: u64) {
        beliefs.learn(
            "m",
            Asker::Request(asker),
            FACT,
            Condition::default(),
            words_hash,
        );
    }

    #[test]
    fn what_helped_is_kept_and_what_did_not_goes_with_its_call() {
        let beliefs = Beliefs::default();
        learn(&beliefs, 1, 0);
        assert!(leaves_out(&beliefs, "m", Asker::Request(1)));
        assert!(
            !leaves_out(&beliefs, "m", Asker::Request(2)),
            "it has not helped yet"
        );
        beliefs.answered("m", Asker::Request(2));
        assert!(
            !leaves_out(&beliefs, "m", Asker::Request(2)),
            "another's answer says nothing"
        );
        beliefs.answered("m", Asker::Request(1));
        assert!(leaves_out(&beliefs, "m", Asker::Request(2)));
        assert!(!leaves_out(&beliefs, "other", Asker::Request(2)));
        // The same words again: leaving it out was not what they asked for.
        let beliefs = Beliefs::default();
        learn(&beliefs, 1, 7);
        beliefs.learn(
            "m",
            Asker::Request(1),
            Fact::OlderLimit,
            Condition::default(),
            7,
        );
        beliefs.answered("m", Asker::Request(1));
        let quirks = beliefs.quirks("m", Asker::Request(2), Situation::default());
        assert!(quirks.max_completion_tokens && !quirks.leaves_out(Part::Temperature));
    }

    #[tokio::test(start_paused = true)]
    async fn after_an_hour_one_request_tries_again() {
        let beliefs = Beliefs::default();
        learn(&beliefs, 1, 0);
        beliefs.answered("m", Asker::Request(1));
        beliefs.begin("m", Asker::Request(2));
        assert!(leaves_out(&beliefs, "m", Asker::Request(2)), "not yet");
        // Refused again: believed for another hour.
        tokio::time::advance(LIFETIME).await;
        beliefs.begin("m", Asker::Request(3));
        beliefs.begin("m", Asker::Request(4));
        assert!(
            !leaves_out(&beliefs, "m", Asker::Request(3))
                && leaves_out(&beliefs, "m", Asker::Request(4))
        );
        learn(&beliefs, 3, 0);
        beliefs.answered("m", Asker::Request(3));
        assert!(leaves_out(&beliefs, "m", Asker::Request(5)));
        // For a reason that nobody reads: the trial ends.
        tokio::time::advance(LIFETIME).await;
        beliefs.begin("m", Asker::Request(6));
        assert!(
            beliefs.end_trial("m", Asker::Request(6)) && !beliefs.end_trial("m", Asker::Request(6))
        );
        assert!(leaves_out(&beliefs, "m", Asker::Request(6)));
        // Taken: forgotten.
        tokio::time::advance(LIFETIME).await;
        beliefs.begin("m", Asker::Request(7));
        beliefs.answered("m", Asker::Request(7));
        assert!(!leaves_out(&beliefs, "m", Asker::Request(8)));
    }

    #[test]
    fn what_is_of_one_call_stays_its_own() {
        let beliefs = Beliefs::default();
        for fact in [
            Fact::LeaveOut(Part::Carried),
            Fact::MostTokens(100),
            Fact::MostTokens(4096),
        ] {
            beliefs.learn("m", Asker::Request(1), fact, Condition::default(), 0);
            beliefs.answered("m", Asker::Request(1));
        }
        let of = |asker| beliefs.quirks("m", Asker::Request(asker), Situation::default());
        assert_eq!(
            (of(1).most_tokens, of(1).leaves_out(Part::Carried)),
            (Some(100), true)
        );
        assert_eq!(
            (of(2).most_tokens, of(2).leaves_out(Part::Carried)),
            (Some(4096), false)
        );
    }

    #[test]
    fn a_part_is_left_out_with_what_it_was_refused_beside() {
        let beliefs = Beliefs::default();
        let condition = Condition {
            with_tools: true,
            ..Condition::default()
        };
        beliefs.learn("m", Asker::Request(1), FACT, condition, 0);
        beliefs.answered("m", Asker::Request(1));
        for tools in [false, true] {
            let situation = Situation {
                tools,
                ..Situation::default()
            };
            let quirks = beliefs.quirks("m", Asker::Request(2), situation);
            assert_eq!(quirks.leaves_out(Part::Temperature), tools);
        }
    }

    #[test]
    fn the_memory_is_bounded() {
        let beliefs = Beliefs::default();
        for number in 0..2 * MOST_CALLS as u64 {
            learn(&beliefs, number, 0);
        }
        assert!(beliefs.lock()["m"].calls.len() <= MOST_CALLS);
        for number in 0..10 * MOST_BELIEFS as u64 {
            let fact = Fact::Schema(number.to_string(), Default::default());
            beliefs.learn("m", Asker::Request(number), fact, Condition::default(), 0);
            beliefs.answered("m", Asker::Request(number));
        }
        assert!(beliefs.lock()["m"].kept.len() <= MOST_BELIEFS);
        for model in 0..10 * MOST_MODELS {
            beliefs.called(&model.to_string());
        }
        assert!(beliefs.lock().len() <= MOST_MODELS);
    }
}
