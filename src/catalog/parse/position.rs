//! Where in the text of a document a pointer leads: the line and column of the key or item that it names.
//!
//! Owns: the text as it was written, and one scan of it that finds all pointers of interest at once. Must
//! never decide what a pointer means: it follows a pointer only as far as the text goes.
//!
//! A pointer to a member leads to the first character of its key, to an item to the first character of the
//! item. Of a key that stands twice the last one counts, as it does for the value. What came by an alias is
//! where the alias was put to use (its key or item), what came by a merge is at the `<<`. A pointer that
//! leads nowhere is where its longest part leads that exists, which may be the start of the document.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::tabs;
use crate::json::Pointer;

/// The pointers of interest are looked for in at most this many parts; the rest of a pointer over it is
/// given the place of what is around. People's documents need some thousands, and each part costs some two
/// hundred bytes.
const PARTS_MAX: usize = 200_000;

/// A place in a text, 1-based.
///
/// Lines end with LF, CRLF or CR. A column counts Unicode code points, a tab as one, as editors do in their
/// status lines; a byte order mark is no column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// The line.
    pub(crate) line: u64,
    /// The column, where it is known.
    pub(crate) column: Option<u64>,
}

impl Position {
    pub(crate) fn new(line: usize, column: usize) -> Self {
        Self {
            line: line as u64,
            column: Some(column as u64),
        }
    }
}

/// The language a text was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// YAML once its tabs were read as spaces.
    TabbedYaml,
}

/// The text of a document that was read.
#[derive(Debug)]
pub(crate) struct Original {
    text: String,
    language: Language,
}

impl Original {
    pub(super) fn new(text: String, language: Language) -> Self {
        Self { text, language }
    }

    /// The places of pointers, in their order; none for the whole document.
    ///
    /// Takes one scan of the text however many pointers there are, without recursion.
    pub(crate) fn positions<'p>(
        &self,
        pointers: impl Iterator<Item = &'p Pointer>,
    ) -> Vec<Option<Position>> {
        let mut sought = Sought::default();
        let leaves: Vec<usize> = pointers.map(|pointer| sought.seek(pointer)).collect();
        match self.language {
            Language::Json => scan_json(&self.text, &mut sought),
            Language::Yaml => scan_yaml(&self.text, &mut sought),
            Language::TabbedYaml => {
                if let Some(spaced) = tabs::spaces_for_tabs(&self.text) {
                    scan_yaml(&spaced, &mut sought);
                }
            }
        }
        let spots: Vec<Option<Spot>> = leaves.iter().map(|&leaf| sought.spot(leaf)).collect();
        self.resolved(&spots)
    }

    /// Spots as places of the text as it was written.
    fn resolved(&self, spots: &[Option<Spot>]) -> Vec<Option<Position>> {
        let mut order: Vec<(Spot, usize)> = spots
            .iter()
            .enumerate()
            .filter_map(|(index, spot)| Some(((*spot)?, index)))
            .collect();
        order.sort_unstable();
        let mut positions = vec![None; spots.len()];
        let mut cursor = Cursor::new(&self.text);
        let mut lines = tabs::Lines::new(&self.text);
        for (spot, index) in order {
            positions[index] = Some(match spot {
                Spot::Offset(offset) => cursor.forward(offset),
                Spot::Place(line, column) if self.language == Language::TabbedYaml => {
                    Position::new(line, lines.column(line, column))
                }
                Spot::Place(line, column) => Position::new(line, column),
            });
        }
        positions
    }
}

/// The place of a byte of a text; one past its end is a place too.
pub(super) fn position_at(text: &str, offset: usize) -> Position {
    Cursor::new(text).forward(offset)
}

/// Counts lines and columns, forwards only.
struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
    column: usize,
}

impl<'t> Cursor<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            offset: 0,
            line: 1,
            column: 1,
        }
    }

    fn forward(&mut self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let between = self.text.get(self.offset..offset).unwrap_or_default();
        let mut before = self.text[..self.offset].ends_with('\r').then_some('\r');
        for c in between.chars() {
            match (before, c) {
                // The second half of a line's end.
                (Some('\r'), '\n') => {}
                (_, '\n' | '\r') => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
            before = Some(c);
        }
        self.offset = self.offset.max(offset);
        Position::new(self.line, self.column)
    }
}

