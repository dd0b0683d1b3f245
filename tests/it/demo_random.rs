//! The shop under random use: it never breaks but where it is meant to, and says only what it declares.

use axum::body::Body;
use axum::http::{Request, header};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::demo::backend;

use crate::demo::{Answer, quick, send};
use crate::demo_document::{Described, check_answer, document, follow, operations};

/// The only failures of the shop's own: they are what these operations are for.
const MEANT_TO_FAIL: [(&str, u16); 4] = [
    ("POST /reports/reconciliation", 500),
    ("GET /orders/export", 501),
    ("GET /shipments/{shipment_id}/label", 502),
    ("GET /taxes/{country}", 503),
];

/// A request in the making: which operation, and draws that fill its arguments.
#[derive(Debug, Clone)]
struct Use {
    operation: prop::sample::Index,
    draws: Vec<Draw>,
}

#[derive(Debug, Clone)]
struct Draw {
    /// Whether an argument is sent at all.
    sent: bool,
    /// Whether it is what the document asks for.
    fitting: bool,
    pick: prop::sample::Index,
    any: Value,
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z_]{1,9}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_use() -> impl Strategy<Value = Use> {
    let draw = (
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.8),
        any::<prop::sample::Index>(),
        any_value(),
    )
        .prop_map(|(sent, fitting, pick, any)| Draw {
            sent,
            fitting,
            pick,
            any,
        });
    (
        any::<prop::sample::Index>(),
        prop::collection::vec(draw, 24),
    )
        .prop_map(|(operation, draws)| Use { operation, draws })
}

/// Draws used one after the other, then again from the first.
struct Filling<'a> {
    document: &'a Value,
    draws: std::iter::Cycle<std::slice::Iter<'a, Draw>>,
}

impl Filling<'_> {
    /// A value for a schema: mostly one that fits, sometimes anything.
    fn value(&mut self, schema: &Value, name: &str) -> Value {
        let draw = self.draws.next().unwrap();
        if !draw.fitting {
            return draw.any.clone();
        }
        let schema = follow(self.document, schema);
        if let Some(choices) = schema["enum"].as_array() {
            return draw.pick.get(choices).clone();
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts: Vec<_> = parts.iter().map(|part| self.value(part, name)).collect();
            let members = parts
                .into_iter()
                .filter_map(|part| part.as_object().cloned());
            return Value::Object(members.flatten().collect());
        }
        let kind = schema["type"]
            .as_str()
            .or_else(|| schema["type"][0].as_str());
        match kind {
            Some("integer") => draw
                .pick
                .get(&[
                    json!(1),
                    json!(2),
                    json!(13),
                    json!(1001),
                    json!(1003),
                    json!(12_950),
                ])
                .clone(),
            Some("boolean") => json!(draw.pick.index(2) == 0),
            Some("array") => {
                let count = 1 + draw.pick.index(2);
                (0..count)
                    .map(|_| self.value(&schema["items"], name))
                    .collect()
            }
            Some("object") => {
                let mut members = Map::new();
                for (name, member) in schema["properties"].as_object().into_iter().flatten() {
                    if self.draws.next().unwrap().sent {
                        members.insert(name.clone(), self.value(member, name));
                    }
                }
                Value::Object(members)
            }
            _ if schema["format"] == "date" || name.contains("since") => json!("2026-03-31"),
            _ if name == "email" => json!(format!("user{}@shop.example", draw.pick.index(1000))),
            _ => draw
                .pick
                .get(&[
                    json!("lighting"),
                    json!("INV-1001"),
                    json!("SHP-1003"),
                    json!("1"),
                    json!("4711"),
                ])
                .clone(),
        }
    }

    fn request(&mut self, one: &Described) -> Request<Body> {
        let (method, template) = one.call.split_once(' ').unwrap();
        let mut uri = template.to_owned();
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let mut request = Request::builder().method(method);
        for parameter in &one.parameters {
            let name = parameter["name"].as_str().unwrap();
            let value = self.value(&parameter["schema"], name);
            let sent = self.draws.next().unwrap().sent;
            match parameter["in"].as_str().unwrap() {
                "path" => {
                    let encoded: String =
                        url::form_urlencoded::byte_serialize(plain(&value).as_bytes()).collect();
                    let encoded = if encoded.is_empty() {
                        "-".to_owned()
                    } else {
                        encoded
                    };
                    uri = uri.replace(&format!("{{{name}}}"), &encoded);
                }
                "query" if sent => match &value {
                    Value::Array(items) => items.iter().for_each(|item| {
                        query.append_pair(name, &plain(item));
                    }),
                    Value::Object(members) => members.iter().for_each(|(member, value)| {
                        query.append_pair(&format!("{name}[{member}]"), &plain(value));
                    }),
                    other => {
                        query.append_pair(name, &plain(other));
                    }
                },
                "header" if sent => {
                    if let Ok(value) = axum::http::HeaderValue::from_str(&plain(&value)) {
                        request = request.header(name, value);
                    }
                }
                _ => {}
            }
        }
        let query = query.finish();
        if !query.is_empty() {
            uri = format!("{uri}?{query}");
        }
        let media = one
            .operation
            .get("requestBody")
            .map(|body| &body["content"]["application/json"]);
        let request = request.uri(uri);
        match media {
            Some(media) => {
                let body = self.value(&media["schema"], "body").to_string();
                request
                    .header(header::CONTENT_TYPE, "application/json")
                    .body(Body::from(body))
                    .unwrap()
            }
            None => request.body(Body::empty()).unwrap(),
        }
    }
}

/// A value as it stands in a URL.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn check(document: &Value, one: &Described, answer: &Answer) {
    let status = answer.status.as_u16();
    if status >= 500 {
        assert!(
            MEANT_TO_FAIL.contains(&(one.call.as_str(), status)),
            "{} answers {status}",
            one.call
        );
    }
    let content_type = answer
        .headers
        .get(header::CONTENT_TYPE)
        .map(|value| value.to_str().unwrap());
    check_answer(document, one, answer.status, content_type, &answer.body);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_use_of_the_shop_is_answered_as_declared(uses in prop::collection::vec(any_use(), 1..40)) {
        let document = document();
        let all = operations(&document);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let router = backend::router(quick());
            for used in &uses {
                let one = used.operation.get(&all);
                let mut filling = Filling { document: &document, draws: used.draws.iter().cycle() };
                let answer = send(&router, filling.request(one)).await;
                check(&document, one, &answer);
            }
            // At most one row a call, save for imports of at most two.
            for (list, opened) in [("/products", 144), ("/customers", 180), ("/orders", 640)] {
                let request = Request::get(list).body(Body::empty()).unwrap();
                let page: Value = serde_json::from_slice(&send(&router, request).await.body).unwrap();
                let total = page["total"].as_u64().unwrap();
                assert!(total <= opened + 2 * uses.len() as u64, "{list}: {total}");
            }
        });
    }
}
