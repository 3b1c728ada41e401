//! A program without the type of its node.

use llmnode_runtime::Settings;

use super::Provenance;
use crate::signature::{Demo, Signature};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) signature: Signature,
    pub(crate) demos: Vec<Demo>,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) provenance: Option<Provenance>,
}

impl Plan {
    pub(crate) fn new(signature: &Signature) -> Self {
        Plan {
            signature: signature.clone(),
            demos: Vec::new(),
            temperature: None,
            max_tokens: None,
            provenance: None,
        }
    }

    pub(crate) fn describe(&mut self, name: &str, description: String) {
        let Signature {
            inputs, outputs, ..
        } = &mut self.signature;
        if let Some(field) = inputs
            .iter_mut()
            .chain(outputs)
            .find(|field| field.name == name)
        {
            field.description = description;
        }
    }

    /// The program's settings win.
    pub(crate) fn settings(&self, node: &Settings) -> Settings {
        let mut settings = node.clone();
        settings.temperature = self.temperature.or(settings.temperature);
        settings.max_tokens = self.max_tokens.or(settings.max_tokens);
        settings
    }
}
