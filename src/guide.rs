// Where the pages' links lead in rustdoc is in `guide_links.md`. In the repository they lead to files, by the definitions at the end of
// each page; the first definition of a name counts. Their snippets run with the tests. Pages for those who change llmnode (decisions,
// performance, probes, verification) are in the repository alone.
#![doc = include_str!("guide_links.md")]
#![doc = include_str!("../docs/README.md")]

/// A page. Its snippets run if their features are on.
macro_rules! page {
    ($name:ident, $run:meta) => {
        page!($name, stringify!($name), $run);
    };
    ($name:ident, $file:expr, $run:meta) => {
        #[cfg_attr(any(not(doctest), $run), doc = include_str!("guide_links.md"))]
        #[cfg_attr(any(not(doctest), $run), doc = include_str!(concat!("../docs/", $file, ".md")))]
        pub mod $name {}
    };
}

page!(agent_details, "agent-details", doctest);
page!(agents, doctest);
page!(
    another_provider,
    "another-provider",
    all(doctest, feature = "anthropic", feature = "openai")
);
page!(approval, all(doctest, feature = "openai"));
page!(calls, doctest);
page!(
    cassettes,
    all(doctest, feature = "cassette", feature = "openai")
);
page!(categories, any());
page!(chat, all(doctest, feature = "chats"));
page!(chats, all(doctest, feature = "chats"));
page!(comparison, any());
page!(durability, feature = "journal");
page!(endpoints, feature = "openai");
page!(errors, any());
page!(
    evaluate,
    all(
        doctest,
        feature = "evals",
        feature = "openai",
        feature = "prices"
    )
);
page!(
    caches,
    all(doctest, feature = "openai", feature = "stub-server")
);
page!(extract, all(doctest, feature = "openai"));
page!(flows, doctest);
page!(graph_page, "graph-page", all(doctest, feature = "serve"));
page!(graphs, all(doctest, feature = "graph"));
page!(how_this_is_made, "how-this-is-made", any());
page!(in_a_library, "in-a-library", doctest);
page!(
    keep_a_chat,
    "keep-a-chat",
    all(doctest, feature = "chats-sqlite", feature = "openai")
);
page!(limits, any());
page!(look, all(doctest, feature = "openai", feature = "page"));
page!(many_machines, "many-machines", any());
page!(
    many_rows,
    "many-rows",
    all(doctest, feature = "journal", feature = "openai")
);
page!(mcp, all(doctest, feature = "mcp"));
page!(observability, doctest);
page!(optimising, all(doctest, feature = "smart"));
page!(
    overnight,
    all(
        doctest,
        feature = "batch",
        feature = "openai",
        feature = "prices",
        feature = "stub-server"
    )
);
page!(pages, all(doctest, feature = "page"));
page!(pocketflow, doctest);
page!(prompts, doctest);
page!(providers, feature = "openai");
page!(reading, doctest);
page!(reliability, doctest);
page!(retrieval, all(doctest, feature = "rag-sqlite"));
page!(
    schemas,
    all(
        doctest,
        feature = "openai",
        feature = "chrono04",
        feature = "rust_decimal1"
    )
);
page!(service, doctest);
page!(
    small_models,
    "small-models",
    all(doctest, feature = "openai")
);
page!(smart_nodes, "smart-nodes", all(doctest, feature = "smart"));
page!(stability, any());
page!(streams, doctest);
page!(
    survive,
    all(doctest, feature = "journal", feature = "openai")
);
page!(testing, any());
page!(tools, all(doctest, feature = "openai"));
page!(validation, doctest);

/// What coding agents read: each of its programs runs with the tests.
#[cfg(all(doctest, feature = "graph", feature = "openai", feature = "rag"))]
#[doc = include_str!("../skills/llmnode/SKILL.md")]
mod skill {}
