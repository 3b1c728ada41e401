//! The expansions, pinned: `UPDATE=1 cargo test -p llmnode-testkit --test internals` writes them.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;

/// Compares an expansion with its file in `expansions/`; returns how many lines the macro added.
fn pinned(name: &str, item: &TokenStream, expansion: TokenStream) -> usize {
    let unparse = |tokens: TokenStream| prettyplease::unparse(&syn::parse2(tokens).unwrap());
    let expansion = unparse(expansion);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../llmnode-macros/expansions")
        .join(format!("{name}.rs"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &expansion).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expansion,
        "{} differs; run with UPDATE=1 and look at the diff:\n{expansion}",
        path.display()
    );
    expansion.lines().count() - unparse(item.clone()).lines().count()
}

fn node(name: &str, arguments: TokenStream, item: TokenStream) -> usize {
    pinned(name, &item, crate::node::expand(arguments, item.clone()))
}

#[test]
fn a_node_of_raw_text() {
    let lines = node(
        "text",
        quote!(prompt = "Say hello."),
        quote!(
            struct Greet;
        ),
    );
    assert!(lines <= 40, "{lines} lines");
}

#[test]
fn a_typed_node_of_two_fields() {
    let prompt = "Goal: {goal}\n{state.inventory:list}\n{hint:or(none)}";
    let arguments = quote!(prompt = #prompt, output = Choice, state = World, retries = 2);
    let item = quote! {
        /// Decides which item to use next.
        struct ChooseItem { goal: String, hint: Option<String> }
    };
    let lines = node("typed", arguments, item);
    // rustfmt, whose lines are longer, makes 42 of them.
    assert!(lines <= 49, "{lines} lines");
}

#[cfg(feature = "smart")]
#[test]
fn a_node_with_a_goal() {
    let arguments = quote!(
        goal = "Judge the claim.",
        think,
        form = chat,
        output = Verdict,
        retries = 1
    );
    let item = quote! {
        /// Judges a claim.
        struct Judge {
            /// what is known
            facts: Vec<String>,
            claim: String,
        }
    };
    let lines = node("goal", arguments, item);
    assert!(lines <= 90, "{lines} lines");
}

#[test]
fn a_node_with_all_arguments() {
    let arguments = quote! {
        system = "You are careful.",
        prompt = "{n:>3} {list:json}{{}}{photo:attach}",
        retries = 0,
        transport_retries = 1,
        wait = 1s..60s,
        max_wait = 2m,
        model = "small",
        temperature = 0.2,
        max_tokens = 64,
        reasoning = "low",
        name = "other"
    };
    node(
        "arguments",
        arguments,
        quote! { struct ChooseItem { n: u32, list: Vec<u8>, photo: Image, #[node(skip)] other: u8 } },
    );
}

#[test]
fn a_node_of_a_conversation() {
    let examples = quote!([
        (
            Self {
                messages: H::default(),
                input: "Hi."
            },
            "Hello."
        ),
        ("Bye.", "Goodbye!")
    ]);
    let arguments = quote!(system = "Be brief.", prompt = "{input}", examples = #examples);
    let item = quote! { struct Reply<'a, H> { #[node(history)] messages: H, input: &'a str } };
    node("conversation", arguments, item);
}

#[test]
fn a_node_with_examples() {
    let examples = quote!([(
        Self { goal: "eat".into() },
        Choice {
            item: "fork".into()
        }
    )]);
    let arguments = quote!(prompt = "{goal}", examples = #examples, output = Choice);
    node(
        "examples",
        arguments,
        quote! { struct ChooseItem { goal: String } },
    );
}

#[test]
fn a_node_that_recovers() {
    let arguments = quote! {
        prompt = "{topic}",
        output = u8,
        state = World,
        recover(
            schema_error = [retry(1), repair(2), fallback],
            transport = [retry(5, 1s..60s), retry(1, 10s), model("small"), bubble]
        ),
        fallback_model = "big",
        fallback = self::middle,
        limits(requests = 5, tokens = 2_000, money = 0.05), deadline = 1.5s, exact
    };
    node(
        "recovering",
        arguments,
        quote! { struct Rate { topic: String } },
    );
}

#[test]
fn nodes_with_functions_that_validate() {
    let item = quote! { struct Rate { topic: String } };
    let arguments = quote!(
        prompt = "{topic}",
        output = u8,
        state = World,
        validate = [is_small, other::is_even]
    );
    node("checked", arguments, item.clone());
    node(
        "checked_text",
        quote!(prompt = "{topic}", validate = is_short),
        item,
    );
}

#[test]
fn a_generic_node() {
    let arguments =
        quote!(prompt = "{a} {b:?}", output = Vec<T>, state = Borrowed<'_>, crate = crate::other);
    node(
        "generic",
        arguments,
        quote! { struct Ask<'a, T: Clone, const N: usize> { a: &'a T, b: [u8; N] } },
    );
}

#[test]
fn a_node_with_a_prompt_file() {
    let arguments = quote!(prompt_file = "tests/internals/ask.md", system = "Be brief.");
    let lines = node("file", arguments, quote! { struct Ask { topic: String } });
    assert!(lines <= 42, "{lines} lines");
}

#[test]
fn a_node_with_expressions() {
    let arguments = quote! {
        system = "There are {count} files.",
        prompt = "{topic} {count:>3} {next}",
        with(count = state.files.len(), next = self.offset + 1),
        state = World,
    };
    node(
        "with",
        arguments,
        quote! { struct Ask { topic: String, offset: u8 } },
    );
}

#[test]
fn a_step_of_a_flow() {
    let arguments = quote!(
        prompt = "Summarize {title}:\n{text}",
        output = Summary,
        state = Shared,
        store = summary
    );
    let item = quote! {
        /// Summarizes the current file.
        struct Summarize {
            #[prep(state.title.clone())]
            title: String,
            #[prep(state.files.get(&state.current).cloned())]
            text: String,
        }
    };
    let lines = node("step", arguments, item);
    // rustfmt, whose lines are longer, makes 67 of them.
    assert!(lines <= 80, "{lines} lines");
}

#[test]
fn steps_by_functions() {
    let arguments = quote! {
        prompt = "{a}", state = World, prep = Self::new, store = a.0.b, action = Next, route = next::<T>, idempotent = false
    };
    node(
        "step_routed",
        arguments,
        quote! { struct Ask<T: Text> { a: T } },
    );
    let arguments = quote!(prompt = "Go on.", state = World, post = finish);
    node("step_posted", arguments, quote! { struct GoOn; });
    let arguments = quote!(
        prompt = "{a}",
        state = World,
        batch = each,
        concurrency = 4,
        action = Next,
        store = all
    );
    node("step_batch", arguments, quote! { struct Ask { a: String } });
}

#[test]
fn a_node_with_faults() {
    let item = quote! { struct Ask<T> { topic: T, #[node(skip)] other: u8 } };
    node(
        "faults",
        quote!(prompt = "{}", output = u8, retrys = 2),
        item,
    );
}

#[test]
fn an_unknown_variable() {
    node(
        "unknown_variable",
        quote!(prompt = "About {topik}"),
        quote! { struct Ask { topic: String } },
    );
}

#[test]
fn an_argument_that_is_being_written() {
    let item =
        quote! { pub struct Ask { pub topic: String, #[serde(default)] style: Vec<Option<u8>> } };
    node(
        "being_written",
        quote!(prompt = "{topic} {style:list}", output = Choice, ret),
        item,
    );
}

/// Whatever the arguments lack, the item is unchanged, can be used as a node, and one error says what is missing.
#[test]
fn the_item_survives_all_faults_of_its_arguments() {
    let item = quote! { pub struct Ask<T> { pub topic: T, #[serde(default)] style: Vec<String> } };
    for (arguments, told) in [
        ("", "missing `prompt`"),
        ("prompt", "`prompt` takes a value"),
        ("prompt =", "`prompt` takes a value"),
        ("prompt = topic", "`prompt` takes a string literal"),
        (
            "prompt = \"{topic} {styl:list}\"",
            "unknown prompt variable `styl`",
        ),
        ("prompt = \"{topic} {style:lst}\"", "did you mean `list`?"),
        ("prompt = \"{topic} {style:list} {\"", "is never closed"),
        (
            "prompt = \"{topic} {style:list}\", out",
            "unknown argument `out`",
        ),
        (
            "prompt = \"{topic} {style:list}\", output =",
            "`output` takes a value",
        ),
        (
            "prompt = \"{topic} {style:list}\", output = Vec<",
            "`output` takes a type",
        ),
        (
            "prompt = \"{topic} {style:list}\", output = Choice:: , retries = 0",
            "`output` takes a type",
        ),
        (
            "prompt = \"{topic} {style:list}\" retries = 0",
            "expected `,`",
        ),
        (
            "prompt = \"{topic} {style:list}\", retries = -",
            "`retries` takes a whole number",
        ),
        (
            "prompt = \"{topic} {style:list}\", crate = ",
            "`crate` takes a value",
        ),
        (
            "prompt = \"{topic} {style:list}\", limits",
            "`limits` takes a list",
        ),
        (
            "prompt = \"{topic} {style:list}\", limits()",
            "`limits` is empty",
        ),
        (
            "prompt = \"{topic} {style:list}\", limits(requests =)",
            "`requests` takes a value",
        ),
        (
            "prompt = \"{topic} {style:list}\", recover(network)",
            "`network` takes",
        ),
        (
            "prompt = \"{topic} {style:list}\", recover(network = [ret])",
            "unknown step `ret`",
        ),
        (
            "prompt = \"{topic} {style:list}\", 5",
            "an argument has a name",
        ),
    ] {
        let expansion = crate::node::expand(arguments.parse().unwrap(), item.clone());
        let file: syn::File = syn::parse2(expansion).unwrap();
        let texts: Vec<_> = file
            .items
            .iter()
            .map(|item| quote!(#item).to_string())
            .collect();
        assert_eq!(texts[0], item.to_string(), "{arguments}");
        for part in ["Node", "Exec < AnyRunState >", "LlmNode < AnyRunState >"] {
            assert!(
                texts[1].contains(&format!("__llmnode :: {part} for Ask < T >")),
                "{arguments}: {texts:?}"
            );
        }
        let [error] = &texts[2..] else {
            panic!("{arguments}: {:#?}", &texts[2..])
        };
        assert!(
            error.contains("compile_error") && error.contains(told),
            "{arguments}: {error}"
        );
    }
}

#[test]
fn a_flat_output() {
    let item = quote! { #[derive(Debug)] struct Choice { item: String, tags: Vec<String>, count: Option<u32> } };
    let lines = pinned(
        "flat_output",
        &item,
        crate::output::expand(quote!(), item.clone()),
    );
    assert!(lines <= 40, "{lines} lines");
}

#[test]
fn an_enum_output() {
    let item = quote! {
        #[serde(rename_all = "snake_case", tag = "kind", content = "value")]
        enum Step<T> { Done, Use(Choice), Both { first: (u8, Choice), others: Vec<T> } }
    };
    pinned(
        "enum_output",
        &item,
        crate::output::expand(quote!(state = World), item.clone()),
    );
}

#[test]
fn validators() {
    let item = quote! {
        impl Choice {
            fn item_is_available(&self, state: &World) -> Result<(), Invalid> { todo!() }
            async fn in_stock(&self, attempt: &AttemptInfo, state: &World) -> Result<(), Invalid> { todo!() }
        }
    };
    pinned(
        "validators",
        &item,
        crate::validate::expand(quote!(state), item.clone()),
    );
}

fn flow(name: &str, tokens: TokenStream) -> usize {
    pinned(name, &quote!(), crate::flow::expand(tokens))
}

#[test]
fn a_flow_of_three_steps() {
    let lines = flow(
        "flow",
        quote! {
            /// Searches as long as it has to.
            pub Research(World):
            Decide => match { Decision::Search => Search, Decision::Answer => Answer },
            Search => Decide,
            Answer => end,
        },
    );
    // Nine for each step, and the rest once.
    assert!(lines <= 95, "{lines} lines");
}

#[test]
fn a_flow_with_all_there_is() {
    flow(
        "flow_with_all",
        quote! {
            #[derive(Clone)]
            pub(crate) Translate(Shared<'static>) -> Outcome {
                file: PathBuf => state.part.current,
                /// Into which.
                pub language: Language,
            }, steps = 50, name = "other", crate = crate::llm:
            Decide => match { Answer => end(Outcome::Done), "x" | "y" => First, _ => todo!("later") },
            Inner { text: state.text.clone() } as First in state.part => Again,
            nodes::Ask<u8> { n: 1 } as Again => Part,
            Part in state.0 => Gather,
            (Weather, News) as Gather => end(Outcome::Late),
        },
    );
}

#[test]
fn a_flow_with_faults() {
    flow(
        "flow_with_faults",
        quote! { Research(World): Decide => Serch, Search => end, Search -> end },
    );
}

#[test]
fn a_conditional_flow() {
    flow(
        "flow_conditional",
        quote! { Research(World): #[cfg(a)] Decide => end, #[cfg(not(a))] Other => end },
    );
}

#[test]
fn an_action() {
    let item = quote! {
        enum Decision { Search(String, u8), #[action(name = "done")] Answer, Retry { wait: Duration } }
    };
    let lines = pinned("action", &quote!(), crate::action::expand(item));
    assert!(lines <= 40, "{lines} lines");
}

#[test]
fn a_conditional_item() {
    let item = quote! {
        struct Ask { topic: String, #[cfg(feature = "deep")] depth: u8, #[cfg_attr(feature = "deep", node(skip))] other: u8 }
    };
    node("conditional", quote!(prompt = "{topic}"), item);
}

mod anything {
    use proc_macro2::TokenStream;
    use proptest::prelude::*;

    /// Tokens that are rich in what the macros look at.
    fn tokens() -> impl Strategy<Value = TokenStream> {
        let piece = prop::sample::select(vec![
            "prompt",
            "system",
            "output",
            "state",
            "retries",
            "crate",
            "name",
            "skip",
            "prep",
            "store",
            "action",
            "route",
            "post",
            "batch",
            "concurrency",
            "idempotent",
            "exact",
            "false",
            "a.0.b",
            "=",
            ",",
            ",",
            "=",
            "\"{a}\"",
            "\"{state.x:list} {b}\"",
            "\"{\"",
            "r#\"{topik}\"#",
            "2",
            "-1",
            "0.5",
            "1e999",
            "Vec<u8>",
            "&World",
            "'_",
            "<",
            ">",
            "(a, b)",
            "[u8; 2]",
            "::",
            "World",
            "fn",
            "\"\"",
            "b\"x\"",
            "99999999999",
            "{ a }",
            "#[node(skip)]",
        ]);
        prop::collection::vec(piece, 0..12)
            .prop_map(|pieces| pieces.join(" "))
            .prop_filter_map("tokens", |text| text.parse().ok())
    }

    /// The keys of `recover(…)` and `limits(…)`.
    fn listed() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "schema_error =",
            "answer =",
            "transport =",
            "cancelled =",
            "network",
            "[retry(1), repair(2), fallback]",
            "[bubble, retry]",
            "[]",
            "[retry(5, 1s..60s) model(\"a\"), model(\"a\" b)]",
            "[retry(1, 1s..=2s, 3), repair(\"2\" 5), bubble(1)]",
            "retry",
            "(5",
            "(1s.. 2)",
            ")",
            "requests =",
            "tokens =",
            "money =",
            "time =",
            "10s",
            "0.5",
            "1.5ms..",
            "=",
            ",",
            ",",
            "-",
            "\"\"",
        ]);
        let list = prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.join(" "));
        (
            prop::sample::select(vec!["recover", "limits", "recover =", "recover(), recover"]),
            list,
        )
            .prop_map(|(key, list)| format!("prompt = \"{{a}}\", {key} ({list}), model = \"b\""))
    }

    const ITEMS: [&str; 10] = [
        "struct Ask { a: String, #[node(skip)] r#type: Vec<u8> }",
        "struct Ask { #[prep(state.a?)] a: String, #[prep] b: u8, #[prep(self, |a| a)] c: T }",
        "struct Ask<'a, T>(&'a T);",
        "struct Ask;",
        "enum Ask { #[serde(rename = \"b\")] A(T), B { c: (u8, X) } }",
        "union Ask { a: u8 }",
        "impl<T> Ask<T> { fn a(&self, s: &T, t: &AttemptInfo) -> Result<(), Invalid> {} const B: u8 = 1; fn c() {} }",
        "impl Clone for Ask { fn clone(&self) -> Self {} }",
        "fn ask() {}",
        "struct {",
    ];

    proptest! {
        #[test]
        fn is_answered_with_tokens_that_parse(arguments in tokens(), item in prop::sample::select(ITEMS.to_vec())) {
            let Ok(item) = item.parse::<TokenStream>() else { return Ok(()) };
            for expand in [crate::node::expand, crate::output::expand, crate::validate::expand] {
                let expansion = expand(arguments.clone(), item.clone());
                prop_assert!(syn::parse2::<syn::File>(expansion.clone()).is_ok(), "{}", expansion);
            }
        }

        /// syn's own words have no remedy, and mostly follow on an error that has one.
        #[test]
        fn is_told_in_words_of_our_own(arguments in listed()) {
            let Ok(arguments) = arguments.parse::<TokenStream>() else { return Ok(()) };
            let expansion = crate::node::expand(arguments, ITEMS[0].parse().unwrap()).to_string();
            for words in ["unexpected", "expected one of", "expected identifier", "expected square"] {
                prop_assert!(!expansion.contains(words), "{}", expansion);
            }
        }
    }
}

#[test]
fn a_tool() {
    let item = quote! {
        /// Finds books.
        pub async fn find_books(
            /// A word.
            word: &str,
            limit: u8,
            library: &Library,
        ) -> Result<Vec<Book>, Missing> {
            todo!()
        }
    };
    let lines = pinned(
        "tool",
        &item,
        crate::tool::expand(quote!(alone, deadline = 30s), item.clone()),
    );
    assert!(lines <= 130, "{lines} lines");
}

#[test]
fn a_node_with_tools_that_is_a_tool() {
    let arguments = quote!(
        tool,
        prompt = "{question}",
        state = Library,
        tools = [FindBooks, Praise],
        turns = 6
    );
    let item = quote! {
        /// Recommends a book.
        struct Recommend { question: String }
    };
    let lines = node("agent", arguments, item);
    assert!(lines <= 130, "{lines} lines");
}
