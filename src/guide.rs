//! The pages of the documentation, each about one matter across all items.
//!
//! Each item says of itself what it does; these pages say what holds for several of them, with programs and figures. Their snippets
//! are run with the tests.

/// Where the pages' links to each other lead here. In the repository, where they lead to files, each page has its own below.
macro_rules! links {
    () => {
        "[../README.md#categories]: crate#categories
[decisions.md]: self::decisions
[durability.md]: self::durability
[endpoints.md]: self::endpoints
[observability.md]: self::observability
[performance.md#flows]: self::performance#flows
[mutants.md]: self::mutants
[reading.md]: self::reading
[reading.md#what-is-refused]: self::reading#what-is-refused
[reliability.md]: self::reliability
[schemas.md#who-takes-which]: self::schemas#who-takes-which\n\n"
    };
}

/// A page. Its snippets are run `if` their features are there.
macro_rules! page {
    ($name:ident, $run:meta) => {
        #[cfg_attr(any(not(doctest), $run), doc = links!())]
        #[cfg_attr(any(not(doctest), $run), doc = include_str!(concat!("../docs/", stringify!($name), ".md")))]
        pub mod $name {}
    };
}

page!(decisions, any());
page!(durability, feature = "journal");
page!(endpoints, feature = "openai");
page!(errors, any());
page!(mutants, any());
page!(observability, doctest);
page!(performance, any());
page!(pocketflow, doctest);
page!(prompts, doctest);
page!(reading, doctest);
page!(reliability, any());
page!(schemas, feature = "openai");
page!(service, any());
page!(testing, any());
