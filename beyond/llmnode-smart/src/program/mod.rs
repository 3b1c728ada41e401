//! Programs replace a node's own words.

#[cfg(test)]
mod changed_tests;
mod check;
mod dspy;
mod error;
mod format;
#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]
mod golden_tests;
mod open;
mod plan;
mod provenance;

pub use error::{ProgramError, ProgramFault};
pub use provenance::{Provenance, ProvenanceScores};

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use llmnode_runtime::Settings;

use crate::signature::{Demo, Form, Signature, Smart};

pub(crate) use check::MOST_DEMOS;
pub(crate) use plan::Plan;

/// Replaces a node's own words in its requests: goal, descriptions and examples.
///
/// It never changes types, model or endpoint. Cloning it is cheap.
///
/// ```
/// use llmnode::prelude::*;
/// use llmnode::smart::{Demo, Program};
///
/// #[llm_output]
/// struct Verdict {
///     holds: bool,
/// }
///
/// #[llm_node(goal = "Judge the claim.", output = Verdict)]
/// struct Judge {
///     claim: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let demo = Demo::of(&Judge { claim: "2 is odd.".into() }, &Verdict { holds: false }, None)?;
/// let program = Program::<Judge>::new().with_goal("Judge the claim by mathematics.").with_demos([demo])?;
///
/// // It can be written to a file and opened again.
/// let program = Program::<Judge>::parse(&program.to_json())?;
/// let model = ScriptedModel::new().reply(r#"{"holds": true}"#);
/// let run = Run::new(model.clone()).with_program(program);
/// assert!(run.call(&Judge { claim: "2 is even.".into() }).await?.holds);
///
/// let asked: Vec<_> = model.requests()[0].messages.iter().map(|message| message.content.clone()).collect();
/// assert_eq!(
///     asked,
///     ["Judge the claim by mathematics.", "# claim\n2 is odd.", r#"{"holds":false}"#, "# claim\n2 is even."]
/// );
/// # Ok(())
/// # }
/// ```
pub struct Program<N> {
    plan: Arc<Plan>,
    of: PhantomData<fn() -> N>,
}

impl<N: Smart> Program<N> {
    /// Creates a program with what the node itself declares, without examples.
    pub fn new() -> Self {
        Program::from(Plan::new(N::signature()))
    }

    fn from(plan: Plan) -> Self {
        Program {
            plan: Arc::new(plan),
            of: PhantomData,
        }
    }

    fn change(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(Arc::make_mut(&mut self.plan));
        self
    }

