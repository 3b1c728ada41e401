const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl __llmnode::Action for Decision {
        const NAMES: ::core::option::Option<
            &'static [&'static ::core::primitive::str],
        > = ::core::option::Option::Some(&["Search", "done", "Retry"]);
        fn name(&self) -> __llmnode::Cow<'static, ::core::primitive::str> {
            __llmnode::Cow::Borrowed(
                match self {
                    Self::Search { .. } => "Search",
                    Self::Answer { .. } => "done",
                    Self::Retry { .. } => "Retry",
                },
            )
        }
    }
    #[automatically_derived]
    impl ::core::convert::From<&Decision> for Decision {
        fn from(__action: &Decision) -> Self {
            match __action {
                Self::Search { 0: __field0, 1: __field1 } => {
                    Self::Search {
                        0: ::core::clone::Clone::clone(__field0),
                        1: ::core::clone::Clone::clone(__field1),
                    }
                }
                Self::Answer => Self::Answer,
                Self::Retry { wait: __field0 } => {
                    Self::Retry {
                        wait: ::core::clone::Clone::clone(__field0),
                    }
                }
            }
        }
    }
};
