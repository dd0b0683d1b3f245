//! The cost of `tools/list` and `server/discover`. Owns: one loop a method and era; no socket is between.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use sezzlee::access::Caller;
use sezzlee::mcp::Answer;
use sezzlee::tools::Generations;

use crate::Args;
use crate::gateway::{build, dispatcher};

const CALLS: u32 = 200_000;

pub(crate) async fn run(args: &Args) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let reader = build(directory.path(), args.seed, 0, args.operations);
    let dispatcher = dispatcher(&Arc::new(Generations::new(reader)));
    let caller = Caller::anonymous();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    for (what, method, params) in [
        ("tools/list, 2025", "tools/list", json!({})),
        ("tools/list, 2026", "tools/list", json!({"_meta": meta})),
        ("server/discover", "server/discover", json!({"_meta": meta})),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = request.to_string().into_bytes();
        let (begin, mut bytes) = (Instant::now(), 0);
        for _ in 0..CALLS {
            let answer = dispatcher.answer(&request, None, &caller).await;
            let Answer::Message { status, body } = answer else {
                panic!("{answer:?}");
            };
            assert!(status.is_success(), "{}", String::from_utf8_lossy(&body));
            bytes = body.len();
        }
        let each = begin.elapsed() / CALLS;
        println!("{what}: {each:?} a call from bytes to {bytes} bytes");
    }
    true
}
