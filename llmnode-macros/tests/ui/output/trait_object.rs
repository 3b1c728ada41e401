// Cause: a field of an answer is a trait object, as if a model could write any type.
// Mend: write an enum of the types.
// Token: dyn Shape
use llmnode::prelude::*;

trait Shape {
    fn area(&self) -> f64;
}

#[llm_output]
struct Drawing {
    shapes: Vec<Box<dyn Shape>>,
}

fn area(drawing: &Drawing) -> f64 {
    drawing.shapes.iter().map(|shape| shape.area()).sum()
}

fn main() {}
