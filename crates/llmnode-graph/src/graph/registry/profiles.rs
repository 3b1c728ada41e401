//! Models that an operator's file lists.

use std::sync::Arc;

use llmnode_runtime::ChatModel;

use super::Registry;
use crate::profiles::Profiles;

impl Registry {
    /// Adds the models of profiles (feature `openai`), each under its name.
    pub fn profiles(mut self, profiles: Profiles) -> Self {
        let models = profiles.into_models().into_iter();
        self.models.extend(
            models.map(|(name, model, settings)| (name, Arc::new(model) as Arc<dyn ChatModel>, settings)),
        );
        self
    }
}
