//! Macros by example that emit nodes, outputs, tools and flows.

use super::support::{World, ask, complaints, message, world};

pub(crate) async fn run() {
    node::run().await;
    output::run().await;
    tool::run().await;
    flow::run().await;
}

/// 25. A node out of fragments of each kind.
mod node {
    use super::{ask, message};
    use llmnode::prelude::*;

    macro_rules! node {
        ($(#[$meta:meta])* $vis:vis $name:ident<$life:lifetime>, $prompt:expr, $system:literal, $retries:expr, $output:ty, { $($field:ident: $ty:ty),* $(,)? }) => {
            $(#[$meta])*
            #[llm_node(prompt = $prompt, system = $system, retries = $retries, output = $output)]
            $vis struct $name<$life> {
                $($field: $ty,)*
                #[node(skip)]
                mark: &$life str,
            }
        };
    }

    node! {
        /// Asks.
        #[derive(Debug, Clone)]
        pub(super) Ask<'a>, "{a} and\n{b:list}", "brief", 1, Vec<u8>, { a: &'a str, b: Vec<u8> }
    }

    macro_rules! all {
        ($($name:ident => $prompt:literal),*) => { $(
            #[llm_node(prompt = $prompt)]
            struct $name;
        )* };
    }
    all!(One => "one", Two => "two");

    macro_rules! of_a_type {
        ($output:path, $state:path, $field:tt) => {
            #[llm_node(prompt = "{state.items:list}", output = $output, state = $state, choices($field = state.items))]
            struct Chosen;
        };
    }

    #[llm_output]
    #[derive(Debug)]
    struct Item {
        name: String,
    }
    of_a_type!(Item, super::World, name);

    pub(super) async fn run() {
        let node = Ask {
            a: "x",
            b: vec![1],
            mark: "m",
        };
        assert_eq!((message(&node).as_str(), node.mark), ("x and\n- 1", "m"));
        assert_eq!(ask(&node, "[1]").await, [1]);
        assert_eq!(
            (message(&One), message(&Two)),
            ("one".to_owned(), "two".to_owned())
        );
        let item = super::super::support::on(super::world(), &Chosen, r#"{"name": "key"}"#).await;
        assert_eq!(item.ok().map(|item| item.name).as_deref(), Some("key"));
    }
}

/// 26. An output with its validators.
mod output {
    use super::{World, complaints, world};
    use llmnode::prelude::*;

    macro_rules! checked {
        ($name:ident { $($field:ident: $ty:ty = $check:expr),* $(,)? } with |$it:ident, $state:ident: $state_type:ty|) => {
            #[llm_output]
            #[derive(Debug)]
            struct $name {
                $($field: $ty,)*
            }

            #[validate(state)]
            impl $name {
                $(fn $field(&self, $state: &$state_type) -> Result<(), Invalid> {
                    let $it = &self.$field;
                    if $check { Ok(()) } else { Err(Invalid::at(stringify!($field), "no")) }
                })*
            }
        };
    }

    checked! {
        Choice {
            item: String = world.items.contains(it),
            count: u8 = usize::from(*it) < world.items.len(),
        } with |it, world: World|
    }

    macro_rules! kinds {
        ($(#[$meta:meta])* $name:ident: $($variant:ident $(($($inner:ty),*))? $(= $text:literal)?),*) => {
            $(#[$meta])*
            #[llm_output]
            enum $name { $($(#[serde(rename = $text)])? $variant $(($($inner),*))?,)* }
        };
    }
    kinds!(#[derive(Debug, PartialEq)] Kind: Plain = "plain", Of(u8), Both(u8, Vec<Kind>));

    #[validate]
    impl Kind {}

    #[llm_node(prompt = "x", output = Vec<(Choice, Kind)>, state = World)]
    struct Ask;

    pub(super) async fn run() {
        let answer = r#"[[{"item": "axe", "count": 1}, "plain"], [{"item": "key", "count": 0}, {"Both": [1, [{"Of": 2}]]}]]"#;
        assert_eq!(
            complaints(world(), &Ask, answer).await,
            ["[0][0].item", "[0][0].count"]
        );
    }
}

/// 27. Tools.
mod tool {
    use super::{World, world};
    use llmnode::prelude::*;

    macro_rules! tool {
        ($doc:literal, $name:ident, $($arg:ident: $ty:ty),*; $world:ident => $out:ty, $body:block) => {
            #[doc = $doc]
            #[tool]
            fn $name($($arg: $ty,)* $world: &World) -> $out $body
        };
    }
    tool!("Looks.", look_up, word: String, count: Option<u8>; world => Vec<String>, {
        count.map(|_| word).into_iter().chain(world.items.clone()).skip(1).collect()
    });

    #[llm_node(prompt = "x", state = World, tools = [LookUp])]
    struct Ask;

    pub(super) async fn run() {
        assert!(look_up(String::new(), None, &world()).is_empty());
        let text = super::super::support::on(world(), &Ask, "ok").await;
        assert_eq!(text.ok().as_deref(), Some("ok"));
    }
}

/// 28. A flow with its steps.
mod flow {
    use llmnode::prelude::*;

    struct State {
        words: Vec<String>,
    }

    macro_rules! chain {
        ($flow:ident: $($step:ident $prompt:literal => $next:tt),* $(,)?) => {
            $(
                #[llm_node(prompt = $prompt, state = State, post = $step::keep)]
                struct $step;
                impl $step {
                    fn keep(_: Self, word: String, state: &mut State) {
                        state.words.push(word);
                    }
                }
            )*
            flow! { $flow(State): $($step => $next,)* }
        };
    }
    chain!(Both: First "1" => Second, Second "{state.words:list}" => end);

    pub(super) async fn run() {
        let mut run =
            Run::new(super::super::support::model(["a", "b"])).with_state(State { words: vec![] });
        assert!(run.flow(Both).await.is_ok());
        assert_eq!(run.state().words, ["a", "b"]);
    }
}