/// A spot as a scan finds it: of JSON by byte, of YAML by line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Offset(usize),
    Place(usize, usize),
}

/// The root of what is sought.
const ROOT: usize = 0;

/// The parts of all pointers that are sought, as a tree.
#[derive(Debug)]
struct Sought {
    parts: Vec<Part>,
    /// Where the root starts.
    start: Option<Spot>,
}

#[derive(Debug, Default)]
struct Part {
    /// The part around it; the root's is itself.
    around: usize,
    below: HashMap<String, usize>,
    /// Where it was met last, and in which meeting of the part around.
    met: Option<(Spot, u64)>,
    /// How many times it was met.
    meetings: u64,
    /// Where a merge key was met last in it, and in which meeting.
    merge: Option<(Spot, u64)>,
}

impl Default for Sought {
    fn default() -> Self {
        Self {
            parts: vec![Part::default()],
            start: None,
        }
    }
}

impl Sought {
    /// Adds a pointer; answers the part it ends at.
    fn seek(&mut self, pointer: &Pointer) -> usize {
        let mut at = ROOT;
        for token in pointer.tokens() {
            at = match self.parts[at].below.get(&token) {
                Some(&below) => below,
                None if self.parts.len() >= PARTS_MAX => return at,
                None => {
                    let new = self.parts.len();
                    self.parts[at].below.insert(token, new);
                    self.parts.push(Part {
                        around: at,
                        ..Part::default()
                    });
                    new
                }
            };
        }
        at
    }

    /// Whether anything below a part is sought.
    fn goes_below(&self, part: Option<usize>) -> bool {
        part.is_some_and(|part| !self.parts[part].below.is_empty())
    }

    /// A scan met a member or an item of a part.
    fn meet(&mut self, around: Option<usize>, token: &str, spot: Spot) -> Option<usize> {
        let around = &self.parts[around?];
        let part = *around.below.get(token)?;
        let meeting = around.meetings;
        self.parts[part].met = Some((spot, meeting));
        self.parts[part].meetings += 1;
        Some(part)
    }

    fn meet_item(&mut self, around: Option<usize>, index: usize, spot: Spot) -> Option<usize> {
        if self.goes_below(around) {
            self.meet(around, &index.to_string(), spot)
        } else {
            None
        }
    }

    /// A scan met a merge key in a part.
    fn merge(&mut self, part: Option<usize>, spot: Spot) {
        if let Some(part) = part {
            let part = &mut self.parts[part];
            part.merge = Some((spot, part.meetings));
        }
    }

    /// Where a part is, or the last part on the way to it that is somewhere; none for the root itself.
    fn spot(&self, part: usize) -> Option<Spot> {
        if part == ROOT {
            return None;
        }
        let mut way = vec![];
        let mut at = part;
        while at != ROOT {
            way.push(at);
            at = self.parts[at].around;
        }
        let mut best = self.start;
        for part in way.into_iter().rev() {
            let part = &self.parts[part];
            let around = &self.parts[part.around];
            match (part.met, around.merge) {
                (Some((spot, meeting)), _) if meeting == around.meetings => best = Some(spot),
                (_, Some((spot, meeting))) if meeting == around.meetings => return Some(spot),
                _ => return best,
            }
        }
        best
    }
}

/// An array or object of JSON that is being scanned.
struct Level {
    part: Option<usize>,
    /// The index of the item that is next; none for an object.
    index: Option<usize>,
    /// Whether a key comes next.
    key: bool,
}

