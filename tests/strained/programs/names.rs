//! Names of the program that generated code must not meet.

use super::support::{World, ask, complaints, message, world};

pub(crate) async fn run() {
    blanket::run().await;
    aliases::run().await;
    modules::run().await;
    raw::run().await;
    macros::run().await;
    fields::run().await;
    types::run().await;
    constants::run().await;
    variants::run().await;
}

/// 12. A trait for every type, with methods of common names, by value and by reference.
mod blanket {
    use super::{World, complaints, world};
    use llmnode::prelude::*;

    #[allow(dead_code, reason = "only in the way")]
    trait Everything: Sized {
        fn text(self) -> Self {
            self
        }
        fn mark(self) {}
        fn coverage(self) {}
        fn cloned(self) {}
        fn clone(&self) {}
        fn fmt(&self) {}
        fn to_string(&self) {}
        fn as_ref(&self) {}
        fn as_str(&self) {}
        fn deref(&self) {}
        fn borrow(&self) {}
        fn push_str(&self, _: u8) {}
        fn render(&self) {}
        fn write(&self) {}
        fn write_str(&self) {}
        fn write_fmt(&self) {}
        fn iter(&self) {}
        fn into_iter(self) {}
        fn len(&self) {}
        fn is_empty(&self) {}
        fn get(&self) {}
        fn validate(&self) {}
        fn check(&self) {}
        fn run(&self) {}
        fn exec(&self) {}
        fn call(&self) {}
        fn poll(&self) {}
        fn await_it(&self) {}
        fn prompt(&self) {}
        fn output(&self) {}
        fn schema(&self) {}
        fn serialize(&self) {}
        fn attach(&self) {}
        fn list(&self) {}
        fn json(&self) {}
        fn fence(&self) {}
        fn or(&self) {}
        fn raw(&self) {}
        fn at(&self) {}
        fn field(&self) {}
        fn name(&self) {}
        fn map(self) {}
        fn map_err(self) {}
        fn unwrap_or_default(self) {}
        fn into_future(self) {}
        fn default() {}
        fn new() {}
        fn try_into(self) {}
        fn eq(&self) {}
        fn boxed(self) {}
        fn then(self) {}
        fn of() {}
        fn key(&self) {}
        fn state(&self) {}
        fn collect(&self) {}
        fn extend(&self) {}
        fn finish(&self) {}
    }

    impl<T> Everything for T {}

    #[llm_output(state = World)]
    #[derive(Debug, Clone)]
    struct Choice {
        item: String,
        more: Vec<Part>,
    }

    #[llm_output]
    #[derive(Debug, Clone)]
    enum Part {
        One(u8),
        Two { of: Option<String> },
    }

    #[validate]
    impl Choice {
        async fn is_there(&self, world: &World, attempt: &AttemptInfo) -> Result<(), Invalid> {
            if world.items.contains(&self.item) || attempt.is_last() && self.more.is_empty() {
                return Err(Invalid::at("item", "is there"));
            }
            Ok(())
        }
    }

    #[validate(state)]
    impl Part {
        fn is_small(&self, _: &World) -> Result<(), Invalid> {
            match self {
                Self::One(9..) => Err(Invalid::new("is large")),
                Self::Two { of: None } => Err(Invalid::at("Two.of", "is none")),
                Self::One(_) | Self::Two { .. } => Ok(()),
            }
        }
    }

    /// Looks.
    #[tool]
    async fn look(word: &str, of: Option<u8>, cx: &Cx<'_, World>) -> Result<Vec<String>, String> {
        let _ = (word, of);
        Ok(Clone::clone(&cx.state().items))
    }

