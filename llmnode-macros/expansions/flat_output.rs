#[derive(
    ::llmnode::__private::serde::Serialize,
    ::llmnode::__private::serde::Deserialize,
    ::llmnode::__private::schemars::JsonSchema
)]
#[derive(Debug)]
#[serde(crate = "::llmnode::__private::serde")]
#[schemars(crate = "::llmnode::__private::schemars")]
#[schemars(
    extend(
        "x-llmnode-validated" = (
            {use::llmnode::__private::probes::*;(
                &&::llmnode::__private::CoverageProbe::<Choice>::new()
            ).__mark(::core::concat!(::core::module_path!(), "::Choice"))}
        )
    )
)]
struct Choice {
    item: String,
    tags: Vec<String>,
    count: Option<u32>,
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::ValidatedFields for Choice {
        fn coverage(__to: &mut __llmnode::Coverage) {
            __to.enter(::core::concat!(::core::module_path!(), "::Choice"));
        }
    }
    #[automatically_derived]
    impl<
        AnyRunState: ?::core::marker::Sized + ::core::marker::Sync,
    > __llmnode::ValidateFields<AnyRunState> for Choice {
        fn fields<'checked>(
            &'checked self,
            _: &mut __llmnode::Checks<'checked, AnyRunState>,
        ) {}
    }
    __llmnode::impl_validate_all!(Choice, [] [] Choice);
};
