//! RFC 6901 pointers that grow and shrink while a document is walked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A JSON pointer: `""` is the whole document, `/paths/~1users/get` a member of a member.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pointer(String);

impl Pointer {
    /// The pointer of the whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads a pointer as written; `None` when it neither is empty nor starts with `/`.
    pub fn from_text(text: &str) -> Option<Self> {
        (text.is_empty() || text.starts_with('/')).then(|| Self(text.to_owned()))
    }

    /// Appends one unescaped reference token.
    pub fn push(&mut self, token: &str) {
        self.0.push('/');
        if token.contains(['~', '/']) {
            self.0.push_str(&escape_token(token));
        } else {
            self.0.push_str(token);
        }
    }

    /// Appends an array index.
    pub fn push_index(&mut self, index: usize) {
        use fmt::Write as _;
        // Writing into a String cannot fail.
        let _ = write!(self.0, "/{index}");
    }

    /// Drops the last reference token; the root stays the root.
    pub fn pop(&mut self) {
        let end = self.0.rfind('/').unwrap_or(0);
        self.0.truncate(end);
    }

    /// This pointer with one more token.
    #[must_use]
    pub fn join(&self, token: &str) -> Self {
        let mut longer = self.clone();
        longer.push(token);
        longer
    }

    /// The escaped text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The unescaped reference tokens, in order.
    pub fn tokens(&self) -> impl Iterator<Item = String> + '_ {
        self.0
            .split('/')
            .skip(1)
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One reference token, escaped: `~` is `~0`, `/` is `~1`.
pub fn escape_token(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_were_pushed() {
        let mut pointer = Pointer::root();
        for token in ["paths", "/a~b/{c}", "", "~1"] {
            pointer.push(token);
        }
        assert_eq!(pointer.as_str(), "/paths/~1a~0b~1{c}//~01");
        assert_eq!(
            pointer.tokens().collect::<Vec<_>>(),
            ["paths", "/a~b/{c}", "", "~1"]
        );
        pointer.pop();
        pointer.pop();
        assert_eq!(pointer.as_str(), "/paths/~1a~0b~1{c}");
    }
}
