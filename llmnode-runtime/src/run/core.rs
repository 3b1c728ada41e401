//! What runs of different states share, and which model of them is asked.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Once};

use llmnode_model::batch::BatchWire;
use llmnode_model::gate::{Gate, Gates};
use llmnode_model::{ApiKind, Category, ChatModel, ModelError, Request};

use crate::clock::Clock;
use crate::error::NodeError;
use crate::ledger::{Hooks, JournaledBatch, Ledger, Recorder, RunSetup};
use crate::limits::RunLimits;
use crate::pause::Approver;
use crate::prices::Prices;
use crate::settings::{Resolved, Settings};
use crate::text::impl_debug;

/// What runs of different states share.
#[derive(Clone)]
pub struct RunCore {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) models: BTreeMap<String, (Arc<dyn ChatModel>, Settings)>,
    pub(super) settings: Settings,
    /// Weaker than those of nodes.
    pub(super) defaults: Settings,
    /// What was spent so far.
    pub ledger: Ledger,
    pub(super) hooks: Hooks,
    pub(super) content_in_traces: bool,
    /// All waits go through it.
    pub clock: Arc<dyn Clock>,
    /// What may be spent.
    pub limits: RunLimits,
    pub(super) approver: Option<Arc<Approver>>,
    pub(super) node_data: BTreeMap<&'static str, Arc<dyn Any + Send + Sync>>,
    pub(super) extra_for_all: Arc<Once>,
    /// Of models that have none themselves.
    pub(super) gates: Gates,
}

/// The model that is asked, and how it was chosen.
pub(super) struct Target<'r> {
    pub(super) model: &'r dyn ChatModel,
    /// A registered name or an id; `None`: the node's or the run's own model as it is.
    pub(super) name: Option<String>,
    settings: Option<&'r Settings>,
}

impl RunCore {
    /// A registered name selects its model; any other is an id for `default_model`,
    /// the node's model or the run's.
    pub(super) fn target<'r>(
        &'r self,
        name: Option<&str>,
        default_model: &'r dyn ChatModel,
    ) -> Target<'r> {
        let registered = name.and_then(|name| self.models.get(name));
        Target {
            model: registered.map_or(default_model, |(model, _)| &**model),
            name: name.map(str::to_owned),
            settings: registered.map(|(_, settings)| settings),
        }
    }

    /// Cancels a batch of one of the models of the run. `false`: it has ended, or
    /// was never created.
    ///
    /// # Errors
    /// `config_error`: no model of the run has such batches. Otherwise that of the
    /// provider.
    pub async fn cancel_batch(&self, batch: &JournaledBatch) -> Result<bool, NodeError> {
        let wire = self
            .all_models()
            .filter_map(|model| model.batch_api())
            .find(|wire| wire.has_api(&batch.api));
        let Some(wire) = wire else {
            let name = batch.batch.as_ref().unwrap_or(&batch.name);
            let model = &batch.model;
            let message = format!(
                "no model of the run has batches like {name} of the model {model:?}; give the run the model that it was sent with"
            );
            return Err(NodeError::new(Category::ConfigError, message));
        };
        let cancelled = cancel_created(&*wire, batch).await;
        cancelled.map_err(|error| NodeError::new(error.category, error.message))
    }

    pub(super) fn setup(&self) -> RunSetup {
        let mut models = Vec::with_capacity(1 + self.models.len());
        models.push((None, self.model.model().map(str::to_owned)));
        for (name, (model, _)) in &self.models {
            let id = model.model().map(str::to_owned);
            models.push((Some(name.clone()), id));
        }
        RunSetup {
            models,
            limits: self.limits.describe(),
            prices_made: self.limits.prices.made().map(str::to_owned),
        }
    }

    /// The run's own model, and then the registered ones.
    fn all_models(&self) -> impl Iterator<Item = &Arc<dyn ChatModel>> {
        let registered = self.models.values().map(|(model, _)| model);
        std::iter::once(&self.model).chain(registered)
    }

    /// Returns the same core, whose calls are recorded by this recorder.
    pub fn recorded_by(&self, recorder: Arc<dyn Recorder>) -> RunCore {
        let mut core = self.clone();
        core.hooks.set_journal(recorder);
        core
    }

    /// Its fields may mean nothing to another API.
    pub(super) fn report_extra_for_all(&self, settings: &Resolved<'_>) {
        if !settings.has_extra() {
            return;
        }
        let apis: BTreeSet<ApiKind> = self
            .all_models()
            .filter_map(|model| model.api_kind())
            .collect();
        if apis.len() > 1 {
            let apis: Vec<String> = apis.iter().map(ApiKind::to_string).collect();
            self.extra_for_all.call_once(|| {
                tracing::warn!(
                    target: "llmnode::call",
                    apis = apis.join(", "),
                    "`extra` is sent to whichever API is asked, and the models of this run speak several; `extra_on` names one",
                );
            });
        }
    }

    /// `None` also if the run only shows prompts.
    pub(super) fn held_model<'r>(
        &self,
        held: Option<&'r dyn ChatModel>,
    ) -> Option<&'r dyn ChatModel> {
        held.filter(|_| !self.limits.ignored)
    }

    /// The name that leads to the same model again; for `default_model`, its id.
    pub(super) fn model_name(
        &self,
        target: &Target<'_>,
        default_model: &dyn ChatModel,
    ) -> Option<String> {
        if target.name.is_some() {
            return target.name.clone();
        }
        let id = default_model.model()?;
        // As a name, it would lead to the model that is registered so.
        if self.models.contains_key(id) {
            return None;
        }
        Some(id.to_owned())
    }

    /// Says that a name may be misspelt. Empty if there is no name, a registered
    /// one, or no registered model.
    pub(super) fn unregistered_hint(&self, target: &Target<'_>) -> String {
        match &target.name {
            Some(name) if target.settings.is_none() && !self.models.is_empty() => {
                let names: Vec<_> = self.models.keys().take(16).map(String::as_str).collect();
                let names = names.join(", ");
                format!(
                    "; no model is registered as {name:?} (registered: {names}), so the run's own was asked for that id"
                )
            }
            _ => String::new(),
        }
    }
}

