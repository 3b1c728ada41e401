//! Text helpers, and macros for fields.

use llmnode_reader::text::{floor_char_boundary, one_line};

/// A `Debug` with selected fields: the others are content, or useless to a reader.
macro_rules! impl_debug {
    ($([$($generics:tt)*])? $name:ident $(<$($arguments:tt),*>)?: $($field:ident),*) => {
        impl<$($($generics)*)?> std::fmt::Debug for $name $(<$($arguments),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))$(.field(stringify!($field), &self.$field))*.finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use impl_debug;

macro_rules! const_setters {
    ($($(#[$about:meta])* $setting:ident: $type:ty,)*) => {$(
        $(#[$about])*
        #[must_use]
        pub const fn $setting(mut self, $setting: $type) -> Self {
            self.$setting = Some($setting);
            self
        }
    )*};
}
pub(crate) use const_setters;

pub(crate) fn cut(mut text: String, cap: usize) -> String {
    if text.len() > cap {
        text.truncate(floor_char_boundary(&text, cap));
        text.shrink_to_fit();
    }
    text
}

/// A path such as `a -> b -> … -> c`; a long one is cut in the middle.
/// A text of at most this many bytes, and how many were cut.
pub fn capped(text: String, most: usize) -> String {
    let length = text.len();
    if length <= most {
        return text;
    }
    let kept = cut(text, most);
    format!("{kept}\n[cut: {} of {length} bytes]", kept.len())
}

fn joined(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| one_line(*name, 100)).collect();
    names.join(" -> ")
}

pub(crate) fn shortened(path: &[&str]) -> String {
    const SHOWN: usize = 3;
    match path.len() {
        all if all <= 2 * SHOWN + 1 => joined(path),
        all => format!(
            "{} -> … -> {}",
            joined(&path[..SHOWN]),
            joined(&path[all - SHOWN..])
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(cut("häuser".to_owned(), 2), "h");
    }
}
