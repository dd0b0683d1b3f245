//! Streams and time on the endpoint: subscriptions, slow senders, calls that are given up.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use sezzlee::mcp::Settings;
use tokio::time::timeout;

use crate::mcp_fake::{Served, headers_of, modern, next_event, post, served, settings, shown};

/// Long enough for anything that is going to happen.
const PATIENCE: Duration = Duration::from_secs(30);

fn listen(id: &str, notifications: &Value) -> Value {
    modern(
        id,
        "subscriptions/listen",
        json!({"notifications": notifications}),
    )
}

async fn open(served: &Served, id: &str, notifications: &Value) -> Body {
    let message = listen(id, notifications);
    let (status, _, mut body) =
        post(&served.router, &headers_of(&message), message.to_string()).await;
    assert_eq!(status, StatusCode::OK);
    let ack = next_event(&mut body).await.unwrap();
    assert!(
        ack.contains("notifications/subscriptions/acknowledged"),
        "{ack}"
    );
    body
}

#[tokio::test]
async fn each_swap_is_told_exactly_once_to_everyone_who_asked() {
    let served = served(settings());
    let tools = json!({"toolsListChanged": true});
    let mut listeners = vec![
        open(&served, "a", &tools).await,
        open(&served, "b", &tools).await,
    ];
    let mut silent = open(&served, "c", &json!({"promptsListChanged": true})).await;
    for _ in 0..3 {
        served.fake.swap();
        for listener in &mut listeners {
            let event = next_event(listener).await.unwrap();
            assert!(
                event.contains("notifications/tools/list_changed"),
                "{event}"
            );
        }
    }
    served.stopper.stop();
    for (listener, id) in listeners.iter_mut().zip(["\"id\":\"a\"", "\"id\":\"b\""]) {
        let event = next_event(listener).await.unwrap();
        assert!(
            event.contains("\"result\"") && event.contains(id),
            "{event}"
        );
        assert_eq!(next_event(listener).await, None);
    }
    let event = next_event(&mut silent).await.unwrap();
    assert!(event.contains("\"result\""), "nothing but the end: {event}");
}

#[tokio::test]
async fn a_swap_before_the_subscription_is_no_news() {
    let served = served(settings());
    served.fake.swap();
    let mut body = open(&served, "a", &json!({"toolsListChanged": true})).await;
    served.stopper.stop();
    let event = next_event(&mut body).await.unwrap();
    assert!(event.contains("\"result\""), "{event}");
}

#[tokio::test]
async fn a_silent_stream_is_kept_alive() {
    let served = served(Settings {
        keep_alive: Duration::from_millis(5),
        ..settings()
    });
    let mut body = open(&served, "a", &json!({})).await;
    for _ in 0..3 {
        assert_eq!(next_event(&mut body).await.unwrap(), ":\n\n");
    }
}

#[tokio::test]
async fn streams_are_bounded_and_a_closed_one_makes_room() {
    let served = served(Settings {
        streams_max: 1,
        ..settings()
    });
    let first = open(&served, "a", &json!({})).await;
    let message = listen("b", &json!({}));
    let headers = headers_of(&message);
    let again = || post(&served.router, &headers, message.to_string());
    insta::assert_snapshot!(shown(again().await).await, @r#"
    503
    content-type: application/json
    retry-after: 5
    content-length: 94

    {"jsonrpc":"2.0","id":"b","error":{"code":-31001,"message":"too busy: too many open streams"}}
    "#);
    drop(first);
    let reopened = async {
        while again().await.0 != StatusCode::OK {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, reopened).await.unwrap();
}

#[tokio::test]
async fn a_listener_that_does_not_read_is_dropped_and_its_place_is_free() {
    let served = served(Settings {
        streams_max: 1,
        keep_alive: Duration::from_millis(1),
        ..settings()
    });
    let mut slow = open(&served, "slow", &json!({"toolsListChanged": true})).await;
    let message = listen("next", &json!({}));
    let reopened = async {
        while post(&served.router, &headers_of(&message), message.to_string())
            .await
            .0
            != StatusCode::OK
        {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, reopened).await.unwrap();
    // What it was sent is still there, and then it sees that its stream did not end well.
    let cut_off = async {
        loop {
            match slow.frame().await.unwrap() {
                Ok(_) => {}
                Err(error) => return error,
            }
        }
    };
    let error = timeout(PATIENCE, cut_off).await.unwrap();
    assert_eq!(error.to_string(), "the listener was too slow");
}

#[tokio::test]
async fn a_slow_sender_is_cut_off() {
    let served = served(Settings {
        body_deadline: Duration::from_millis(20),
        ..settings()
    });
    let never = Body::from_stream(futures_util::stream::pending::<
        Result<Vec<u8>, std::io::Error>,
    >());
    let answer = timeout(PATIENCE, post(&served.router, &[], never))
        .await
        .unwrap();
    insta::assert_snapshot!(shown(answer).await, @r#"
    408
    content-type: application/json
    connection: close
    content-length: 102

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: the body did not arrive in time"}}
    "#);
}

#[tokio::test]
async fn a_call_that_is_given_up_is_dropped() {
    let served = served(settings());
    let message = modern(1, "tools/call", json!({"name": "invoke_tool"}));
    let router = served.router.clone();
    let headers = headers_of(&message);
    let call = tokio::spawn(async move { post(&router, &headers, message.to_string()).await.0 });
    timeout(PATIENCE, served.fake.calls(1, 0)).await.unwrap();
    call.abort();
    timeout(PATIENCE, served.fake.calls(1, 1)).await.unwrap();
}

#[tokio::test]
async fn ten_thousand_handshakes_leave_nothing_behind() {
    // Without sessions there is nothing that a client which never says goodbye could fill.
    let served = served(settings());
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25"}})
    .to_string();
    for _ in 0..10_000 {
        let (status, headers, _) = post(&served.router, &[], message.clone()).await;
        assert_eq!(status, StatusCode::OK);
        assert!(!headers.contains_key("mcp-session-id"));
    }
}
