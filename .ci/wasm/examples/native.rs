//! Prints the answers of this machine in hexadecimal digits, one answer per line.

fn main() {
    (0..truebloom_wasm_check::ANSWERS).for_each(|number| println!("{:016x}", truebloom_wasm_check::answer(number)));
}
