//! For small models that correct a value to exactly the bound that the complaint
//! named ("must be at least 15"), whatever the text says. The answer is good, so it
//! is only flagged.

use llmnode_reader::Flag;

use super::policy::{AttemptView, Change, Next, Policy, RequestPlan};
use crate::ledger::AttemptKind;
use crate::run::response::{Judgement, Response};

pub(super) struct CopiedBound;

impl Policy for CopiedBound {
    fn before(&self, plan: &mut RequestPlan<'_>) {
        if plan.begins_anew() {
            plan.history.bounds.end();
        }
        if plan.kind == AttemptKind::Correction
            && let Some(failure) = &plan.failure
        {
            plan.history.bounds.add(&failure.violations);
        }
    }

    fn after(
        &self,
        response: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let Judgement::Valid(_) = judgement else {
            return None;
        };
        if !attempt.history.bounds.are_met_exactly(&response.text) {
            return None;
        }
        Some(Next::Adapt(Change::Flag(Flag::AtBound)))
    }
}
