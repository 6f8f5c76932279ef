//! Reads what models write for JSON: JSON itself, and the slips that do not change its meaning.
//!
//! Accepted beyond JSON: strings in single or typographic quotes, keys without quotes, trailing
//! commas, comments, `True`, `False`, `None` in any case, a plus sign. Nothing is repaired that
//! would need a guess: an object that does not end is no object, and a key that stands twice is
//! kept twice.

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Relaxed {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Relaxed>),
    Object(Vec<(String, Relaxed)>),
}

/// Deeper nesting is no answer but an attack on the stack.
const MAX_DEPTH: usize = 32;

/// Characters read per byte of a text, all attempts together. An answer among prose needs a few;
/// nested beginnings that never end would need as many as the text is long.
const MOST_STEPS: usize = 64;

/// Every object that stands in `text` outside of other objects, in order, and the text around them; no object
/// if the text is made so that looking takes longer than any answer is worth.
///
/// What stands in an object inside one that cannot be read may be a quotation: it is neither an object nor around
/// one.
pub(super) fn objects(text: &str) -> (Vec<Vec<(String, Relaxed)>>, String) {
    let (mut found, mut around) = (Vec::new(), String::new());
    let mut at = 0;
    let mut left = text.len().saturating_mul(MOST_STEPS);
    while let Some(offset) = text[at..].find('{') {
        let start = at + offset;
        around.push_str(&text[at..start]);
        let mut reader = Reader { text, at: start, left };
        match reader.value(0) {
            Some(Relaxed::Object(pairs)) => {
                found.push(pairs);
                around.push('\n');
                at = reader.at;
            }
            _ if (Reader { at: start, ..reader }).begins_an_object() => {
                at = push_outermost(text, start, &mut around);
            }
            _ => {
                around.push('{');
                at = start + 1;
            }
        }
        left = reader.left;
        if left == 0 {
            return (Vec::new(), text.to_owned());
        }
    }
    around.push_str(&text[at..]);
    (found, around)
}

/// Adds what stands between the brace at `start` and the one that closes it, but for what is inside further
/// braces; those in double quotes do not count. Where it ends: with the text if nothing closes it.
fn push_outermost(text: &str, start: usize, into: &mut String) -> usize {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for (at, c) in text[start..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '{' if !is_quoted => {
                depth += 1;
                continue;
            }
            '}' if !is_quoted => {
                depth -= 1;
                if depth == 0 {
                    return start + at + 1;
                }
                continue;
            }
            _ => {}
        }
        if depth == 1 {
            into.push(c);
        }
    }
    text.len()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Characters that may still be read.
    left: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.spend(1)?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn spend(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.saturating_sub(steps);
        (self.left > 0).then_some(())
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") {
                trimmed.find('\n')
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map(|end| end + 2)
            } else {
                return;
            };
            let looked_at = comment.unwrap_or(trimmed.len());
            match (comment, self.spend(looked_at)) {
                (Some(length), Some(())) => self.at += length,
                _ => return,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Relaxed> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip();
        match self.peek()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            quote if closing(quote).is_some() => self.string().map(Relaxed::Text),
            _ => self.word(),
        }
    }

    /// Whether a brace, a key and a colon come next.
    fn begins_an_object(&mut self) -> bool {
        let mut begin = || {
            self.take('{')?;
            self.skip();
            self.key()?;
            self.skip();
            self.take(':')
        };
        begin().is_some()
    }

    fn object(&mut self, depth: usize) -> Option<Relaxed> {
        self.take('{')?;
        let mut pairs = Vec::new();
        loop {
            self.skip();
            if self.peek()? == '}' {
                self.next();
                return Some(Relaxed::Object(pairs));
            }
            let key = self.key()?;
            self.skip();
            self.take(':')?;
            let value = self.value(depth + 1)?;
            pairs.push((key, value));
            self.separator('}')?;
        }
    }

    fn list(&mut self, depth: usize) -> Option<Relaxed> {
        self.take('[')?;
        let mut values = Vec::new();
        loop {
            self.skip();
            if self.peek()? == ']' {
                self.next();
                return Some(Relaxed::List(values));
            }
            values.push(self.value(depth + 1)?);
            self.separator(']')?;
        }
    }

    /// A comma, or nothing before the end.
    fn separator(&mut self, end: char) -> Option<()> {
        self.skip();
        match self.peek()? {
            ',' => self.take(','),
            c if c == end => Some(()),
            _ => None,
        }
    }

    fn key(&mut self) -> Option<String> {
        if closing(self.peek()?).is_some() {
            return self.string();
        }
        let start = self.at;
        while self.peek()?.is_alphanumeric() || matches!(self.peek()?, '_' | '-') {
            self.next();
        }
        (self.at > start).then(|| self.text[start..self.at].to_owned())
    }

    fn string(&mut self) -> Option<String> {
        let end = closing(self.next()?)?;
        let mut text = String::new();
        loop {
            match self.next()? {
                c if c == end => return Some(text),
                '\\' => text.push(self.escape()?),
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return self.unicode(),
            // The rest stand for themselves, also `\'` and `\_`, which JSON does not have.
            c => c,
        })
    }

    fn unicode(&mut self) -> Option<char> {
        let first = self.hex4()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        self.take('\\')?;
        self.take('u')?;
        let second = self.hex4()?;
        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)
    }

    fn hex4(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |sum, _| Some(sum * 16 + self.next()?.to_digit(16)?))
    }

    /// A number or one of the words for true, false and nothing.
    fn word(&mut self) -> Option<Relaxed> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '−'))
        {
            self.next();
        }
        let word = &self.text[start..self.at];
        match word.to_lowercase().as_str() {
            "true" => Some(Relaxed::Bool(true)),
            "false" => Some(Relaxed::Bool(false)),
            "null" | "none" => Some(Relaxed::Null),
            // Only these: any other word without quotes may be the start of a sentence.
            "yes" | "no" => Some(Relaxed::Text(word.to_owned())),
            _ => parse_number(word).map(Relaxed::Number),
        }
    }
}

