//! Flows and steps.

pub(crate) async fn run() {
    routed::run().await;
}

/// 40. Steps with and without a model, generic, routed by an action, in parts of a state, with `type Result` in scope.
mod routed {
    use super::super::support::model;
    use llmnode::flow::Step;
    use llmnode::prelude::*;

    type Result<T, E = BoxError> = std::result::Result<T, E>;

    #[derive(Default)]
    pub(super) struct World {
        question: String,
        notes: Vec<String>,
        part: Part,
    }

    #[derive(Default)]
    struct Part {
        seen: usize,
    }

    #[llm_output]
    #[derive(llmnode::Action, Debug, Clone, Copy)]
    #[serde(rename_all = "lowercase")]
    enum Action {
        Search,
        #[cfg(not(any()))]
        Answer,
        #[cfg(any())]
        Never,
    }

    #[llm_node(prompt = "{question} {state.notes:list}", output = Action, state = World, action = Action)]
    struct Decide {
        #[prep(state.question.clone().into())]
        question: std::borrow::Cow<'static, str>,
    }

    #[llm_node(prompt = "{question}", state = World, post = note, prep = Search::of)]
    struct Search {
        question: String,
    }

    impl Search {
        fn of(state: &World) -> Result<Self> {
            Ok(Self {
                question: state.question.parse()?,
            })
        }
    }

    fn note(_: Search, note: String, state: &mut World) -> Result<()> {
        state.notes.push(note);
        Ok(())
    }

    struct Count;

    #[llmnode::step]
    impl Step<World> for Count {
        async fn prep(state: &World) -> Result<Self> {
            let _ = usize::try_from(state.notes.len())?;
            Ok(Self)
        }

        type Output = usize;

        async fn exec(&self, cx: &Cx<'_, World>) -> Result<usize> {
            Ok(cx.state().notes.len())
        }

        fn post(self, seen: usize, state: &mut World) -> Result<()> {
            state.part.seen += seen;
            Ok(())
        }
    }

    struct Twice;

    #[llmnode::step]
    impl Step<Part> for Twice {
        async fn prep(_: &Part) -> Result<Self> {
            Ok(Self)
        }

        fn post(self, (): (), part: &mut Part) -> Result<()> {
            part.seen *= 2;
            Ok(())
        }
    }

    flow! {
        Inner(Part): Twice => end,
    }

    flow! {
        pub(super) Research(World), steps = 20:
        Decide => match { Action::Search => Search, Action::Answer => Count },
        Search => Decide,
        Count => Inner,
        Inner in state.part => end,
    }

    pub(super) async fn run() {
        let script = model([r#"{"value": "search"}"#, "note", r#"{"value": "answer"}"#]);
        let mut run = Run::new(script).with_state(World {
            question: "?".into(),
            ..World::default()
        });
        let end = run.flow(Research).await;
        assert!(end.is_ok(), "{end:?}");
        assert_eq!(run.state().part.seen, 2);
    }
}
