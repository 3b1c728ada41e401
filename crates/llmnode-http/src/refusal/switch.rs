//! By which of OpenAI's two APIs a model is asked.
//!
//! OpenAI's own host is asked by Responses, other servers by chat completions, and
//! a user's choice is never changed. Where nobody chose, a refusal that names the
//! other API, or a path that is not there, leads to the other one: for this call at
//! once, for other calls of the model once it has been answered. Where tools are
//! only refused beside thoughts and there is no Responses API, chat is asked
//! without thoughts.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::beliefs::Asker;

/// Models of one base URL. When full, all are forgotten.
const MOST_MODELS: usize = 256;
/// Calls of one model that are under way.
const MOST_CALLS: usize = 4096;
/// A way that nobody used for so long is forgotten.
const UNUSED: Duration = Duration::from_secs(3600);

/// An API, and how it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Chat,
    /// With `reasoning_effort: "none"`, for models that take tools by chat only so.
    ChatWithoutThoughts,
    Responses,
}

impl Way {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Way::Chat => "chat",
            Way::ChatWithoutThoughts => "chat, without thoughts",
            Way::Responses => "responses",
        }
    }
}

/// What is known of the way to a model.
/// By tools: many models need the other API for them alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Learned {
    way: Way,
    /// Requests without tools are asked as before.
    with_tools: bool,
}

impl Learned {
    fn applies(self, has_tools: bool) -> bool {
        has_tools || !self.with_tools
    }
}

/// Forgotten if nobody uses it, as models change.
#[derive(Debug)]
struct Kept {
    learned: Learned,
    used: Instant,
}

#[derive(Debug, Default)]
struct OfModel {
    kept: Vec<Kept>,
    calls: VecDeque<(Asker, Vec<Learned>)>,
}

/// `first` is asked where nothing is known.
#[derive(Debug)]
pub(crate) struct Switch {
    first: Way,
    is_chosen: bool,
    models: Mutex<HashMap<String, OfModel>>,
}

/// A refusal, and the request that it is about.
pub(crate) struct RefusedWay<'a> {
    pub(crate) status: u16,
    /// Without the words of the prompt.
    pub(crate) text: &'a str,
    pub(crate) names_a_missing_model: bool,
    pub(crate) way: Way,
    pub(crate) tools: bool,
    /// Whether thoughts can be switched off: the program does not set them by `extra`.
    pub(crate) can_be_without_thoughts: bool,
}

impl Switch {
    pub(crate) fn chosen(first: Way) -> Switch {
        Switch {
            first,
            is_chosen: true,
            models: Mutex::default(),
        }
    }

    pub(crate) fn by_default(first: Way) -> Switch {
        Switch {
            first,
            is_chosen: false,
            models: Mutex::default(),
        }
    }

    pub(crate) fn first(&self) -> Way {
        self.first
    }

    pub(crate) fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// What this call has tried last, else what is known of the model.
    pub(crate) fn way(&self, model: &str, asker: Asker, tools: bool) -> Way {
        let mut models = self.lock();
        let Some(of_model) = models.get_mut(model) else {
            return self.first;
        };
        let of_call = of_model.calls.iter().find(|(call, _)| *call == asker);
        let tried = of_call.map_or(&[][..], |(_, tried)| tried);
        if let Some(last) = tried.iter().rfind(|learned| learned.applies(tools)) {
            return last.way;
        }
        of_model.kept.retain(|kept| kept.used.elapsed() < UNUSED);
        let fitting = of_model
            .kept
            .iter_mut()
            .rfind(|kept| kept.learned.applies(tools));
        fitting.map_or(self.first, |kept| {
            kept.used = Instant::now();
            kept.learned.way
        })
    }

