//! The answers of this machine, one a line, as hexadecimal digits.

fn main() {
    (0..truebloom_wasm_check::ANSWERS).for_each(|number| println!("{:016x}", truebloom_wasm_check::answer(number)));
}