    /// Opens a file: a program of llmnode, or one that DSPy saved as JSON.
    ///
    /// # Errors
    /// All differences between the file and the node. A file above 1 MiB and a pickle are refused.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ProgramError> {
        open::open(path.as_ref(), None, N::signature(), &typed::<N>).map(Program::from)
    }

    /// Opens one predictor of a program that DSPy saved: `plan`, or `plan.predict`.
    ///
    /// # Errors
    /// As [`open`](Program::open), and if there is no such predictor.
    pub fn open_predictor(path: impl AsRef<Path>, predictor: &str) -> Result<Self, ProgramError> {
        open::open(path.as_ref(), Some(predictor), N::signature(), &typed::<N>).map(Program::from)
    }

    /// Reads a program from the text of a file.
    ///
    /// # Errors
    /// As [`open`](Program::open).
    pub fn parse(text: &str) -> Result<Self, ProgramError> {
        open::parse(text.as_bytes(), None, N::signature(), &typed::<N>).map(Program::from)
    }

    /// Reads one predictor from the text of a program that DSPy saved.
    ///
    /// # Errors
    /// As [`open_predictor`](Program::open_predictor).
    pub fn parse_predictor(text: &str, predictor: &str) -> Result<Self, ProgramError> {
        open::parse(
            text.as_bytes(),
            Some(predictor),
            N::signature(),
            &typed::<N>,
        )
        .map(Program::from)
    }

    /// Returns the goal of the node.
    pub fn goal(&self) -> &str {
        &self.plan.signature.goal
    }

    /// Sets the goal of the node.
    #[must_use]
    pub fn with_goal(self, goal: impl Into<String>) -> Self {
        self.change(|plan| plan.signature.goal = goal.into())
    }

    /// Sets what the model reads about a field.
    ///
    /// # Errors
    /// The node has no such field.
    pub fn with_description(
        self,
        field: &str,
        description: impl Into<String>,
    ) -> Result<Self, ProgramError> {
        if self.plan.signature.fields().all(|one| one.name != field) {
            let fault = check::unknown_field("/fields", field, &self.plan.signature);
            return Err(ProgramError::of(vec![fault]));
        }
        Ok(self.change(|plan| plan.describe(field, description.into())))
    }

    /// Returns the examples.
    pub fn demos(&self) -> &[Demo] {
        &self.plan.demos
    }

    /// Sets the examples, at most 64.
    ///
    /// # Errors
    /// Every unknown field and every value of another type.
    pub fn with_demos(self, demos: impl IntoIterator<Item = Demo>) -> Result<Self, ProgramError> {
        let demos: Vec<Demo> = demos.into_iter().collect();
        let faults = check::demos("/demos", &demos, &self.plan.signature, &typed::<N>);
        if faults.is_empty() {
            Ok(self.change(|plan| plan.demos = demos))
        } else {
            Err(ProgramError::of(faults))
        }
    }

    /// Returns how messages are written and answers are read.
    pub fn form(&self) -> Form {
        self.plan.signature.form
    }

    /// Sets how messages are written and answers are read.
    #[must_use]
    pub fn with_form(self, form: Form) -> Self {
        self.change(|plan| plan.signature.form = form)
    }

    /// Returns the temperature that replaces the node's.
    pub fn temperature(&self) -> Option<f64> {
        self.plan.temperature
    }

    /// Sets the temperature that replaces the node's.
    #[must_use]
    pub fn with_temperature(self, temperature: f64) -> Self {
        self.change(|plan| plan.temperature = Some(temperature))
    }

    /// Returns the maximum tokens of an answer, which replace the node's.
    pub fn max_tokens(&self) -> Option<u32> {
        self.plan.max_tokens
    }

    /// Sets the maximum tokens of an answer, which replace the node's.
    #[must_use]
    pub fn with_max_tokens(self, tokens: u32) -> Self {
        self.change(|plan| plan.max_tokens = Some(tokens))
    }

    /// Returns how it was made, if an optimiser made it.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.plan.provenance.as_ref()
    }

    /// Sets how it was made.
    #[must_use]
    pub fn with_provenance(self, provenance: Provenance) -> Self {
        self.change(|plan| plan.provenance = Some(provenance))
    }

    /// Returns the node's signature with this goal and these descriptions.
    pub fn signature(&self) -> Signature {
        self.plan.signature.clone()
    }

    /// Returns the text of a file.
    pub fn to_json(&self) -> String {
        format::write(N::NAME, N::signature(), &self.plan)
    }

    /// Writes the whole file, or nothing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProgramError> {
        open::save(path.as_ref(), &self.to_json())
    }

    /// Returns the text of a file that DSPy's `load` reads: of a `Predict`, or of a `ChainOfThought` for a node that thinks.
    ///
    /// # Errors
    /// The form is llmnode's own, which DSPy does not have.
    pub fn to_dspy(&self) -> Result<String, ProgramError> {
        dspy::write(&self.plan)
    }

    pub(crate) fn effective(&self) -> &Signature {
        &self.plan.signature
    }

    pub(crate) fn settings(&self, node: &Settings) -> Settings {
        self.plan.settings(node)
    }
}

#[cfg(feature = "graph")]
pub(crate) fn open_plan(path: &Path, signature: &Signature) -> Result<Plan, ProgramError> {
    open::open(path, None, signature, &|_| Default::default())
}

fn typed<N: Smart>(demo: &Demo) -> crate::signature::FieldFaults {
    let inputs = N::read(demo.values()).err();
    let outputs = crate::signature::read_output::<N>(demo.values()).err();
    inputs
        .into_iter()
        .chain(outputs)
        .fold(Default::default(), crate::signature::FieldFaults::with)
}

impl<N: Smart> Default for Program<N> {
    fn default() -> Self {
        Program::new()
    }
}

impl<N> Clone for Program<N> {
    fn clone(&self) -> Self {
        Program {
            plan: Arc::clone(&self.plan),
            of: PhantomData,
        }
    }
}

impl<N> PartialEq for Program<N> {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan
    }
}

impl<N> fmt::Debug for Program<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").field(&*self.plan).finish()
    }
}