/// The character that ends a string which `quote` begins.
fn closing(quote: char) -> Option<char> {
    match quote {
        '"' | '\'' => Some(quote),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

/// A finite decimal number, with either sign and the typographic minus.
pub(super) fn parse_number(word: &str) -> Option<f64> {
    let word = word.trim().replace('−', "-");
    let digits = word.strip_prefix(['+', '-']).unwrap_or(&word);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        // Neither `inf` and `nan`, which the standard parser takes, nor two signs.
        return None;
    }
    word.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn from_json(value: &Value) -> Relaxed {
        match value {
            Value::Null => Relaxed::Null,
            Value::Bool(truth) => Relaxed::Bool(*truth),
            Value::Number(number) => Relaxed::Number(number.as_f64().unwrap()),
            Value::String(text) => Relaxed::Text(text.clone()),
            Value::Array(values) => Relaxed::List(values.iter().map(from_json).collect()),
            Value::Object(pairs) => {
                Relaxed::Object(pairs.iter().map(|(k, v)| (k.clone(), from_json(v))).collect())
            }
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            (-1e9..1e9).prop_map(Value::from),
            "(?s).{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("(?s).{0,4}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_means_what_it_means(value in json(), pretty in any::<bool>()) {
            let object = serde_json::json!({ "k": value });
            let text = if pretty {
                serde_json::to_string_pretty(&object).unwrap()
            } else {
                object.to_string()
            };
            let (found, _) = objects(&format!("Here: {text} done"));
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(Relaxed::Object(found[0].clone()), from_json(&object));
        }

        #[test]
        fn no_text_makes_it_panic_and_no_cut_object_is_completed(
            text in "[{}\\[\\]\"':,a1\\\\ ]{0,60}", value in json()
        ) {
            let _ = objects(&text);
            let whole = serde_json::json!({ "k": value, "last": 1 }).to_string();
            let cut: String = whole.chars().take(whole.chars().count() - 1).collect();
            prop_assert!(objects(&cut).0.iter().all(|pairs| !pairs.iter().any(|(k, _)| k == "last")));
        }
    }

    #[test]
    fn the_slips_of_models_are_read() {
        let text = "{'a': True, “b”: None, c: +1, \"d\": -0.5, // why\n e: 'it\\'s', f: [1,],}";
        let expected = vec![
            ("a".to_owned(), Relaxed::Bool(true)),
            ("b".into(), Relaxed::Null),
            ("c".into(), Relaxed::Number(1.0)),
            ("d".into(), Relaxed::Number(-0.5)),
            ("e".into(), Relaxed::Text("it's".into())),
            ("f".into(), Relaxed::List(vec![Relaxed::Number(1.0)])),
        ];
        assert_eq!(objects(text).0, [expected]);
    }

    #[test]
    fn a_text_made_to_be_slow_is_given_up() {
        let size = 256 << 10;
        for part in ["{", "{“", "{/*", "{\"a\":", "{a:[", "{a:[{}, ", "{a: 1, "] {
            let start = std::time::Instant::now();
            objects(&part.repeat(size / part.len()));
            assert!(start.elapsed() < std::time::Duration::from_secs(20), "{part}");
        }
        // Steps, not seconds, are what is promised: beginnings that never end use them up.
        assert_eq!(objects(&format!("{}{{\"a\": 1}}", "{“".repeat(size / 4))).0.len(), 0);
        assert_eq!(objects(&format!("{}{{\"a\": 1}}", "{ ".repeat(50))).0.len(), 1);
    }

    #[test]
    fn broken_objects_are_not_repaired() {
        for text in ["{\"a\": 1", "{\"a\" 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": x}", "{\"a\": NaN}"]
        {
            assert_eq!(objects(text).0, [] as [Vec<(String, Relaxed)>; 0], "{text}");
        }
        assert_eq!(objects(&"{\"a\":".repeat(5000)).0.len(), 0);
        assert_eq!(objects("{\"a\": 1, \"a\": 2}").0[0].len(), 2);
    }
}
