//! The two APIs of OpenAI's models behind one handle, and which of them a request takes.
//!
//! In this order: what the user chose; of nobody's choice, chat completions at
//! OpenAI's host for what Responses cannot say ([`CHAT_ONLY`], audio); what was
//! learned from refusals ([`Switch`]); Responses at OpenAI's host, chat completions
//! elsewhere. Nothing that is stored depends on it: journals, cassettes and
//! fingerprints hold the request of the model, not of the API.

use std::fmt;
use std::sync::Arc;

use llmnode_model::gate::Gates;
use llmnode_model::{
    ApiKind, Attachment, BoxFuture, ChatModel, Completion, ModelError, Request, RetryBudget, Sink,
};

#[cfg(feature = "batch")]
use super::batch::{ChooseApi, ChosenApi, OpenAiBatches};
use super::chat::CHAT;
use super::responses::RESPONSES;
use crate::api::inner::Inner;
use crate::api::prepared_request::RequestContext;
use crate::api::settings::ClientSettings;
use crate::http::endpoint::Endpoint;
use crate::http::url::Url;
use crate::refusal::beliefs::Asker;
use crate::refusal::switch::{Switch, Way};

/// Members of a request for chat completions that one for Responses has not: the
/// difference of the two schemas in OpenAI's published document, without
/// `messages`.
const CHAT_ONLY: [&str; 18] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "modalities",
    "n",
    "prediction",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "verbosity",
    "web_search_options",
];

/// A model behind OpenAI's API or a compatible one. It is a cheap handle: clones
/// share the connections, the
/// [`RetryBudget`](llmnode_model::RetryBudget), and what was learned about models.
///
/// OpenAI's own host is asked by its Responses API, and any other server by chat
/// completions, unless
/// [`responses`](OpenAi::responses) or [`chat_completions`](OpenAi::chat_completions) says otherwise. Where nobody chose and a
/// server says that the model needs the other API, it is asked by that one. At
/// OpenAI's host, a request with audio, or with a field in `extra` that only chat
/// completions have (such as `stop`, `seed` or `reasoning_effort`), goes to these.
///
/// The handle learns from refusals: if a model refuses a setting (`max_tokens`
/// instead of `max_completion_tokens`, a `temperature`, a response format of
/// schemas), the same call goes on without it, and later calls are asked so from
/// the beginning. If a model takes no schema, or answers with something other than
/// JSON of the schema, a form of the answer goes into the system message.
///
/// ```no_run
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::OpenAi;
///
/// # fn main() -> Result<(), llmnode_model::ModelError> {
/// let model = OpenAi::from_env()?; // OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL
/// # let _ = model;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenAi(pub(super) Arc<Apis>);

/// What all clones of a handle share.
/// Both have the same server, key, connections and retry budget, and each its own
/// beliefs: what one refuses, the other may take.
pub(super) struct Apis {
    chat: Arc<Inner>,
    responses: Arc<Inner>,
    switch: Switch,
}

impl Apis {
    /// The settings are those of the API that is asked first.
    fn new(settings: ClientSettings) -> Result<Apis, ModelError> {
        let is_chosen = settings.is_api_chosen;
        let chosen = if settings.wire.name == ApiKind::Responses {
            Way::Responses
        } else {
            Way::Chat
        };
        let chat = ClientSettings {
            wire: &CHAT,
            ..settings
        }
        .build()?;
        let endpoint = responses_endpoint(&chat.service.endpoint);
        let responses = chat.at(&RESPONSES, endpoint);
        let switch = match is_openais(&chat.service.endpoint.url) {
            _ if is_chosen => Switch::chosen(chosen),
            true => Switch::by_default(Way::Responses),
            false => Switch::by_default(Way::Chat),
        };
        Ok(Apis {
            chat: Arc::new(chat),
            responses: Arc::new(responses),
            switch,
        })
    }

