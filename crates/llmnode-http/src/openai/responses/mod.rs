//! OpenAI's Responses API, without anything that the server would have to remember.

mod answer;
mod items;
mod request;
mod stream;
mod usage;

use std::sync::Arc;

use super::config::OpenAiBuilder;
use super::{CHAT, OpenAi};
use crate::api::inner::Inner;
use crate::api::sent_calls::IdForm;
use crate::api::wire::Wire;
use crate::http::capabilities::Capabilities;
use crate::http::endpoint::ApiPath;
use crate::http::reasoning::Efforts;
use crate::http::redirects::Redirects;
use crate::http::service::Service;

const RESPONSES: Wire = Wire {
    name: llmnode_model::Wire::Responses,
    tag: "openai-responses",
    api: ApiPath { path: "/responses", example: "https://api.openai.com/v1" },
    own: &["input", "instructions", "model", "stream"],
    joined: &["include", "reasoning", "text", "tools"],
    efforts: Efforts { field: ("reasoning", "/effort"), ..CHAT.efforts },
    hosts: &["api.openai.com", "openai.azure.com"],
    id_form: IdForm::Short,
    encode: request::encode,
    read: answer::read,
    stream: || Box::<stream::PartialResponse>::default(),
    ..CHAT
};

impl OpenAi {
    /// Asks by the Responses API from now on, on the same server and with the same settings. What was learned about models is
    /// learned anew.
    ///
    /// The server keeps nothing (`store: false`): the conversation belongs to the program, and encrypted reasoning goes back
    /// with the calls of tools.
    ///
    /// ```no_run
    /// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
    /// use llmnode::OpenAi;
    ///
    /// # fn main() -> Result<(), llmnode_model::ModelError> {
    /// let model = OpenAi::from_env()?.responses();
    /// # let _ = model;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn responses(self) -> OpenAi {
        let Inner { service, headers, model, key_hint, response_format, retry_budget, .. } = &*self.0;
        let service = Service {
            client: service.client.clone(),
            endpoint: service.endpoint.with_path(RESPONSES.api.path),
            ..*service
        };
        OpenAi(Arc::new(Inner {
            wire: &RESPONSES,
            service,
            model: model.clone(),
            headers: headers.clone(),
            key_hint: key_hint.clone(),
            response_format: *response_format,
            capabilities: Capabilities::default(),
            redirects: Redirects::default(),
            retry_budget: retry_budget.clone(),
            cache_for_an_hour: None,
            id_form: self.0.id_form,
        }))
    }
}

impl OpenAiBuilder {
    /// Asks by the Responses API: see [`OpenAi::responses`].
    pub fn responses(mut self) -> Self {
        self.settings.wire = &RESPONSES;
        self
    }
}