impl Target<'_> {
    /// What holds back requests to the model.
    pub(super) fn gate(&self, core: &RunCore, request: &Request) -> Arc<Gate> {
        let mut names = self.names(request).into_iter().flatten();
        let name = names.next().unwrap_or_default();
        match self.model.gates() {
            Some(gates) => gates.of(0, name),
            None => {
                // Of the run: its models are told apart by where they are.
                let place = std::ptr::from_ref(self.model).addr();
                core.gates.of(place, name)
            }
        }
    }

    pub(super) fn gates<'a>(&'a self, core: &'a RunCore) -> &'a Gates {
        self.model.gates().unwrap_or(&core.gates)
    }

    /// Before the model answers, most reliable first. If the request names a model,
    /// the handle's id may be another's.
    pub(super) fn names<'a>(&'a self, request: &'a Request) -> [Option<&'a str>; 3] {
        let requested = request.model.as_deref();
        [
            requested,
            self.name.as_deref(),
            self.model.model().filter(|_| requested.is_none()),
        ]
    }

    /// The tokens of the model's window. A refusal is a fact, and the rest is what somebody says.
    pub(super) fn window(
        &self,
        request: &Request,
        settings: &Resolved<'_>,
        prices: &Prices,
    ) -> Option<u64> {
        let stated = self.stated_window(request, settings, prices);
        stated.into_iter().chain(self.model.window(request)).min()
    }

    /// The same without what a refusal has named, so that every process comes to the same.
    pub(super) fn stated_window(
        &self,
        request: &Request,
        settings: &Resolved<'_>,
        prices: &Prices,
    ) -> Option<u64> {
        let set = settings.window(self.settings);
        set.or_else(|| {
            let names = self.names(request).into_iter().flatten();
            prices.window(names)
        })
    }

    pub(super) fn apply_to(
        &self,
        request: &mut Request,
        settings: &Resolved<'_>,
    ) -> Result<(), NodeError> {
        let id = if self.settings.is_some() {
            None
        } else {
            self.name.clone()
        };
        settings.apply_to(request, id, self.settings)
    }
}

impl_debug!(RunCore:);

/// Anthropic lists neither names nor lines: which batch it is, is known when it has ended.
fn unknown_yet(batch: &JournaledBatch, error: ModelError) -> ModelError {
    if error.category != Category::Paused {
        return error;
    }
    let message = format!(
        "whether the batch {:?} was created is not known yet: {}; try again later, or cancel it by hand",
        batch.name, error.message
    );
    ModelError::new(Category::Paused, message)
}

async fn cancel_created(wire: &dyn BatchWire, batch: &JournaledBatch) -> Result<bool, ModelError> {
    let found = match &batch.batch {
        Some(id) => Some(id.clone()),
        // Its process may have died as it created the batch.
        None => wire
            .find(&batch.traces())
            .await
            .map_err(|error| unknown_yet(batch, error))?,
    };
    let Some(id) = found else {
        return Ok(false);
    };
    let Err(error) = wire.cancel(&id).await else {
        return Ok(true);
    };
    // Providers refuse to cancel one that has ended.
    match wire.poll(&id).await {
        Ok(status) if status.has_ended => Ok(false),
        _ => Err(error),
    }
}
