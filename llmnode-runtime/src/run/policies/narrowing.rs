//! For models whose server enforces the schema: a correction's schema allows only
//! what a check has listed ([`Invalid::only`](crate::Invalid::only)). A model that
//! sees no schema gets the list in words alone.

use llmnode_model::ResponseFormat;

use super::policy::{Policy, RequestPlan};
use crate::ledger::AttemptKind;
use crate::run::narrowed::Narrowed;

pub(super) struct Narrowing;

impl Policy for Narrowing {
    fn before(&self, plan: &mut RequestPlan<'_>) {
        if plan.begins_anew() {
            Narrowed::end(&mut plan.history.narrowed, plan.request);
        }
        if plan.kind != AttemptKind::Correction {
            return;
        }
        let sent = plan.record.and_then(|record| record.response_format);
        let format = sent.or(plan.request.response_format);
        let has_form = matches!(
            format,
            Some(ResponseFormat::JsonObject | ResponseFormat::Prompt)
        );
        if let Some(failure) = plan.failure.as_deref_mut().filter(|_| !has_form) {
            Narrowed::add(
                &mut plan.history.narrowed,
                plan.request,
                &mut failure.violations,
            );
        }
    }
}