    #[llm_node(
        system = "{tone:>4}",
        prompt = "{goal:fence}\n{list:list}\n{data:json} {note:or(none)}\n{state.items:list}\n{n}",
        with(n = 1 + 1),
        output = Choice,
        state = World,
        tools = [Look],
        examples = [("a", Choice { item: String::new(), more: Vec::new() })],
        choices(item = state.items),
        fallback = fall_back,
        validate = is_fine,
    )]
    struct Ask<'a, T: serde::Serialize + Sync> {
        goal: &'a str,
        tone: u8,
        list: Vec<u8>,
        data: T,
        note: Option<&'a str>,
        #[node(history)]
        history: Vec<Message>,
    }

    fn fall_back<T: serde::Serialize + Sync>(_: &Ask<'_, T>, _: &World, _: &NodeError) -> Choice {
        Choice {
            item: String::new(),
            more: vec![],
        }
    }

    fn is_fine(_: &Choice, _: &World, _: &AttemptInfo) -> Result<(), Invalid> {
        Err(Invalid::warn("hm"))
    }

    pub(super) async fn run() {
        let node = Ask {
            goal: "a",
            tone: 1,
            list: vec![],
            data: [1],
            note: None,
            history: vec![],
        };
        let answer = r#"{"item": "key", "more": [{"One": 9}, {"Two": {"of": null}}]}"#;
        let run = Run::new(super::super::support::model([answer])).with_state(world());
        let report = run.call(&node).report().await;
        assert!(report.is_ok());
        assert_eq!(
            complaints(world(), &Bare, answer).await,
            ["more[0]", "more[1].Two.of", "item"]
        );
    }

    #[llm_node(prompt = "x", output = Choice, state = World)]
    struct Bare;
}

/// 13. Types of std's prelude under other meanings.
mod aliases {
    use super::{complaints, world};
    use llmnode::{Action, AttemptInfo, Invalid, llm_node, llm_output, tool, validate};

    type Result<T, E = Invalid> = std::result::Result<T, E>;
    type World = super::World;

    #[expect(dead_code, reason = "only in the way")]
    struct Option;
    #[expect(dead_code, reason = "only in the way")]
    struct Vec;
    #[expect(dead_code, reason = "only in the way")]
    struct Box;
    #[expect(dead_code, reason = "only in the way")]
    trait Send {}
    #[expect(dead_code, reason = "only in the way")]
    trait Sync {}
    #[expect(dead_code, reason = "only in the way")]
    trait Clone {}
    #[expect(dead_code, reason = "only in the way")]
    trait Into {}
    #[expect(dead_code, reason = "only in the way")]
    trait From {}
    #[expect(dead_code, reason = "only in the way")]
    trait Default {}
    #[expect(dead_code, reason = "only in the way")]
    trait Iterator {}

    #[llm_output]
    #[derive(Debug)]
    struct Choice {
        item: std::string::String,
        kinds: std::vec::Vec<Kind>,
    }

    #[llm_output]
    #[derive(Debug, Action)]
    enum Kind {
        Here,
        There,
    }

    #[validate]
    impl Choice {
        fn is_there(&self, world: &World, _: &AttemptInfo) -> Result<()> {
            if world.items.contains(&self.item) {
                Ok(())
            } else {
                Err(Invalid::at("item", "no"))
            }
        }
    }

    /// Looks.
    #[tool]
    fn look(word: &str) -> Result<bool, std::string::String> {
        if word.is_empty() {
            Err("no word".to_owned())
        } else {
            Ok(true)
        }
    }

    #[llm_node(prompt = "{word:or(none)}", output = Choice, state = World, tools = [Look], validate = is_good)]
    struct Ask {
        word: std::option::Option<&'static str>,
    }

    fn is_good(_: &Choice, _: &World, _: &AttemptInfo) -> Result<()> {
        Ok(())
    }

    pub(super) async fn run() {
        assert_eq!(
            complaints(
                world(),
                &Ask { word: None },
                r#"{"item": "axe", "kinds": ["Here", "There"]}"#
            )
            .await,
            ["item"]
        );
        assert!(look("").is_err());
    }
}

/// 14. Modules that have the names of crates.
mod modules {
    use super::message;

    pub(super) mod inner {
        mod std {}
        mod core {}
        mod alloc {}
        mod serde {}
        mod schemars {}
        mod llmnode {}
        mod tokio {}
        use ::llmnode::prelude::*;

        /// Looks.
        #[tool]
        fn look(word: String) -> String {
            word
        }

        #[llm_output]
        pub(in super::super) struct Answer {
            pub(in super::super) value: Vec<u8>,
        }

        #[validate]
        impl Answer {
            fn is_fine(&self) -> Result<(), Invalid> {
                if self.value.is_empty() {
                    Err(Invalid::at("value", "is empty"))
                } else {
                    Ok(())
                }
            }
        }

