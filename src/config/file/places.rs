//! Where in a text the parts of a value stand.
//!
//! Owns: lines and columns by pointer. What is not known is told by its file alone; nothing is guessed.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser};

use crate::json::Pointer;

/// The places of a file.
#[derive(Debug)]
pub(super) struct Places {
    file: String,
    /// By pointer: the byte where the key stands, line and column, both from 1.
    known: HashMap<Pointer, (usize, usize, usize)>,
}

impl Places {
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            known: HashMap::new(),
        }
    }

    /// The places of a YAML text, or of a JSON one, which is nearly always YAML too.
    pub(super) fn of_events(file: &str, text: &str) -> Self {
        let mut walk = Walk {
            places: Self::new(file),
            open: Vec::new(),
        };
        let mut events = Parser::new_from_str(text);
        // A text that was read by another reader and cannot be read here has no places.
        while let Some(Ok((event, span))) = events.next_event() {
            let (line, column) = (span.start.line(), span.start.col() + 1);
            walk.event(&event, span.start.index(), line, column);
        }
        walk.places
    }

    /// Notes where a key or an item starts.
    pub(super) fn note(&mut self, at: &Pointer, text: &str, offset: usize) {
        let (line, column) = line_of(text, offset);
        self.known.insert(at.clone(), (offset, line, column));
    }

    /// The byte where something starts; the end where it is not known.
    pub(super) fn offset_of(&self, at: &Pointer) -> usize {
        self.known.get(at).map_or(usize::MAX, |known| known.0)
    }

    /// The place of a pointer, or of what it stands in.
    pub(super) fn place(&self, at: &Pointer) -> String {
        let mut at = at.clone();
        loop {
            if let Some((_, line, column)) = self.known.get(&at) {
                return format!("{}:{line}:{column}", self.file);
            }
            if at == Pointer::root() {
                return self.file.clone();
            }
            at.pop();
        }
    }

    /// A byte of the text as a place.
    pub(super) fn spelled(&self, text: &str, offset: usize) -> String {
        let (line, column) = line_of(text, offset);
        format!("{}:{line}:{column}", self.file)
    }
}

/// Line and column (in characters) of a byte, both from 1.
fn line_of(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    let column = 1 + before
        .rsplit('\n')
        .next()
        .map_or(0, |last| last.chars().count());
    (line, column)
}

/// A collection that is open while events are walked.
enum Open {
    /// A mapping, with the key whose value comes next.
    Mapping(Option<String>),
    /// A sequence, with the index that comes next.
    Sequence(usize),
}

struct Walk {
    places: Places,
    open: Vec<(Pointer, Open)>,
}

impl Walk {
    fn event(&mut self, event: &Event<'_>, offset: usize, line: usize, column: usize) {
        match event {
            Event::Scalar(text, ..) => {
                if let Some((at, Open::Mapping(key @ None))) = self.open.last_mut() {
                    *key = Some(text.to_string());
                    let at = at.join(text);
                    self.places.known.insert(at, (offset, line, column));
                    return;
                }
                self.value(offset, line, column);
            }
            Event::Alias(_) => {
                self.value(offset, line, column);
            }
            Event::SequenceStart(..) => {
                let at = self.value(offset, line, column);
                self.open.push((at, Open::Sequence(0)));
            }
            Event::MappingStart(..) => {
                let at = self.value(offset, line, column);
                self.open.push((at, Open::Mapping(None)));
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            _ => {}
        }
    }

    /// The pointer of the value that starts; a key is used up, an index moves on.
    fn value(&mut self, offset: usize, line: usize, column: usize) -> Pointer {
        match self.open.last_mut() {
            None => Pointer::root(),
            Some((at, Open::Mapping(key))) => at.join(&key.take().unwrap_or_default()),
            Some((at, Open::Sequence(next))) => {
                let mut at = at.clone();
                at.push_index(*next);
                *next += 1;
                self.places.known.insert(at.clone(), (offset, line, column));
                at
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_items_have_lines() {
        let yaml = "a: 1\nb:\n  - x: 1\n    é: {y: 2}\n  - z\n";
        let json = "{\n\"a\": 1,\n\"b\": [\n{\"x\": 1, \"é\": {\n\"y\": 2}},\n\"z\"]}";
        for (text, at, want) in [
            (yaml, "/a", "f:1:1"),
            (yaml, "/b/0/x", "f:3:5"),
            (yaml, "/b/0/é/y", "f:4:9"),
            (yaml, "/b/1", "f:5:5"),
            (yaml, "/b/1/nothing", "f:5:5"),
            (yaml, "/nothing", "f"),
            (json, "/b/0/é/y", "f:5:1"),
            (json, "/b/1", "f:6:1"),
        ] {
            let places = Places::of_events("f", text);
            let at = Pointer::from_text(at).unwrap();
            assert_eq!(places.place(&at), want, "{text}");
        }
    }
}