    /// Returns whether there is another way, which the next request of this call takes.
    pub(crate) fn learns(&self, model: &str, asker: Asker, refused: &RefusedWay<'_>) -> bool {
        let mut models = self.lock();
        if models.len() >= MOST_MODELS && !models.contains_key(model) {
            models.clear();
        }
        let of_model = models.entry(model.to_owned()).or_default();
        let tried = of_model
            .calls
            .iter()
            .find(|(call, _)| *call == asker)
            .map_or(&[][..], |(_, tried)| tried);
        let next = self.next(
            refused,
            |way| tried.iter().any(|learned| learned.way == way) || way == refused.way,
            !tried.is_empty(),
        );
        let Some(learned) = next else {
            return false;
        };
        let at = of_model
            .calls
            .iter()
            .position(|(call, _)| *call == asker)
            .unwrap_or_else(|| {
                if of_model.calls.len() >= MOST_CALLS {
                    of_model.calls.pop_front();
                }
                of_model.calls.push_back((asker, Vec::new()));
                of_model.calls.len() - 1
            });
        of_model.calls[at].1.push(learned);
        true
    }

    /// Each way is tried once in a call, so that two APIs that send each other
    /// requests end.
    fn next(
        &self,
        refused: &RefusedWay<'_>,
        has_tried: impl Fn(Way) -> bool,
        has_switched: bool,
    ) -> Option<Learned> {
        let RefusedWay {
            tools,
            can_be_without_thoughts,
            way,
            ..
        } = *refused;
        let without_thoughts = Learned {
            way: Way::ChatWithoutThoughts,
            with_tools: true,
        };
        let without_thoughts = Some(without_thoughts).filter(|_| tools && can_be_without_thoughts);
        match way {
            Way::Chat if names_responses(refused) => {
                let with_tools = tools && refused.status != 404;
                let responses = Learned {
                    way: Way::Responses,
                    with_tools,
                };
                let may_switch = !self.is_chosen && !has_tried(Way::Responses);
                Some(responses)
                    .filter(|_| may_switch)
                    .or(without_thoughts.filter(|_| with_tools))
            }
            Way::Responses if self.is_chosen => None,
            Way::Responses if is_missing(refused) && has_switched => without_thoughts,
            Way::Responses if is_missing(refused) || leads_to_chat(refused) => Some(Learned {
                way: Way::Chat,
                with_tools: false,
            })
            .filter(|chat| !has_tried(chat.way)),
            _ => None,
        }
    }

    /// What was tried last has helped, so it is kept.
    pub(crate) fn answered(&self, model: &str, asker: Asker) {
        let mut models = self.lock();
        let Some(of_model) = models.get_mut(model) else {
            return;
        };
        let Some(at) = of_model.calls.iter().position(|(call, _)| *call == asker) else {
            return;
        };
        let Some((_, tried)) = of_model.calls.remove(at) else {
            return;
        };
        if let Some(learned) = tried.last().copied() {
            of_model
                .kept
                .retain(|kept| kept.learned.with_tools != learned.with_tools);
            of_model.kept.push(Kept {
                learned,
                used: Instant::now(),
            });
        }
    }

    /// Models that are not asked by [`first`](Self::first).
    pub(crate) fn learned(&self) -> BTreeMap<String, &'static str> {
        let models = self.lock();
        let lessons = models.iter().filter_map(|(model, of_model)| {
            let way = of_model.kept.last()?.learned.way;
            (way != self.first).then(|| (model.clone(), way.as_str()))
        });
        lessons.collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, OfModel>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// OpenAI, Azure, LiteLLM.
pub(crate) fn names_responses(refused: &RefusedWay<'_>) -> bool {
    let named = ["v1/responses", "responses api", "/responses endpoint"];
    matches!(refused.status, 400 | 404 | 422)
        && named.iter().any(|name| refused.text.contains(name))
}

/// Keys may be restricted to one API; some models are only asked by chat.
fn leads_to_chat(refused: &RefusedWay<'_>) -> bool {
    match refused.status {
        401 | 403 => refused.text.contains("api.responses.write"),
        400 | 404 | 422 => ["v1/chat/completions", "chat completions api"]
            .iter()
            .any(|name| refused.text.contains(name)),
        _ => false,
    }
}

/// Not a model that is missing.
fn is_missing(refused: &RefusedWay<'_>) -> bool {
    matches!(refused.status, 404 | 405 | 501) && !refused.names_a_missing_model
}
