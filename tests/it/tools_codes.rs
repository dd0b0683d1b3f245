//! The code table, walked: every code that can be answered is answered, by a call that anyone can make.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use sezzlee::contract::Code;
use sezzlee::demo;

use crate::http_backend::{Backend, Step, response};
use crate::tools_harness::{Gateway, Setup, reader};
use crate::tools_invoke::{CALLS, LINES};

/// Codes that nothing answers yet, and what has to be there first. The list may only shrink: a code that is
/// answered somewhere below must leave it.
const NOT_YET: [(Code, &str); 8] = [
    (Code::DeferredValueMissing, "arguments hidden by curation"),
    (Code::DeferredValueInvalid, "arguments hidden by curation"),
    (Code::InvalidCookieValue, "cookie arguments"),
    (
        Code::CookieCarrierCollision,
        "cookie arguments and credentials",
    ),
    (Code::InvalidFileArgument, "form and binary bodies"),
    (Code::FileTooLarge, "form and binary bodies"),
    (Code::FileUnresolved, "a resolver of file references"),
    (
        Code::SearchRankerUnavailable,
        "a search that found no thread in time (tests/it/reload.rs), and rankers other than the built-in one",
    ),
];

/// Failures by code, each with the call that gave it.
#[derive(Default)]
struct Seen(BTreeMap<&'static str, Vec<String>>);

impl Seen {
    #[track_caller]
    fn code(&mut self, want: Code, answer: &crate::tools_harness::Answer) {
        assert_eq!(answer.code(), want.as_str(), "{}", answer.text);
        self.0
            .entry(want.as_str())
            .or_default()
            .push(answer.text.clone());
    }
}

/// The calls of the demo's readme that fail, as it lists them.
fn demo_calls() -> Vec<(&'static str, Value, Code)> {
    let money = json!({"amount": 1, "currency": "EUR"});
    let address =
        json!({"street": "Quay 7", "city": "Oslo", "postal_code": "0150", "country": "NO"});
    vec![
        (
            "create_product",
            json!({"name": "Lamp", "category": "lighting"}),
            Code::ValidationFailed,
        ),
        (
            "create_order",
            json!({"customer_id": 1, "lines": [{"product_id": 1, "quantity": 0}]}),
            Code::ValidationFailed,
        ),
        (
            "create_customer",
            json!({"name": "X", "email": "nobody", "address": address}),
            Code::ValidationFailed,
        ),
        (
            "pay_invoice",
            json!({"invoice_id": "INV-1001", "amount": money, "method": "card"}),
            Code::ValidationFailed,
        ),
        (
            "get_sales_report",
            json!({"group_by": "colour"}),
            Code::BadRequest,
        ),
        (
            "unlock_customer",
            json!({"customer_id": 13}),
            Code::Unauthenticated,
        ),
        ("get_customer", json!({"customer_id": 13}), Code::Forbidden),
        ("get_order", json!({"order_id": 7}), Code::NotFound),
        ("get_archived_orders", json!({"year": 2019}), Code::NotFound),
        (
            "cancel_order",
            json!({"order_id": 1004, "reason": "fraud"}),
            Code::Conflict,
        ),
        (
            "set_product_price",
            json!({"product_id": 1, "amount": 1, "currency": "EUR"}),
            Code::Conflict,
        ),
        ("reconcile_ledger", json!({}), Code::BackendError),
        (
            "export_orders",
            json!({"format": "xlsx"}),
            Code::BackendError,
        ),
        (
            "get_shipment_label",
            json!({"shipment_id": "SHP-1003"}),
            Code::BackendUnavailable,
        ),
        ("run_audit", json!({}), Code::InvokeTimeout),
        ("export_orders", json!({}), Code::ResponseTooLarge),
        ("nope", json!({}), Code::UnknownTool),
        ("get_order", json!({"order": 7}), Code::UnknownArgument),
        ("get_order", json!({}), Code::MissingPathParameter),
        ("get_order", json!({"order_id": {}}), Code::InvalidPathType),
        (
            "set_product_price",
            json!({"product_id": 1, "If-Match": "1\r\nX: y"}),
            Code::HeaderInjection,
        ),
        (
            "list_orders",
            json!({"customer_id": null}),
            Code::NullNotAllowed,
        ),
        ("list_orders", json!({"status": []}), Code::InvalidType),
    ]
}

async fn over_the_demo(seen: &mut Seen) {
    let shop = demo::start(demo::Settings {
        report_delay: Duration::ZERO,
        ..demo::Settings::default()
    });
    let shop = shop.await.unwrap();
    let base = shop.base_url();
    let quick = || {
        let mut setup = Setup::default();
        // Long enough for any answer but the audit's, which takes a minute.
        setup.calls.deadline = Some(Duration::from_secs(5));
        setup
    };
    let gateway = Gateway::over(reader("shop.yaml", demo::DOCUMENT, Some(&base)), quick());
    for (name, arguments, code) in demo_calls() {
        let answer = gateway
            .invoke(json!({"name": name, "arguments": arguments}))
            .await;
        seen.code(code, &answer);
        for inside in [
            "127.0.0.1",
            "\n\tat ",
            "password",
            ".java",
            "<html",
            "/srv/",
        ] {
            assert!(!answer.text.contains(inside), "{inside}: {}", answer.text);
        }
    }
    let twice = json!({"name": "send_invoice_reminder", "arguments": {"invoice_id": "INV-1001"}});
    gateway.invoke(&twice).await;
    let again = gateway.invoke(&twice).await;
    seen.code(Code::RateLimited, &again);
    assert!(
        again.value["retryAfterSeconds"].as_u64().is_some(),
        "{}",
        again.text
    );
    let changed = json!({"name": "get_order", "arguments": {"order_id": 1001}, "version": "0000000000000000"});
    seen.code(Code::ToolChanged, &gateway.invoke(changed).await);
    shop.stop().await;
}

async fn elsewhere(seen: &mut Seen) {
    let lines = Gateway::over(reader("lines.jsonl", LINES, None), Setup::default());
    let call = json!({"name": "no_route", "arguments": {}});
    seen.code(Code::NotInvocable, &lines.invoke(call).await);
    let damaged = crate::tools_generations::damaged();
    seen.code(Code::InternalError, &damaged);
}

#[tokio::test]
async fn every_code_has_a_case_or_a_reason() {
    let mut seen = Seen::default();
    over_the_demo(&mut seen).await;
    elsewhere(&mut seen).await;
    for code in Code::ALL {
        let excused = NOT_YET.iter().find(|(one, _)| one == code);
        match (seen.0.contains_key(code.as_str()), excused) {
            (true, None) | (false, Some(_)) => {}
            (true, Some((_, missing))) => {
                panic!(
                    "{} is answered now: take it off the list ({missing})",
                    code.as_str()
                );
            }
            (false, None) => panic!("{} has no case", code.as_str()),
        }
    }
}

/// Every status of invoke.md's table, with what it becomes.
#[tokio::test]
async fn statuses_become_codes() {
    for (status, code) in [
        (400, Code::BadRequest),
        (401, Code::Unauthenticated),
        (402, Code::BadRequest),
        (403, Code::Forbidden),
        (404, Code::NotFound),
        (405, Code::BadRequest),
        (406, Code::BadRequest),
        (408, Code::BackendUnavailable),
        (409, Code::Conflict),
        (410, Code::NotFound),
        (412, Code::Conflict),
        (415, Code::BadRequest),
        (418, Code::BadRequest),
        (422, Code::BadRequest),
        (428, Code::Conflict),
        (429, Code::RateLimited),
        (500, Code::BackendError),
        (501, Code::BackendError),
        (502, Code::BackendUnavailable),
        (503, Code::BackendUnavailable),
        (504, Code::BackendUnavailable),
        (507, Code::BackendError),
        (599, Code::BackendError),
    ] {
        let backend = Backend::start(move |_| vec![Step::Send(response(status, &[], ""))]).await;
        let gateway = Gateway::of("calls.yaml", CALLS, &backend.url(""));
        let answer = gateway
            .invoke(json!({"name": "list_things", "arguments": {}}))
            .await;
        assert_eq!(answer.code(), code.as_str(), "{status}");
        assert_eq!(answer.value["status"], status);
    }
}
