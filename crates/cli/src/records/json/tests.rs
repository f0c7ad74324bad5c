use super::*;

fn find(text: &str, path: &str) -> Result<String, String> {
    let mut key = Vec::new();
    if let Found::Inside(range) = Member::new(path.parse()?).find(text.as_bytes(), &mut key)? {
        key = text.as_bytes()[range].to_vec();
    }
    String::from_utf8(key).map_err(|error| error.to_string())
}

#[test]
fn members_of_all_kinds() {
    let text = r#"{"x":[1,{"a":"no"}],"a":{"b":"ver\u00fcckt\n","n":1.50e3,"t":true,"z":null,"o":{}},"a.b":"dot"} "#;
    assert_eq!(find(text, ".a.b"), Ok("verückt\n".to_owned()));
    assert_eq!(find(text, "a.n"), Ok("1.50e3".to_owned()));
    assert_eq!(find(text, ".a.t"), Ok("true".to_owned()));
    assert_eq!(find(text, ".\"a.b\""), Ok("dot".to_owned()));
    assert_eq!(find(r#"{"a":1,"a":2}"#, ".a"), Ok("2".to_owned()));
    assert_eq!(find(r#"{"a":123456789012345678901234567890}"#, ".a"), Ok("123456789012345678901234567890".to_owned()));
}

#[test]
fn what_is_no_member_says_why() {
    for (text, path, why) in [
        ("{\"a\":{\"b\":1}}", ".b", "no member .b"),
        ("{\"a\":null}", ".a", "has null at .a"),
        ("{\"a\":3}", ".a.b", "no member .a.b"),
        ("[1,2]", ".a", "no member .a"),
        ("7", ".a", "no member .a"),
        ("{\"a\":{}}", ".a", "an object or a list"),
        ("{\"a\":1", ".a", "EOF"),
        ("{\"a\":1}{", ".a", "trailing"),
        ("{\"a\":\"\\ud800\"}", ".a", "has a member .a that"),
        ("", ".a", "EOF"),
    ] {
        let error = find(text, path).expect_err(text);
        assert!(error.contains(why), "{text}: {error}");
    }
    for path in ["", ".", "..a", ".a.", ".\"a", ".\"a\"b"] {
        assert!(path.parse::<Path>().is_err(), "{path}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = "[".repeat(1 << 20);
    assert!(find(&format!("{{\"b\":{deep}}}"), ".a").is_err());
}

/// Random texts, most of them JSON: some as programs usually write them, and some unusual ones.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (word ^ word >> 27) % bound
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn space(&mut self) -> &'static str {
        self.of(&["", "", "", " ", "\t", "\r", "  "])
    }

    fn string(&mut self) -> String {
        let parts =
            ["a", "b", "longer than eight", "é", "\u{1f600}", "\\n", "\\\"", "\\u00e9", "\\/", "\\ud800", "0", ",", ":", "{", "}", " "];
        let body: String = (0..self.below(4)).map(|_| self.of(&parts)).collect();
        format!("\"{body}\"")
    }

    fn value(&mut self, depth: u64) -> String {
        match self.below(if depth > 3 { 6 } else { 10 }) {
            0 => self.of(&["true", "false", "null"]).to_owned(),
            1 => self.of(&["0", "-0", "1.50e3", "12", "-7.25", "1E+9", "123456789012345678901234567890", "01", "1.", "-", "+1"]).to_owned(),
            2..=5 => self.string(),
            6 => format!("[{}]", self.several(|draw| draw.value(depth + 1))),
            _ => self.object(depth + 1),
        }
    }

    fn object(&mut self, depth: u64) -> String {
        let members = self.several(|draw| {
            let name = if draw.below(3) == 0 { draw.string() } else { format!("\"{}\"", draw.of(&["a", "b", "c", "\\u0061", "é"])) };
            format!("{name}{}:{}{}", draw.space(), draw.space(), draw.value(depth))
        });
        format!("{{{members}}}")
    }

    fn several(&mut self, mut one: impl FnMut(&mut Draw) -> String) -> String {
        let all: Vec<String> = (0..self.below(4)).map(|_| format!("{}{}{}", self.space(), one(self), self.space())).collect();
        all.join(",")
    }

    /// Changes, drops or inserts a byte, or cuts off the end.
    fn spoil(&mut self, text: &mut Vec<u8>) {
        let at = self.below(text.len() as u64 + 1) as usize;
        let byte = b"\"\\{}[],: 0e.-\x00\x1f\x7f\x80\xc3\xff\n"[self.below(20) as usize];
        match self.below(4) {
            0 => text.truncate(at),
            1 => text.insert(at, byte),
            2 if at < text.len() => text[at] = byte,
            _ if at < text.len() => drop(text.remove(at)),
            _ => {}
        }
    }
}

/// If the fast path answers, its answer equals that of the general reader; and it answers nearly
/// all texts that have a key and no escapes.
#[test]
fn the_short_way_is_the_long_way() {
    let (mut draw, mut answered, mut keys) = (Draw(7), 0, 0);
    let paths: [Path; 3] = [".a", ".b.a", ".é"].map(|path| path.parse().expect("a path"));
    let mut orders: [Order; 3] = Default::default();
    for round in 0..20_000 {
        let mut text = format!("{}{}{}", draw.space(), draw.object(0), draw.space()).into_bytes();
        for _ in 0..round % 3 {
            draw.spoil(&mut text);
        }
        for (path, order) in paths.iter().zip(&mut orders) {
            let (short, long) = (scan::find(&text, &path.0, order), value(&text, path));
            let is_key = long.as_ref().is_ok_and(|value| value.raw != b"null" && !matches!(value.raw[0], b'{' | b'['));
            if let Some(short) = short {
                assert!(is_key && Ok(short) == long, "{path} of {}", String::from_utf8_lossy(&text));
            }
            if is_key && !text.contains(&b'\\') {
                (keys, answered) = (keys + 1, answered + u32::from(short.is_some()));
            }
        }
    }
    // Except texts in which an earlier member of this name cannot be a key.
    assert!(keys > 500 && 10 * answered > 9 * keys, "{answered} of {keys}");
}

/// Records with the same beginning as the last one are read correctly, even if one byte of them was
/// changed.
#[test]
fn records_with_the_names_of_the_last_one() {
    let path: Path = ".url".parse().expect("a path");
    let mut order = Order::default();
    let texts = [
        r#"{"id":1,"url":"https://example.org/","a longer name":[1],"t":1.5}"#,
        r#"{"id":22,"url":"b","a longer name":{"url":3},"t":0}"#,
        r#"{"id":22,"url":7}"#,
        r#"{"id": 22, "url":7, "t":2}"#,
        r#"{"url":7,"id":8,"url":"9"}"#,
    ];
    for text in texts.iter().cycle().take(10) {
        let found = scan::find(text.as_bytes(), &path.0, &mut order);
        assert_eq!(found, value(text.as_bytes(), &path).ok(), "{text}");
        for (at, byte) in (0..text.len()).flat_map(|at| b"\"\\{}[],: 0u\x00\xc3".map(|byte| (at, byte))) {
            let mut changed = text.as_bytes().to_vec();
            changed[at] = byte;
            if let Some(short) = scan::find(&changed, &path.0, &mut order.clone()) {
                assert_eq!(Ok(short), value(&changed, &path), "{}", String::from_utf8_lossy(&changed));
            }
        }
    }
}
