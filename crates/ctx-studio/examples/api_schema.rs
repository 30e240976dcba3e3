//! Prints the JSON Schema of the API of `ctx studio`, from which the types of the page are made.

fn main() {
    println!("{:#}", ctx_studio::api_schema());
}
