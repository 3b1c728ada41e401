struct Ask {
    a: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Ask {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "ask";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL;
    }
    #[automatically_derived]
    impl __llmnode::Exec<World> for Ask {
        const ASKS: __llmnode::Asks<Self, World> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, World>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl __llmnode::LlmNode<World> for Ask {
        fn render(&self, _: &World, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::value(&self.a)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            __llmnode::OutputSpec::text()
        }
    }
    __llmnode::impl_arc_state!(Ask, World, [] []);
    #[automatically_derived]
    impl __llmnode::BatchStep<World> for Ask {
        type Output = <Self as __llmnode::Node>::Output;
        type Action = Next;
        const CONCURRENCY: ::core::primitive::usize = 4;
        fn prep(
            state: &World,
        ) -> impl __llmnode::Future<
            Output = __llmnode::Prepared<::std::vec::Vec<Self>>,
        > + __llmnode::Send {
            __llmnode::batch::<Self, _, _, _>(state, each)
        }
        fn post(
            _: ::std::vec::Vec<Self>,
            __output: ::std::vec::Vec<<Self as __llmnode::Node>::Output>,
            state: &mut World,
        ) -> __llmnode::Posted<Self::Action> {
            let __action = __llmnode::decided::<
                Next,
                ::std::vec::Vec<<Self as __llmnode::Node>::Output>,
            >(&__output);
            __llmnode::store(&mut state.all, (__output,).0);
            ::core::result::Result::Ok(__action)
        }
    }
};
