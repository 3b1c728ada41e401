struct GoOn;
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for GoOn {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "go_on";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl __llmnode::Exec<World> for GoOn {
        const ASKS: __llmnode::Asks<Self, World> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, World>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<World> for GoOn {
        fn render(&self, _: &World, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::text("Go on.")]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            __llmnode::OutputSpec::text()
        }
    }
    __llmnode::impl_arc_state!(GoOn, World, [] []);
    #[automatically_derived]
    impl __llmnode::Step<World> for GoOn {
        type Output = <Self as __llmnode::Node>::Output;
        type Action = ();
        fn prep(
            _: &World,
        ) -> impl __llmnode::Future<
            Output = __llmnode::Prepared<Self>,
        > + __llmnode::Send {
            __llmnode::prepared(&(), |_| ::core::result::Result::Ok(Self {}))
        }
        fn post(
            self,
            __output: <Self as __llmnode::Node>::Output,
            state: &mut World,
        ) -> __llmnode::Posted<Self::Action> {
            __llmnode::post::<Self::Action, _, _, _, _, _>(self, __output, state, finish)
        }
    }
};
