#[allow(clippy::needless_pass_by_value)]
/// Finds books.
pub async fn find_books(
    word: &str,
    limit: u8,
    library: &Library,
) -> Result<Vec<Book>, Missing> {
    todo!()
}
/// Finds books.
#[allow(missing_docs, clippy::exhaustive_structs)]
pub struct FindBooks {
    /// A word.
    pub word: ::std::string::String,
    pub limit: u8,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::ValidatedFields for FindBooks {
        fn coverage(__to: &mut __llmnode::Coverage) {
            __to.enter(::core::concat!(::core::module_path!(), "::FindBooks"));
        }
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::ValidateFields<AnyRunState> for FindBooks {
        fn fields<'checked>(
            &'checked self,
            _: &mut __llmnode::Checks<'checked, AnyRunState>,
        ) {}
    }
    __llmnode::impl_validate_all!(FindBooks, [] [] FindBooks);
};
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for FindBooks {
        type Output = <Result<Vec<Book>, Missing> as __llmnode::ResultOf>::Value;
        const NAME: &'static __llmnode::str = "find_books";
        const SETTINGS: &'static __llmnode::Settings = &__llmnode::Settings::new()
            .deadline(::core::time::Duration::from_millis(30000));
        const FACTS: __llmnode::NodeFacts = __llmnode::NodeFacts::new()
            .description("Finds books.");
    }
    #[automatically_derived]
    impl __llmnode::Exec<Library> for FindBooks {
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, Library>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            #[allow(unused_imports)]
            use __llmnode::probes::*;
            async move {
                __llmnode::fallible(
                    find_books(
                            &self.word,
                            (&&&__llmnode::CloneProbe(&self.limit)).__cloned(),
                            __llmnode::Cx::state(__cx),
                        )
                        .await,
                )
            }
        }
    }
    #[automatically_derived]
    impl __llmnode::Tool<Library> for FindBooks {
        const ALONE: ::core::primitive::bool = true;
        fn arguments() -> __llmnode::OutputSpec<Self, Library> {
            use __llmnode::probes::*;
            #[allow(unused_imports)]
            use ::core::convert::{From as _, Into as _};
            /// Finds books.
            #[derive(__llmnode::serde::Deserialize, __llmnode::schemars::JsonSchema)]
            #[serde(crate = "::llmnode::__private::serde")]
            #[schemars(crate = "::llmnode::__private::schemars", rename = "FindBooks")]
            #[schemars(
                extend(
                    "x-llmnode-validated" = (
                        {use::llmnode::__private::probes::*;(
                            &&::llmnode::__private::CoverageProbe::<FindBooks>::new()
                        ).__mark(::core::concat!(::core::module_path!(), "::FindBooks"))}
                    )
                )
            )]
            struct __Arguments<A0, A1> {
                /// A word.
                word: A0,
                limit: A1,
            }
            fn __read<A0: __llmnode::Argument, A1: __llmnode::Argument>() -> __llmnode::TypeReader<
                __Arguments<A0, A1>,
            > {
                __llmnode::TypeReader::new()
            }
            __llmnode::OutputSpec::arguments(
                __read::<::std::string::String, u8>(),
                |__Arguments { word, limit }| Self { word, limit },
                |__to| {
                    (&&&&__llmnode::CoverageProbe::<FindBooks>::new()).__coverage(__to)
                },
                |__value, __to| (&&&__llmnode::Traverse(__value)).__walk::<Library>(__to),
            )
        }
        fn reply(__output: &<Self as __llmnode::Node>::Output) -> __llmnode::Replied {
            __llmnode::reply(&*__output)
        }
    }
};
