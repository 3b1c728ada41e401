//! What holds of the reader and the schemas whatever they are given. Each check panics where it does not.
//!
//! `fuzz/fuzz_targets/` gives them to libFuzzer; the program `fixed` runs them a fixed number of times on inputs of its own.

mod draw;
mod mangle;
mod reads;
mod rules;
mod schemas;
mod slices;
mod soup;
mod typed;
mod untyped;
mod values;

use std::cell::Cell;

use draw::Draw;

thread_local! {
    /// How many texts of `mangled` were read, of all.
    static READ: Cell<u64> = const { Cell::new(0) };
}

/// Prints how often the reader ran on this thread, since an execution of a target runs it several times, and how many of
/// the texts of [`mangled`] were read; the others were refused.
pub fn print_read() {
    let (runs, read) = (reads::runs(), READ.get());
    if runs > 0 {
        println!("runs of the reader: {runs}");
    }
    if read > 0 {
        println!("read as they were: {read}");
    }
}

/// Any text as what a model wrote.
pub fn reader(text: &str) {
    let _told = Told(text);
    untyped::holds(text);
    typed::holds(text);
}

/// A text that is printed if it fails.
struct Told<'t>(&'t str);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the text: {:?}", self.0);
        }
    }
}

/// A text of parts that the reader knows, put together by `bytes`.
pub fn soup(bytes: &[u8]) {
    reader(&soup::text(&mut Draw::new(bytes)));
}

/// A value, written in a way that is nearly JSON: it is read as it was, or not at all.
pub fn mangled(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let value = values::value(&mut draw);
    let mut text = mangle::text(&value, &mut draw);
    untyped::is_or_is_refused(&text, &value);
    if let Some(poisoned) = mangle::poisoned(&text) {
        untyped::is_refused(&poisoned);
    }
    // A call around JSON is no JSON.
    untyped::is_refused(&format!("callback({value});"));
    reader(&text);
    mangle::cut(&mut text, &mut draw);
    untyped::is_begun_or_refused(&text, &value);
    mangle::change(&mut text, &mut draw);
    reader(&text);
}

/// A schema, made by `bytes`.
pub fn schema(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    rules::hold(schemas::schema(&mut draw), &mut draw);
}
