/// Judges a claim.
struct Judge {
    /// what is known
    facts: Vec<String>,
    claim: String,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Node for Judge {
        type Output = Verdict;
        const NAME: &'static __llmnode::str = "judge";
        const SETTINGS: &'static __llmnode::Settings = &__llmnode::Settings::new()
            .retries(1);
        const FACTS: __llmnode::NodeFacts = __llmnode::ASKS_MODEL
            .description("Judges a claim.");
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::Exec<AnyRunState> for Judge {
        fn exec(
            &self,
            __cx: &__llmnode::Cx<'_, AnyRunState>,
        ) -> impl __llmnode::Future<Output = __llmnode::Yield<Self>> + __llmnode::Send {
            __llmnode::smart::exec(self, __cx)
        }
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::LlmNode<AnyRunState> for Judge {
        fn render(&self, _: &AnyRunState, __to: &mut __llmnode::Prompt) {
            __llmnode::smart::render(self, __to);
        }
        #[inline]
        fn output(&self) -> __llmnode::OutputSpec<Self::Output, AnyRunState> {
            use __llmnode::probes::*;
            __llmnode::smart::answers::<
                Self,
                AnyRunState,
            >(
                |__to| (&&&&__llmnode::CoverageProbe::<Verdict>::new()).__coverage(__to),
                |__value, __to| {
                    (&&&__llmnode::Traverse(__value)).__walk::<AnyRunState>(__to)
                },
            )
        }
    }
    __llmnode::smart::row!(Judge : Serialize Deserialize);
    #[automatically_derived]
    impl __llmnode::smart::Smart for Judge {
        fn declared() -> &'static __llmnode::smart::TypedSignature {
            static DECLARED: ::std::sync::OnceLock<__llmnode::smart::TypedSignature> = ::std::sync::OnceLock::new();
            ::std::sync::OnceLock::get_or_init(
                &DECLARED,
                || {
                    __llmnode::smart::SignatureBuilder::thinking::<
                        Verdict,
                    >("Judge the claim.", __llmnode::smart::Form::Chat)
                        .input::<Vec<String>>("facts", "what is known")
                        .input::<String>("claim", "")
                        .done()
                },
            )
        }
        fn values(&self) -> __llmnode::smart::WrittenValues {
            let mut __to = __llmnode::smart::InputWriter::new(
                <Self as __llmnode::smart::Smart>::declared(),
            );
            __to.add(&self.facts);
            __to.add(&self.claim);
            __to.done()
        }
        fn read(
            __from: &__llmnode::smart::Map<
                ::std::string::String,
                __llmnode::smart::Value,
            >,
        ) -> __llmnode::smart::ReadResult<Self> {
            let mut __from = __llmnode::smart::InputReader::new(
                <Self as __llmnode::smart::Smart>::declared(),
                __from,
            );
            let facts = __from.field();
            let claim = __from.field();
            let __node = (|| ::core::option::Option::Some(Self {
                facts: facts?,
                claim: claim?,
            }))();
            __from.done(__node)
        }
    }
};
