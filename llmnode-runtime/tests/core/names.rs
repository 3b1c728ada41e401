//! The figures of nodes whose names are known only at run time.

use std::borrow::Cow;

use crate::support::{Say, busy, say, script};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{BoxError, Cx, Exec, Node, NodeFacts, Run, ScriptedModel, Settings};

/// A node of any name.
struct Named(String);

impl Node for Named {
    type Output = String;
    const NAME: &'static str = "named";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
    const SETTINGS: &'static Settings = &Settings::new()
        .transport_retries(0)
        .stated_fallback_model("spare");

    fn name(&self) -> Cow<'static, str> {
        self.0.clone().into()
    }
}

impl Exec<()> for Named {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl LlmNode<()> for Named {
    fn render(&self, (): &(), to: &mut Prompt) {
        to.user(&[Segment::value(&self.0)]);
    }

    fn output(&self) -> OutputSpec<String, ()> {
        OutputSpec::text()
    }
}

fn talkative() -> Run {
    Run::new(ScriptedModel::new().otherwise(|_| "hi"))
}

#[tokio::test]
async fn a_types_figures_are_those_of_all_its_names() {
    let run = Run::new(script([busy(), busy()])).model("spare", script(["hi", "hi"]));
    for name in ["a", "b"] {
        run.call(&Named(name.to_owned())).await.unwrap();
    }
    let stats = run.ledger().of::<Named>().unwrap();
    assert_eq!(
        (stats.visits, stats.usage.requests, stats.used_fallback),
        (2, 4, 2)
    );
}

#[tokio::test]
async fn names_without_end_do_not_grow_the_book_without_end() {
    let run = talkative();
    let calls = 3000;
    for call in 0..calls {
        run.call(&Named(format!("request {call}"))).await.unwrap();
    }
    run.call(&say("x")).await.unwrap();
    run.call(&Named("request 0".to_owned())).await.unwrap();
    let nodes = run.ledger().snapshot().nodes;
    assert!(nodes.len() < 1010, "{} names", nodes.len());
    assert_eq!((nodes["request 0"].visits, nodes["say"].visits), (2, 1));
    assert_eq!(nodes["named"].visits, calls - 1000);
    assert_eq!(run.ledger().of::<Named>().unwrap().visits, calls + 1);
    assert_eq!(
        run.ledger().calls().last().unwrap().node,
        "request 0",
        "records have the name"
    );
}

#[tokio::test]
async fn no_name_hides_the_figures_of_another() {
    let run = talkative();
    let path = std::any::type_name::<Say>();
    for name in ["say", &format!("say ({path})")] {
        run.call(&Named(name.to_owned())).await.unwrap();
    }
    run.call(&say("x")).await.unwrap();
    let report = run.ledger().snapshot();
    assert_eq!(report.nodes[&format!("say ({path})")].visits, 2);
    assert_eq!(
        (report.total, report.total.requests),
        (run.ledger().total(), 3)
    );
}
