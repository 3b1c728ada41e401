//! The guides. Their snippets run with the tests. Pages for those who change llmnode (decisions, performance, verification) are in
//! the repository alone.

/// Where the pages' links lead in rustdoc. In the repository they lead to files, by the definitions at the end of each page.
macro_rules! links {
    () => {
        "[../README.md#errors]: crate#errors
[agents.md]: self::agents
[approval.md]: self::approval
[calls.md#rate-limits-and-outages]: self::calls#rate-limits-and-outages
[calls.md#reasoning]: self::calls#reasoning
[cassettes.md]: self::cassettes
[chat.md]: self::chat
[comparison.md]: self::comparison
[durability.md]: self::durability
[endpoints.md]: self::endpoints
[errors.md]: self::errors
[flows.md]: self::flows
[graphs.md]: self::graphs
[many-machines.md]: self::many_machines
[mcp.md]: self::mcp
[observability.md]: self::observability
[optimising.md]: self::optimising
[graph-page.md]: self::graph_page
[pages.md]: self::pages
[providers.md]: self::providers
[providers.md#anthropic]: self::providers#anthropic
[reading.md]: self::reading
[reading.md#what-is-refused]: self::reading#what-is-refused
[reliability.md]: self::reliability
[reliability.md#limits-and-cost]: self::reliability#limits-and-cost
[small-models.md]: self::small_models
[small-models.md#tools]: self::small_models#tools
[smart-nodes.md]: self::smart_nodes
[streams.md]: self::streams
[retrieval.md]: self::retrieval
[schemas.md#who-takes-which]: self::schemas#who-takes-which
[validation.md]: self::validation\n\n"
    };
}

/// A page. Its snippets run if their features are on.
macro_rules! page {
    ($name:ident, $run:meta) => {
        page!($name, stringify!($name), $run);
    };
    ($name:ident, $file:expr, $run:meta) => {
        #[cfg_attr(any(not(doctest), $run), doc = links!())]
        #[cfg_attr(any(not(doctest), $run), doc = include_str!(concat!("../docs/", $file, ".md")))]
        pub mod $name {}
    };
}

page!(agents, doctest);
page!(approval, doctest);
page!(calls, doctest);
page!(cassettes, all(doctest, feature = "cassette", feature = "openai"));
page!(chat, doctest);
page!(comparison, any());
page!(durability, feature = "journal");
page!(endpoints, feature = "openai");
page!(errors, any());
page!(flows, doctest);
page!(graph_page, "graph-page", all(doctest, feature = "serve"));
page!(graphs, all(doctest, feature = "graph"));
page!(many_machines, "many-machines", any());
page!(mcp, all(doctest, feature = "mcp"));
page!(observability, doctest);
page!(optimising, all(doctest, feature = "smart"));
page!(pages, all(doctest, feature = "page"));
page!(pocketflow, doctest);
page!(prompts, doctest);
page!(providers, feature = "openai");
page!(reading, doctest);
page!(reliability, doctest);
page!(retrieval, all(doctest, feature = "rag-sqlite"));
page!(schemas, all(doctest, feature = "openai", feature = "chrono04", feature = "rust_decimal1"));
page!(service, doctest);
page!(small_models, "small-models", all(doctest, feature = "openai"));
page!(smart_nodes, "smart-nodes", all(doctest, feature = "smart"));
page!(streams, doctest);
page!(testing, any());
page!(validation, doctest);

/// What coding agents read: each of its programs runs with the tests.
#[cfg(all(doctest, feature = "graph", feature = "openai", feature = "rag"))]
#[doc = include_str!("../skills/llmnode/SKILL.md")]
mod skill {}
