//! What is checked for every shape, whatever its type is.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use llmnode::__private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode::{
    BoxError, BoxFuture, CallRecord, Cx, Exec, LlmOutput, Node, NodeError, NodeFacts, OutputSchema,
    Reader, ResponseFormat, Run, Settings,
};
use serde::Serialize;
use serde_json::Value;

/// A call of a node of this type: the value as JSON and the record, or the error.
type Asked = BoxFuture<'static, Result<(Value, Arc<CallRecord>), NodeError>>;

/// Reads a text as the sample of a number, or says why it is not that.
type Reads = dyn Fn(usize, &str) -> Result<(), String>;

/// A type, without its type.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) schema: Arc<OutputSchema>,
    /// Values of it, as serde writes them.
    pub(crate) samples: Vec<Value>,
    reads: Box<Reads>,
    ask: fn(Run, Settings) -> Asked,
}

impl Shape {
    /// Reads a text as a node does. `Err`: it is not the sample of this number.
    pub(crate) fn reads(&self, sample: usize, text: &str) -> Result<(), String> {
        (self.reads)(sample, text)
    }

    pub(crate) fn ask(
        &self,
        run: &Run,
        response_format: ResponseFormat,
        settings: Settings,
    ) -> Asked {
        (self.ask)(run.clone(), settings.response_format(response_format))
    }
}

pub(crate) fn shape<T>(name: &'static str, samples: Vec<T>) -> Shape
where
    T: LlmOutput + Serialize + PartialEq + Debug,
{
    Shape {
        name,
        schema: OutputSchema::of::<T>(),
        samples: samples
            .iter()
            .map(|sample| serde_json::to_value(sample).unwrap())
            .collect(),
        reads: Box::new(move |at, text| match Reader::new().read::<T>(text) {
            Ok(reading) if reading.value == samples[at] => Ok(()),
            Ok(reading) => Err(format!("{text} was read as {:?}", reading.value)),
            Err(error) => Err(format!("{text}: {error}")),
        }),
        ask: |run, settings| {
            Box::pin(async move {
                let report = run
                    .call(&Ask::<T>(PhantomData))
                    .settings(settings)
                    .report()
                    .await?;
                Ok((serde_json::to_value(&report.value).unwrap(), report.record))
            })
        },
    }
}

/// A node that asks for a type.
struct Ask<T>(PhantomData<T>);

impl<T: LlmOutput> Node for Ask<T> {
    type Output = T;
    const NAME: &'static str = "ask";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl<S: ?Sized + Sync, T: LlmOutput> Exec<S> for Ask<T> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<T, BoxError> {
        llmnode::__private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync, T: LlmOutput> LlmNode<S> for Ask<T> {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::text("Fill in the form.")]);
    }

    fn output(&self) -> OutputSpec<T, S> {
        OutputSpec::json(|_| {}, |_, _| {})
    }
}
