struct Ask<T: Text> {
    a: T,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl<T: Text> __llmnode::Node for Ask<T>
    where
        Self: ::core::marker::Sync,
        T: __llmnode::PromptValue,
    {
        type Output = ::std::string::String;
        const NAME: &'static __llmnode::str = "ask";
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL.idempotent(false);
    }
    #[automatically_derived]
    impl<T: Text> __llmnode::Exec<World> for Ask<T>
    where
        Self: ::core::marker::Sync,
        T: __llmnode::PromptValue,
    {
        const ASKS: __llmnode::Asks<Self, World> = __llmnode::asks();
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, World>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl<T: Text> __llmnode::LlmNode<World> for Ask<T>
    where
        Self: ::core::marker::Sync,
        T: __llmnode::PromptValue,
    {
        fn render(&self, _: &World, __to: &mut __llmnode::Prompt) {
            __to.user(&[__llmnode::Segment::value(&self.a)]);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, World> {
            __llmnode::OutputSpec::text()
        }
    }
    __llmnode::impl_arc_state!(
        Ask < T >, World, [T : Text,] [Self : ::core::marker::Sync, T :
        __llmnode::PromptValue,]
    );
    #[automatically_derived]
    impl<T: Text> __llmnode::Step<World> for Ask<T>
    where
        Self: ::core::marker::Sync,
        T: __llmnode::PromptValue,
        Self: ::core::marker::Send,
    {
        type Output = <Self as __llmnode::Node>::Output;
        type Action = Next;
        fn prep(
            state: &World,
        ) -> impl __llmnode::Future<
            Output = __llmnode::Prepared<Self>,
        > + __llmnode::Send {
            __llmnode::prep::<Self, _, _, _>(state, Self::new)
        }
        fn post(
            self,
            __output: <Self as __llmnode::Node>::Output,
            state: &mut World,
        ) -> __llmnode::Posted<Self::Action> {
            let __action = __llmnode::route::<
                Self::Action,
                _,
                _,
                _,
                _,
            >(&*__output, &*state, next::<T>)?;
            __llmnode::store(&mut state.a.0.b, (__output,).0);
            ::core::result::Result::Ok(__action)
        }
    }
};
