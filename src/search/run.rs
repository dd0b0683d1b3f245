//! One search.

use crate::access::{View, Visible};
use crate::index::{Filter, Hit, IndexError, Reader};
use crate::text::fold;

/// One search, its arguments already checked and clamped.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The query text; without tokens it lists everything.
    pub text: &'a str,
    /// Tags a result must carry, as the caller wrote them.
    pub tags: &'a [String],
    /// At most this many results.
    pub limit: usize,
    /// The vocabulary is left out when it is longer than this.
    pub vocabulary_limit: usize,
}

/// Tags in the answer's vocabulary before it is left out, unless the operator says otherwise.
pub const VOCABULARY_LIMIT_DEFAULT: usize = 200;

/// What a search found.
#[derive(Debug)]
pub struct Page<'a> {
    /// How many operations the caller may see at all.
    pub total: u64,
    /// The folded tags of those operations, ascending; none when there are none or too many.
    pub tags: Option<Vec<&'a str>>,
    /// The results, best first.
    pub hits: Vec<Visible<Hit>>,
}

/// Ranks, filters and cuts. The filter removes rows and never moves one; what the caller may not see
/// never takes a place in the limit.
pub fn run<'a>(reader: &'a Reader, view: &View, query: Query<'_>) -> Result<Page<'a>, IndexError> {
    let mut tags: Vec<String> = query.tags.iter().map(|tag| fold(tag)).collect();
    tags.sort_unstable();
    tags.dedup();
    let shown = view.shown();
    let filter = Filter {
        tags: &tags,
        shown: &shown,
    };
    let hits = reader
        .top(query.text, filter, query.limit)?
        .into_iter()
        // The index filtered by audience already; nothing becomes visible without the view's own word.
        .filter_map(|hit| view.admit(reader.audience(hit.document), hit))
        .collect();
    Ok(Page {
        total: reader.total(&shown),
        tags: reader.vocabulary(&shown, query.vocabulary_limit),
        hits,
    })
}
