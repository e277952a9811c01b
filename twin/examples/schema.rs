//! Prints the JSON Schema of scenarios and results: `cargo run --example schema`.

fn main() {
    println!("{}", qosforge_twin::schema());
}
