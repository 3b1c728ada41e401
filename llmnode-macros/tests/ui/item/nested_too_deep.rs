// Cause: the item is nested deeper than a macro can read.
// Mend: give an inner part a name of its own, such as a constant.
#![allow(unused_parens)]

use llmnode::prelude::*;

#[rustfmt::skip]
#[llm_node(prompt = "Greet {name}.")]
struct Greet {
    name: [u8;
        (((((((((((((((((((((((((((((((((((((((((((
        (((((((((((((((((((((((((((((((((((((((((((
        (((((((((((((((((((((((((((((((((((((((((((
        1
        )))))))))))))))))))))))))))))))))))))))))))
        )))))))))))))))))))))))))))))))))))))))))))
        )))))))))))))))))))))))))))))))))))))))))))
    ],
}

fn main() {
    let _ = Greet { name: [0] };
}