/// Scans a text that is known to be JSON. Another text is scanned too, to no use and no harm.
fn scan_json(text: &str, sought: &mut Sought) {
    let bytes = text.as_bytes();
    let mut levels: Vec<Level> = Vec::new();
    let mut next = Some(ROOT);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b':' => at += 1,
            b',' => {
                if let Some(level) = levels.last_mut() {
                    level.key = level.index.is_none();
                    level.index = level.index.map(|index| index + 1);
                }
                at += 1;
            }
            b'}' | b']' => {
                levels.pop();
                at += 1;
            }
            b'"' if levels.last().is_some_and(|level| level.key) => {
                let end = string_end(bytes, at);
                if let Some(level) = levels.last_mut() {
                    level.key = false;
                    next = None;
                    if sought.goes_below(level.part) {
                        let key = serde_json::from_str::<String>(&text[at..end]);
                        next = sought.meet(
                            level.part,
                            key.as_deref().unwrap_or_default(),
                            Spot::Offset(at),
                        );
                    }
                }
                at = end;
            }
            _ => {
                if let Some(Level {
                    part,
                    index: Some(index),
                    ..
                }) = levels.last()
                {
                    next = sought.meet_item(*part, *index, Spot::Offset(at));
                }
                sought.start.get_or_insert(Spot::Offset(at));
                match byte {
                    b'{' | b'[' => {
                        levels.push(Level {
                            part: next.take(),
                            index: (byte == b'[').then_some(0),
                            key: byte == b'{',
                        });
                        at += 1;
                    }
                    b'"' => at = string_end(bytes, at),
                    _ => at = literal_end(bytes, at),
                }
            }
        }
    }
}

/// One past the closing quote of the string that starts here.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn literal_end(bytes: &[u8], start: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
    let rest = &bytes[start + 1..];
    start + 1 + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// A collection of YAML that is being scanned.
struct Frame {
    part: Option<usize>,
    next: Next,
}

/// What comes next in a collection.
enum Next {
    Item(usize),
    Key,
    /// The value of a key, which is this part when it is sought.
    Value(Option<usize>),
}

/// Scans a text that is known to be YAML that was read; of another the part before the fault.
fn scan_yaml(text: &str, sought: &mut Sought) {
    let mut events = Parser::new_from_str(text);
    let mut frames: Vec<Frame> = Vec::new();
    // What scalars with an anchor say: an alias of one may be a key.
    let mut anchored: HashMap<usize, String> = HashMap::new();
    let mut documents = 0;
    while let Some(Ok((event, span))) = events.next_event() {
        let part = match &event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return;
                }
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                frames.pop();
                continue;
            }
            Event::Scalar(text, style, anchor, tag) => {
                if *anchor != 0 {
                    anchored.insert(*anchor, text.to_string());
                }
                let is_merge = *style == ScalarStyle::Plain && tag.is_none() && text == "<<";
                enter(sought, &mut frames, Some(text), is_merge, span)
            }
            Event::Alias(anchor) => {
                let text = anchored.get(anchor).map(String::as_str);
                enter(sought, &mut frames, text, false, span)
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                enter(sought, &mut frames, None, false, span)
            }
            _ => continue,
        };
        match event {
            Event::SequenceStart(..) => frames.push(Frame {
                part,
                next: Next::Item(0),
            }),
            Event::MappingStart(..) => frames.push(Frame {
                part,
                next: Next::Key,
            }),
            _ => {}
        }
    }
}

/// A node starts: a key, a value, an item or the root. Answers its part when it is no key.
fn enter(
    sought: &mut Sought,
    frames: &mut [Frame],
    text: Option<&str>,
    is_merge: bool,
    span: Span,
) -> Option<usize> {
    let spot = Spot::Place(span.start.line(), span.start.col() + 1);
    let Some(frame) = frames.last_mut() else {
        sought.start.get_or_insert(spot);
        return Some(ROOT);
    };
    match frame.next {
        Next::Item(index) => {
            frame.next = Next::Item(index + 1);
            sought.meet_item(frame.part, index, spot)
        }
        Next::Value(part) => {
            frame.next = Next::Key;
            part
        }
        Next::Key => {
            if is_merge {
                sought.merge(frame.part, spot);
            }
            let part = text.and_then(|text| sought.meet(frame.part, text, spot));
            frame.next = Next::Value(part);
            None
        }
    }
}

#[cfg(test)]
mod tests;
