//! Prints the JSON Schema of the API of `ctx studio`, from which the types of the page are made.

#![expect(clippy::print_stdout, reason = "the schema is its output")]

fn main() {
    println!("{:#}", ctx_studio::api_schema());
}