        #[llm_node(prompt = "{a} {b:json}", output = Answer, tools = [Look])]
        pub(in super::super) struct Ask {
            pub(in super::super) a: u8,
            pub(in super::super) b: Vec<u8>,
        }
    }

    pub(super) async fn run() {
        let node = inner::Ask { a: 1, b: vec![2] };
        assert_eq!(message(&node), "1 [2]");
        assert_eq!(super::ask(&node, r#"{"value": [1]}"#).await.value, [1]);
    }
}

/// 15. Raw identifiers.
mod raw {
    use llmnode::prelude::*;

    pub(crate) struct Place {
        pub(crate) r#where: String,
        pub(crate) r#in: Vec<String>,
    }

    #[llm_output]
    #[derive(Debug, PartialEq)]
    struct Answer {
        r#type: String,
        r#fn: Option<u8>,
    }

    #[validate]
    impl Answer {
        fn r#match(&self, r#ref: &Place) -> Result<(), Invalid> {
            if r#ref.r#in.contains(&self.r#type) {
                Ok(())
            } else {
                Err(Invalid::at("type", "no"))
            }
        }
    }

    /// Loops.
    #[tool]
    fn r#loop(r#for: String, r#as: &Place) -> String {
        format!("{for} {}", r#as.r#where, for = r#for)
    }

