/// Recommends a book.
struct Recommend {
    question: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Recommend {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "recommend";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL
            .description("Recommends a book.");
    }
    #[automatically_derived]
    impl __llmnode::Exec<Library> for Recommend {
        const ASKS: __llmnode::Asks<Self, Library> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, Library>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<Library> for Recommend {
        fn render(&self, _: &Library, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::value(&self.question)]);
        }
        fn own_values(
            &self,
            _: &Library,
            __to: &mut __llmnode::Prompt,
        ) -> ::core::primitive::bool {
            __to.user(&[__llmnode::Segment::value(&self.question)]);
            true
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, Library> {
            __llmnode::OutputSpec::text()
        }
        fn tools(&self, __to: &mut __llmnode::Tools<Library>) {
            __to.add::<FindBooks>();
            __to.add::<Praise>();
            __to.turns(6);
        }
    }
    __llmnode::impl_arc_state!(Recommend, Library, [] []);
    #[automatically_derived]
    impl __llmnode::Tool<Library> for Recommend {
        fn arguments() -> __llmnode::OutputSpec<Self, Library> {
            use __llmnode::probes::*;
            #[allow(unused_imports)]
            use ::core::convert::{From as _, Into as _};
            /// Recommends a book.
            #[derive(__llmnode::serde::Deserialize, __llmnode::schemars::JsonSchema)]
            #[serde(crate = "::llmnode::__private::serde")]
            #[schemars(crate = "::llmnode::__private::schemars", rename = "Recommend")]
            #[schemars(
                extend(
                    "x-llmnode-validated" = (
                        {use::llmnode::__private::probes::*;(
                            &&::llmnode::__private::CoverageProbe::<Recommend>::new()
                        ).__mark(::core::concat!(::core::module_path!(), "::Recommend"))}
                    )
                )
            )]
            struct __Arguments<A0> {
                question: A0,
            }
            fn __read<A0: __llmnode::Argument>() -> __llmnode::TypeReader<
                __Arguments<A0>,
            > {
                __llmnode::TypeReader::new()
            }
            __llmnode::OutputSpec::arguments(
                __read::<String>(),
                |__Arguments { question }| Self { question },
                |__to| {
                    (&&&&__llmnode::CoverageProbe::<Recommend>::new()).__coverage(__to)
                },
                |__value, __to| (&&&__llmnode::Traverse(__value)).__walk::<Library>(__to),
            )
        }
        fn reply(__output: &<Self as __llmnode::Node>::Output) -> __llmnode::Replied {
            __llmnode::reply(&*__output)
        }
    }
    const _: () = {
        use ::llmnode::__private as __llmnode;
        #[automatically_derived]
        impl __llmnode::ValidatedFields for Recommend {
            fn coverage(__to: &mut __llmnode::Coverage) {
                __to.enter(::core::concat!(::core::module_path!(), "::Recommend"));
            }
        }
        #[automatically_derived]
        impl<
            AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
        > __llmnode::ValidateFields<AnyRunState> for Recommend {
            fn fields<'checked>(
                &'checked self,
                _: &mut __llmnode::Checks<'checked, AnyRunState>,
            ) {}
        }
        __llmnode::impl_validate_all!(Recommend, [] [] Recommend);
    };
};
