//! Counting a JSON body's outermost elements byte by byte, in constant memory. Never keeps a byte, and
//! never judges what is nested.

use super::Shape;

/// Reads a body chunk by chunk and counts the elements or members of its outermost value.
///
/// A repeated key counts each time: what is counted is the text.
#[derive(Debug, Default)]
pub(super) struct Counter {
    state: State,
    /// How many bytes of a byte order mark were met.
    mark: usize,
    /// The closing bracket that ends the outermost value.
    close: u8,
    is_array: bool,
    /// Open brackets.
    depth: u64,
    in_string: bool,
    escaped: bool,
    commas: u64,
    /// Whether anything stands since the opening bracket or the last comma.
    item: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Before,
    Inside,
    After,
    /// Neither an array nor an object, or not JSON.
    Other,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl Counter {
    /// Reads the next bytes.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        for &byte in chunk {
            match self.state {
                State::Inside => self.inside(byte),
                State::Before => self.before(byte),
                State::After if byte.is_ascii_whitespace() => {}
                State::After => self.state = State::Other,
                State::Other => return,
            }
        }
    }

    fn before(&mut self, byte: u8) {
        match byte {
            // Half a byte order mark is none.
            _ if (1..MARK.len()).contains(&self.mark) && MARK[self.mark] != byte => {
                self.state = State::Other;
            }
            b'[' | b'{' => {
                self.is_array = byte == b'[';
                self.close = if self.is_array { b']' } else { b'}' };
                self.depth = 1;
                self.state = State::Inside;
            }
            b' ' | b'\t' | b'\n' | b'\r' => self.mark = MARK.len(),
            _ if MARK.get(self.mark) == Some(&byte) => self.mark += 1,
            _ => self.state = State::Other,
        }
    }

    fn inside(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'"' => {
                self.in_string = true;
                self.item = true;
            }
            b'[' | b'{' => {
                self.depth += 1;
                self.item = true;
            }
            b']' | b'}' => {
                self.depth -= 1;
                if self.depth == 0 {
                    // A comma with nothing behind it is no JSON.
                    let whole = byte == self.close && (self.item || self.commas == 0);
                    self.state = if whole { State::After } else { State::Other };
                }
            }
            b',' if self.depth == 1 => {
                if !self.item {
                    self.state = State::Other;
                }
                self.commas += 1;
                self.item = false;
            }
            _ => self.item = true,
        }
    }

    /// The shape of a body that ended here.
    pub(super) fn shape(&self) -> Shape {
        match self.state {
            State::After => self.so_far(),
            State::Before | State::Inside | State::Other => Shape::Text,
        }
    }

    /// The shape of a body that goes on, with what was counted so far.
    pub(super) fn so_far(&self) -> Shape {
        let count = self.commas + u64::from(self.item);
        match (self.state, self.is_array) {
            (State::Before | State::Other, _) => Shape::Text,
            (_, true) => Shape::Array(count),
            (_, false) => Shape::Object(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn shape(text: &str) -> Shape {
        let mut counter = Counter::default();
        counter.feed(text.as_bytes());
        counter.shape()
    }

    #[test]
    fn shapes() {
        for (text, want) in [
            ("[]", Shape::Array(0)),
            (" [ ] ", Shape::Array(0)),
            ("{}", Shape::Object(0)),
            ("\u{feff}[1]", Shape::Array(1)),
            ("[1,[2,3],{\"a\":[4,5]},\"],\\\",[\"]", Shape::Array(4)),
            ("{\"a\":1,\"b\":[1,2],\"a\":2}", Shape::Object(3)),
            ("\"[1,2]\"", Shape::Text),
            ("7", Shape::Text),
            ("", Shape::Text),
            ("[1,2", Shape::Text),
            ("[1,]", Shape::Text),
            ("[,1]", Shape::Text),
            ("[1}", Shape::Text),
            ("[1] [2]", Shape::Text),
            ("a[1]", Shape::Text),
            ("\u{fb00}[1]", Shape::Text),
            ("[\"a", Shape::Text),
        ] {
            assert_eq!(shape(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_is_counted_so_far() {
        let mut counter = Counter::default();
        counter.feed(b"[{\"a\":1},{\"b\":[1,2,");
        assert_eq!(counter.so_far(), Shape::Array(2));
        assert_eq!(counter.shape(), Shape::Text);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\\[\\]{},:\"\\\\]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn counts_agree_with_a_parser_however_the_body_is_cut(
            value in any_json(),
            pretty in any::<bool>(),
            cuts in prop::collection::vec(1_usize..9, 1..40),
        ) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let want = match &value {
                Value::Array(items) => Shape::Array(items.len() as u64),
                Value::Object(members) => Shape::Object(members.len() as u64),
                _ => Shape::Text,
            };
            let mut counter = Counter::default();
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                let (chunk, tail) = rest.split_at((*cut).min(rest.len()));
                counter.feed(chunk);
                rest = tail;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(counter.shape(), want);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut counter = Counter::default();
            counter.feed(&bytes);
            let _ = (counter.shape(), counter.so_far());
        }

        #[test]
        fn brackets_in_any_order_are_read_without_panic(text in "[\\[\\]{},\" \\\\a]{0,60}") {
            let _ = shape(&text);
        }
    }
}