    #[llm_node(
        prompt = "{type} {state.where}\n{state.in:list}",
        output = Answer,
        state = Place,
        tools = [Loop],
        choices(r#type = state.r#in),
    )]
    struct r#Ask {
        r#type: u8,
    }

    pub(super) async fn run() {
        let place = || Place {
            r#where: "here".into(),
            r#in: vec!["a".into()],
        };
        let answer =
            super::super::support::on(place(), &r#Ask { r#type: 1 }, r#"{"type": "a", "fn": 1}"#)
                .await;
        assert_eq!(
            answer.ok(),
            Some(Answer {
                r#type: "a".into(),
                r#fn: Some(1)
            })
        );
        assert_eq!(r#loop("x".into(), &place()), "x here");
    }
}

/// 16. Macros of the program in place of std's.
#[allow(unused_macros, reason = "only in the way")]
mod macros {
    use super::message;
    use llmnode::prelude::*;

    macro_rules! format {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! vec {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! write {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! matches {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! concat {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! stringify {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! format_args {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! file {
        () => {
            compile_error!("not this one")
        };
    }
    macro_rules! assert {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! panic {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }
    macro_rules! include_str {
        ($($any:tt)*) => {
            compile_error!("not this one")
        };
    }

    #[llm_output]
    #[derive(Debug)]
    enum Answer {
        Yes,
        No(String),
    }

    #[validate]
    impl Answer {
        fn says_why(&self) -> Result<(), Invalid> {
            match self {
                Self::No(why) if why.is_empty() => Err(Invalid::at("No", "is empty")),
                Self::No(_) | Self::Yes => Ok(()),
            }
        }
    }

    /// Looks.
    #[tool]
    fn look(word: String) -> String {
        word
    }

    #[llm_node(prompt = "{a:>3}\n{b:list}", output = Answer, tools = [Look], retries = 1)]
    struct Ask {
        a: u8,
        b: Vec<u8>,
    }

    pub(super) async fn run() {
        std::assert_eq!(
            message(&Ask {
                a: 1,
                b: Vec::new()
            }),
            "  1\n(none)"
        );
        let answer = super::ask(
            &Ask {
                a: 1,
                b: Vec::new(),
            },
            r#"{"No": "so"}"#,
        )
        .await;
        assert_eq!(
            std::mem::discriminant(&answer),
            std::mem::discriminant(&Answer::No(String::new()))
        );
    }
}

/// 17. Fields with names that generated code could use.
mod fields {
    use super::{message, world};
    use llmnode::prelude::*;

    #[llm_node(
        prompt = "{_state}{cx}{node}{run}{text}{value}{out}{f}{formatter}{prompt}{system}{message}{messages}{output}{error}{result}{it}{item}{index}{path}{__llmnode}{_private}{retries}{model}{tools}{history}{skip}{schema}"
    )]
    struct Ask {
        _state: u8,
        cx: u8,
        node: u8,
        run: u8,
        text: u8,
        value: u8,
        out: u8,
        f: u8,
        formatter: u8,
        prompt: u8,
        system: u8,
        message: u8,
        messages: u8,
        output: u8,
        error: u8,
        result: u8,
        it: u8,
        item: u8,
        index: u8,
        path: u8,
        __llmnode: u8,
        _private: u8,
        retries: u8,
        model: u8,
        tools: u8,
        history: u8,
        skip: u8,
        schema: u8,
    }

    #[llm_output(state = super::World)]
    #[derive(Debug)]
    struct Answer {
        state: Part,
        cx: Part,
        value: Part,
        path: Part,
        attempt: Part,
        __llmnode: Part,
        violations: Vec<Part>,
        this: Option<Part>,
    }

    #[llm_output]
    #[derive(Debug)]
    struct Part(u8);

    #[validate]
    impl Part {
        fn value(&self, state: &super::World) -> Result<(), Invalid> {
            if usize::from(self.0) == state.items.len() {
                Ok(())
            } else {
                Err(Invalid::new("no"))
            }
        }

        fn state(&self, attempt: &AttemptInfo) -> Result<(), Invalid> {
            if attempt.is_last() && self.0 == 7 {
                Err(Invalid::warn("seven"))
            } else {
                Ok(())
            }
        }
    }

    /// Looks.
    #[tool]
    fn look(
        state: u8,
        cx: u8,
        arguments: u8,
        value: u8,
        run: u8,
        node: u8,
        world: &super::World,
    ) -> usize {
        usize::from(state + cx + arguments + value + run + node) + world.items.len()
    }

    #[llm_node(prompt = "x", output = Answer, state = super::World, tools = [Look])]
    struct Other;

    pub(super) async fn run() {
        let ask = Ask {
            _state: 0,
            cx: 1,
            node: 2,
            run: 3,
            text: 4,
            value: 5,
            out: 6,
            f: 7,
            formatter: 8,
            prompt: 9,
            system: 0,
            message: 1,
            messages: 2,
            output: 3,
            error: 4,
            result: 5,
            it: 6,
            item: 7,
            index: 8,
            path: 9,
            __llmnode: 0,
            _private: 1,
            retries: 2,
            model: 3,
            tools: 4,
            history: 5,
            skip: 6,
            schema: 7,
        };
        assert_eq!(message(&ask), "0123456789012345678901234567");
        let answer = r#"{"state": 1, "cx": 2, "value": 1, "path": 1, "attempt": 1, "__llmnode": 1, "violations": [1, 3], "this": 2}"#;
        assert_eq!(
            super::complaints(world(), &Other, answer).await,
            ["cx", "violations[1]", "this"]
        );
        assert_eq!(look(1, 1, 1, 1, 1, 1, &world()), 7);
    }
}

/// 18. Types and parameters with names of llmnode's.
mod types {
    use super::message;

    #[llmnode::llm_output]
    #[derive(Debug)]
    struct Output {
        error: Error,
    }

    #[llmnode::llm_output]
    #[derive(Debug)]
    enum Error {
        Run,
        Cx(u8),
    }

    struct Run;

    struct State {
        node: Run,
        invalid: Vec<String>,
    }

    #[llmnode::validate]
    impl Output {
        fn is_run(&self, state: &State) -> Result<(), llmnode::Invalid> {
            let Run = state.node;
            match self.error {
                Error::Run => Ok(()),
                Error::Cx(_) => Err(llmnode::Invalid::at("error", "no")),
            }
        }
    }

    #[llmnode::llm_node(prompt = "{state.invalid:list}{cx}", output = Output, state = State)]
    struct Node<'cx, 'de, S, N, T: Sync, Cx>
    where
        S: std::fmt::Display + Sync,
        N: Sync,
        Cx: std::fmt::Display + Sync,
        'de: 'cx,
    {
        cx: &'cx Cx,
        #[node(skip)]
        rest: (&'de S, N, T),
    }

    #[llmnode::llm_node(prompt = "x")]
    struct Exec;

    #[llmnode::llm_node(prompt = "{s}")]
    struct Message<S: std::fmt::Display + Sync> {
        s: S,
    }

    pub(super) async fn run() {
        let node = Node {
            cx: &1,
            rest: (&"a", 1, 2),
        };
        let _ = node.rest;
        let state = || State {
            node: Run,
            invalid: vec![],
        };
        assert_eq!(
            super::complaints(state(), &node, r#"{"error": {"Cx": 1}}"#).await,
            ["error"]
        );
        assert!(
            super::complaints(state(), &node, r#"{"error": "Run"}"#)
                .await
                .is_empty()
        );
        assert_eq!(super::ask(&Exec, "a").await, "a");
        assert_eq!(message(&Message { s: 1 }), "1");
    }
}

/// 19. Constants and functions with the names that local variables have: a pattern would mean them.
mod constants {
    use super::{World, complaints, message, world};
    use llmnode::prelude::*;

    macro_rules! constants {
        ($($name:ident)*) => { $(#[allow(non_upper_case_globals, dead_code, reason = "only in the way")] const $name: u8 = 9;)* };
    }
    constants!(value cx node it text out f item error result attempt path index this new found field variable prompt model);

    #[llm_output]
    #[derive(Debug)]
    struct Choice {
        item: String,
        value: Vec<Part>,
    }

    #[llm_output]
    #[derive(Debug)]
    enum Part {
        One(u8),
        Two { first: Option<u8>, second: u8 },
    }

    #[validate]
    impl Choice {
        fn is_there(&self, world: &World) -> Result<(), Invalid> {
            if world.items.contains(&self.item) {
                Ok(())
            } else {
                Err(Invalid::at("item", "no"))
            }
        }
    }

    #[validate]
    impl Part {
        fn is_small(&self) -> Result<(), Invalid> {
            match self {
                Self::One(3)
                | Self::Two {
                    first: None,
                    second: 0,
                } => Err(Invalid::new("no")),
                Self::One(_) | Self::Two { .. } => Ok(()),
            }
        }
    }

    /// Looks.
    #[tool]
    fn look(word: String, of: Option<u8>, world: &World) -> String {
        format!("{word}{of:?}{}", world.items.len())
    }

    #[llm_node(prompt = "{item}\n{more:list}", output = Choice, state = World, tools = [Look], choices(item = state.items))]
    struct Ask {
        item: u8,
        more: Vec<u8>,
    }

    #[llm_node(prompt = "{a}", output = Part)]
    struct Small {
        a: u8,
    }

    pub(super) async fn run() {
        let answer =
            r#"{"item": "key", "value": [{"One": 3}, {"Two": {"first": null, "second": 0}}]}"#;
        assert_eq!(
            complaints(
                world(),
                &Ask {
                    item: 1,
                    more: vec![]
                },
                answer
            )
            .await,
            ["value[0]", "value[1]"]
        );
        assert_eq!(message(&Small { a: 1 }), "1");
        assert_eq!(look("a".into(), None, &world()), "aNone1");
    }
}

/// 20. Variants with the names of std's.
mod variants {
    use llmnode::prelude::*;

    #[llm_output]
    #[derive(Debug, PartialEq)]
    enum Outcome {
        Ok(Vec<Outcome>),
        Err { some: Maybe },
    }

    #[llm_output]
    #[derive(Debug, PartialEq)]
    enum Maybe {
        Some(u8),
        None,
    }

    #[validate]
    impl Maybe {
        fn is_some(&self) -> std::result::Result<(), Invalid> {
            use std::result::Result::{Err, Ok};
            if *self == Maybe::None {
                Err(Invalid::new("is none"))
            } else {
                Ok(())
            }
        }
    }

    mod apart {
        #[expect(unused_imports, reason = "in the way")]
        use super::{Maybe::*, Outcome::*};

        #[llmnode::llm_node(prompt = "{a} {b:or(none)}", output = super::Outcome, validate = [fine])]
        pub(super) struct Ask {
            pub(super) a: u8,
            pub(super) b: std::option::Option<u8>,
        }

        fn fine(
            _: &super::Outcome,
            _: &llmnode::AttemptInfo,
        ) -> std::result::Result<(), llmnode::Invalid> {
            std::result::Result::Ok(())
        }
    }

    pub(super) async fn run() {
        let node = apart::Ask { a: 1, b: Some(2) };
        let answer = r#"{"Ok": [{"Err": {"some": "None"}}]}"#;
        assert_eq!(
            super::complaints((), &node, answer).await,
            ["Ok[0].Err.some"]
        );
    }
}
