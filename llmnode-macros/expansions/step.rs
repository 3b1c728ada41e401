/// Summarizes the current file.
struct Summarize {
    title: String,
    text: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Summarize {
        type Output = Summary;
        const NAME: &'static __llmnode::str = "summarize";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL
            .description("Summarizes the current file.");
    }
    #[automatically_derived]
    impl __llmnode::Exec<Shared> for Summarize {
        const ASKS: __llmnode::Asks<Self, Shared> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, Shared>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<Shared> for Summarize {
        fn render(&self, _: &Shared, __to: &mut __llmnode::Prompt) {
            __to.user(
                &[
                    __llmnode::Segment::text("Summarize "),
                    __llmnode::Segment::value(&self.title),
                    __llmnode::Segment::text(":\n"),
                    __llmnode::Segment::value(&self.text),
                ],
            );
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, Shared> {
            use __llmnode::probes::*;
            __llmnode::OutputSpec::json(
                |__to| (&&&&__llmnode::CoverageProbe::<Summary>::new()).__coverage(__to),
                |__value, __to| (&&&__llmnode::Traverse(__value)).__walk::<Shared>(__to),
            )
        }
    }
    __llmnode::impl_arc_state!(Summarize, Shared, [] []);
    #[automatically_derived]
    impl __llmnode::Step<Shared> for Summarize {
        type Output = <Self as __llmnode::Node>::Output;
        type Action = ();
        fn prep(
            state: &Shared,
        ) -> impl __llmnode::Future<
            Output = __llmnode::Prepared<Self>,
        > + __llmnode::Send {
            use __llmnode::forms::*;
            __llmnode::prepared(
                state,
                |state| ::core::result::Result::Ok(Self {
                    title: match (state.title.clone(),) {
                        __given => {
                            __llmnode::Field::<
                                String,
                            >::given("title", __given.0, |__it| (&&&__it).__form())?
                        }
                    },
                    text: match (state.files.get(&state.current).cloned(),) {
                        __given => {
                            __llmnode::Field::<
                                String,
                            >::given("text", __given.0, |__it| (&&&__it).__form())?
                        }
                    },
                }),
            )
        }
        fn post(
            self,
            __output: <Self as __llmnode::Node>::Output,
            state: &mut Shared,
        ) -> __llmnode::Posted<Self::Action> {
            __llmnode::store(&mut state.summary, (__output,).0);
            ::core::result::Result::Ok(())
        }
    }
};