    /// A handle for one API, whatever a server says.
    fn chosen(&self, way: Way) -> OpenAi {
        let chat = Arc::clone(&self.chat);
        let responses = Arc::clone(&self.responses);
        OpenAi(Arc::new(Apis {
            chat,
            responses,
            switch: Switch::chosen(way),
        }))
    }

    pub(super) fn chat(&self) -> &Inner {
        &self.chat
    }

    fn first(&self) -> &Inner {
        self.by(self.switch.first())
    }

    /// Chat without thoughts is the same API, asked in another way.
    fn by(&self, way: Way) -> &Inner {
        match way {
            Way::Chat | Way::ChatWithoutThoughts => &self.chat,
            Way::Responses => &self.responses,
        }
    }

    /// For this request, by what was learned of its model.
    fn way(&self, request: &Request) -> Way {
        let Some(model) = self.chat.model_of(request) else {
            return self.switch.first();
        };
        let way = self
            .switch
            .way(model, Asker::of(request), !request.tools.is_empty());
        let is_at_openai = !self.switch.is_chosen() && self.switch.first() == Way::Responses;
        if is_at_openai && way == Way::Responses && needs_chat(request) {
            Way::Chat
        } else {
            way
        }
    }

    fn of(&self, request: &Request) -> &Inner {
        self.by(self.way(request))
    }
}

/// Also the hosts of its regions, such as `eu.api.openai.com`.
fn is_openais(url: &Url) -> bool {
    url.host() == "api.openai.com" || url.host().ends_with(".api.openai.com")
}

/// What Responses cannot say at all.
fn needs_chat(request: &Request) -> bool {
    let mut attachments = request
        .messages
        .iter()
        .flat_map(|message| message.attachments());
    CHAT_ONLY
        .iter()
        .any(|field| request.extra.contains_key(*field))
        || attachments.any(|attachment| matches!(attachment, Attachment::Audio(_)))
}

/// The versions of Azure's older API that have Responses. Others are asked by its
/// newer API, which has no version.
const AZURE_VERSIONS: [&str; 2] = ["2025-03-01-preview", "2025-04-01-preview"];

/// Azure has Responses beside the deployments, not within one.
fn responses_endpoint(chat: &Endpoint) -> Endpoint {
    let endpoint = chat.with_path(RESPONSES.api.path);
    let Some((resource, _)) = chat.url.path().split_once("/openai/deployments/") else {
        return endpoint;
    };
    let query = chat.url.query().unwrap_or_default();
    let mut version = None;
    let mut others: Vec<&str> = Vec::new();
    for pair in query.split('&') {
        match pair.strip_prefix("api-version=") {
            Some(value) => version = version.or(Some(value)),
            None => others.push(pair),
        }
    }
    if version.is_some_and(|version| AZURE_VERSIONS.contains(&version)) {
        return endpoint.at(&format!("{resource}/openai/responses"), query);
    }
    endpoint.at(
        &format!("{resource}/openai/v1/responses"),
        &others.join("&"),
    )
}

impl OpenAi {
    pub(crate) fn of_settings(settings: ClientSettings) -> Result<OpenAi, ModelError> {
        Ok(OpenAi(Arc::new(Apis::new(settings)?)))
    }

    /// Asks by the Responses API from now on, on the same server and with the same
    /// settings, whatever the server says. What was learned about models stays
    /// learned.
    ///
    /// At OpenAI's own host, this is the default. The server keeps nothing (`store:
    /// false`): the conversation belongs to the program, and encrypted reasoning
    /// goes back with the calls of tools.
    ///
    /// ```no_run
    /// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
    /// use llmnode::OpenAi;
    ///
    /// # fn main() -> Result<(), llmnode_model::ModelError> {
    /// let model = OpenAi::builder().base_url("https://gateway.example/v1").api_key("…").build()?.responses();
    /// # let _ = model;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn responses(self) -> OpenAi {
        self.0.chosen(Way::Responses)
    }

    /// Asks by chat completions from now on, on the same server and with the same
    /// settings, whatever the server says. What was learned about models stays
    /// learned.
    ///
    /// Everywhere but at OpenAI's own host, this is the default. Some of OpenAI's
    /// models take no tools by this API.
    ///
    /// ```no_run
    /// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
    /// use llmnode::OpenAi;
    ///
    /// # fn main() -> Result<(), llmnode_model::ModelError> {
    /// let model = OpenAi::from_env()?.chat_completions();
    /// # let _ = model;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn chat_completions(self) -> OpenAi {
        self.0.chosen(Way::Chat)
    }
}

