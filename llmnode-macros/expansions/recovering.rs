struct Rate {
    topic: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Rate {
        type Output = u8;
        const NAME: &'static __llmnode::str = "rate";
        const SETTINGS: &'static __llmnode::Settings = &__llmnode::Settings::new()
            .deadline(::core::time::Duration::from_millis(1500))
            .stated_recover(const {
                &[
                    (
                        __llmnode::Failures::Category(__llmnode::Category::SchemaError),
                        __llmnode::Cow::Borrowed(
                            &[
                                __llmnode::Recovery::retry(1),
                                __llmnode::Recovery::repair(2),
                                __llmnode::Recovery::Fallback,
                            ],
                        ),
                    ),
                    (
                        __llmnode::Failures::Transport,
                        __llmnode::Cow::Borrowed(
                            &[
                                __llmnode::Recovery::retry_with(
                                    5,
                                    __llmnode::Backoff::growing(
                                        ::core::time::Duration::from_millis(1000),
                                        ::core::time::Duration::from_millis(60000),
                                    ),
                                ),
                                __llmnode::Recovery::retry_with(
                                    1,
                                    __llmnode::Backoff::fixed(
                                        ::core::time::Duration::from_millis(10000),
                                    ),
                                ),
                                __llmnode::Recovery::model("small"),
                                __llmnode::Recovery::Bubble,
                            ],
                        ),
                    ),
                ]
            })
            .stated_fallback_model("big")
            .exact(true);
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL
            .limits(__llmnode::Limits::new().requests(5).tokens(2000).money(0.05))
            .fallback(true);
    }
    #[automatically_derived]
    impl __llmnode::Exec<World> for Rate {
        const ASKS: __llmnode::Asks<Self, World> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, World>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<World> for Rate {
        fn render(&self, _: &World, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::value(&self.topic)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            use __llmnode::probes::*;
            __llmnode::OutputSpec::json(
                |__to| (&&&&__llmnode::CoverageProbe::<u8>::new()).__coverage(__to),
                |__value, __to| (&&&__llmnode::Traverse(__value)).__walk::<World>(__to),
            )
        }
        fn fallback<'__llmnode>(
            &'__llmnode self,
            __state: &'__llmnode World,
            __error: &'__llmnode __llmnode::NodeError,
            __to: &'__llmnode mut ::core::option::Option<Self::Output>,
        ) -> ::core::option::Option<__llmnode::FallbackFuture<'__llmnode>> {
            ::core::option::Option::Some(
                __llmnode::fallback_with_state(
                    self,
                    __state,
                    __error,
                    self::middle,
                    __to,
                ),
            )
        }
        fn fallback_text(
            &self,
            __value: &Self::Output,
        ) -> ::core::option::Option<::std::string::String> {
            use __llmnode::probes::*;
            (&&__llmnode::FallbackProbe(__value)).__fallback_text()
        }
    }
    __llmnode::impl_arc_state!(Rate, World, [] []);
};
