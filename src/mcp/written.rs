//! Results that are the same for every request: written once and sent again.
//!
//! Owns: the bytes of `server/discover`, once a process, and of `tools/list`, once a generation and era. Must
//! never outlive what they were written from: a listing is told from the next by its own text.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::Settings;
use super::era::{Era, SUPPORTED_VERSIONS};
use super::reply::{self, Cache, Reply, push, push_member};
use crate::tools::Listing;

/// The result of `server/discover`.
pub(super) fn discovered(settings: &Settings, server_info: &str, capabilities: &str) -> Vec<u8> {
    let supported = reply::strings(&SUPPORTED_VERSIONS);
    let cache = Cache::Private(settings.list_ttl_ms);
    let mut out = Vec::new();
    reply::object(&mut out, Era::Modern, server_info, cache, |out| {
        push(out, &["\"supportedVersions\":", &supported]);
        push(out, &[",\"capabilities\":", capabilities, ","]);
        push_instructions(out, settings);
    });
    out
}

pub(super) fn push_instructions(out: &mut Vec<u8>, settings: &Settings) {
    if let Some(instructions) = &settings.instructions {
        push_member(out, "instructions", instructions);
    }
}

/// The last result of `tools/list` in each era.
#[derive(Default)]
pub(super) struct Listed {
    modern: ArcSwapOption<Written>,
    legacy: ArcSwapOption<Written>,
}

struct Written {
    /// What it was written from. Held, so that no other text can have its address.
    tools_json: Arc<str>,
    object: Arc<[u8]>,
}

impl Listed {
    /// The result of `tools/list` with one page. A surface that lists one text for all is written once; what
    /// depends on the caller or has further pages is written each time.
    pub(super) fn object(&self, reply: &Reply<'_>, listing: &Listing, ttl_ms: u64) -> Arc<[u8]> {
        let slot = match reply.era {
            Era::Modern => &self.modern,
            Era::Legacy => &self.legacy,
        };
        if listing.next_cursor.is_none()
            && let Some(last) = &*slot.load()
            && Arc::ptr_eq(&last.tools_json, &listing.tools_json)
        {
            return Arc::clone(&last.object);
        }
        let mut out = Vec::with_capacity(listing.tools_json.len() + 256);
        let cache = Cache::Private(ttl_ms);
        reply::object(&mut out, reply.era, reply.server_info, cache, |out| {
            push(out, &["\"tools\":", &listing.tools_json, ","]);
            if let Some(cursor) = &listing.next_cursor {
                push_member(out, "nextCursor", cursor);
            }
        });
        let object: Arc<[u8]> = out.into();
        if listing.next_cursor.is_none() {
            slot.store(Some(Arc::new(Written {
                tools_json: Arc::clone(&listing.tools_json),
                object: Arc::clone(&object),
            })));
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::{Message, Request};

    fn request() -> Request {
        match Message::read(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap() {
            Message::Request(request) => request,
            Message::Notification(_) => panic!("it has an id"),
        }
    }

    fn listing(text: &str, next_cursor: Option<&str>) -> Listing {
        Listing {
            tools_json: text.into(),
            next_cursor: next_cursor.map(str::to_owned),
        }
    }

    #[test]
    fn a_listing_is_written_once_and_never_for_another() {
        let request = request();
        let reply = |era| Reply {
            era,
            id: &request.id,
            server_info: "{}",
        };
        let (modern, legacy) = (reply(Era::Modern), reply(Era::Legacy));
        let listed = Listed::default();
        let text = |object: &Arc<[u8]>| String::from_utf8(object.to_vec()).unwrap();
        let first = listing("[1]", None);
        let object = listed.object(&modern, &first, 5);
        assert!(Arc::ptr_eq(
            &object,
            &listed.object(&modern, &first.clone(), 5)
        ));
        let old = listed.object(&legacy, &first, 5);
        assert_eq!(text(&old), r#"{"tools":[1]}"#);
        assert!(text(&object).starts_with(r#"{"resultType":"complete","tools":[1],"ttlMs":5"#));
        assert!(
            Arc::ptr_eq(&object, &listed.object(&modern, &first, 5)),
            "eras are apart"
        );

        let second = listing("[2]", None);
        assert!(text(&listed.object(&modern, &second, 5)).contains("[2]"));
        assert!(
            text(&listed.object(&modern, &first, 5)).contains("[1]"),
            "back again"
        );
        let paged = listing("[3]", Some("next"));
        assert!(text(&listed.object(&legacy, &paged, 5)).contains("nextCursor"));
        let last = Listing {
            next_cursor: None,
            ..paged
        };
        assert!(!text(&listed.object(&legacy, &last, 5)).contains("nextCursor"));
    }
}