#[cfg(feature = "batch")]
impl ChooseApi for Apis {
    fn choose(&self, request: &Request) -> ChosenApi<'_> {
        let way = self.way(request);
        let context = RequestContext {
            asker: Asker::of(request),
            switch: Some(&self.switch),
            without_thoughts: way == Way::ChatWithoutThoughts,
            in_batch: true,
        };
        ChosenApi {
            inner: self.by(way),
            is_responses: way == Way::Responses,
            context,
        }
    }

    fn endpoint(&self) -> &Arc<Inner> {
        &self.chat
    }
}

impl ChatModel for OpenAi {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let way = self.0.way(request);
        let without_thoughts = way == Way::ChatWithoutThoughts;
        let context = RequestContext {
            asker: Asker::of(request),
            switch: Some(&self.0.switch),
            without_thoughts,
            in_batch: false,
        };
        Box::pin(self.0.by(way).complete(request, context, sink))
    }

    fn model(&self) -> Option<&str> {
        self.0.chat.model.as_deref()
    }

    fn provider(&self) -> &str {
        CHAT.provider
    }

    fn unenforced(&self, request: &Request) {
        self.0.of(request).unenforced(request);
    }

    fn calls_in_text(&self, request: &Request) -> bool {
        self.0.of(request).calls_in_text(request)
    }

    fn api_kind(&self) -> Option<ApiKind> {
        Some(self.0.first().wire.name)
    }

    fn max_tokens(&self, request: &Request) -> Option<u32> {
        self.0.of(request).max_tokens(request)
    }

    fn has_default_limit(&self, request: &Request) -> bool {
        self.0.of(request).has_default_limit(request)
    }

    fn shares_beginning(&self, request: &Request) -> bool {
        self.0.of(request).shares_beginning(request)
    }

    fn searches_tools(&self, request: &Request) -> bool {
        self.0.of(request).searches_tools(request)
    }

    fn window(&self, request: &Request) -> Option<u64> {
        self.0.of(request).window(request)
    }

    fn learn_window(&self, request: &Request, tokens: u64) {
        self.0.of(request).learn_window(request, tokens);
    }

    fn retry_budget(&self) -> Option<&RetryBudget> {
        Some(&self.0.chat.retry_budget)
    }

    fn gates(&self) -> Option<&Gates> {
        Some(&self.0.chat.gates)
    }

    fn server(&self) -> Option<(&str, u16)> {
        self.0.chat.service.endpoint.server()
    }

    #[cfg(feature = "batch")]
    fn batch_api(&self) -> Option<Arc<dyn llmnode_model::batch::BatchWire>> {
        let url = &self.0.chat.service.endpoint.url;
        let is_listed = is_openais(url) || url.is_loopback();
        is_listed.then(|| OpenAiBatches::over(Arc::clone(&self.0) as Arc<dyn ChooseApi>))
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Apis { switch, .. } = &*self.0;
        let first = self.0.first();
        let mut shown = f.debug_struct("OpenAi");
        shown.field("endpoint", &first.service.endpoint.shown);
        shown.field("api", &format_args!("{}", first.wire.name));
        shown.field("model", &first.model);
        let learned = switch.learned();
        if !learned.is_empty() {
            shown.field("learned", &learned);
        }
        shown.finish_non_exhaustive()
    }
}
