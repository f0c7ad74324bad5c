#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| truebloom_fuzz::travel(data));
