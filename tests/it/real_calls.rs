//! Calls of real documents, each checked by hand against what its maker documents: from the document to the
//! names and required arguments of the definition, and to every byte of the request.
//!
//! A call belongs here when its document says something that no other call here does. A new document goes under
//! `tests/fixtures/documents`.

use std::fmt::Write as _;

use serde_json::Value;
use sezzlee::catalog::Operation;
use sezzlee::invoke::{Limits, Request, compose_checked};

use crate::tools_harness::operations;

fn document(file: &str) -> String {
    let path = format!(
        "{}/tests/fixtures/documents/{file}.zst",
        env!("CARGO_MANIFEST_DIR")
    );
    let bytes = zstd::decode_all(&std::fs::read(path).unwrap()[..]).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
fn operation(file: &str, name: &str) -> Operation {
    let found = operations(file, &document(file))
        .into_iter()
        .find(|one| one.definition.name == name);
    found.unwrap_or_else(|| panic!("{file} publishes no {name}"))
}

/// The names of the arguments in order, and those that are required.
fn names(operation: &Operation) -> (Vec<&str>, Vec<&str>) {
    let input = &operation.definition.input_schema;
    let all = input["properties"].as_object().unwrap();
    let required = input.get("required").and_then(Value::as_array);
    (
        all.keys().map(String::as_str).collect(),
        required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect(),
    )
}

/// The request of arguments that the published schema accepts.
#[track_caller]
fn request(operation: &Operation, arguments: &str) -> Request {
    let arguments = sezzlee::json::parse(arguments.as_bytes(), 99)
        .unwrap()
        .value;
    let input = &operation.definition.input_schema;
    let validator = jsonschema::draft202012::new(input).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(&arguments)
        .map(|one| one.to_string())
        .collect();
    assert_eq!(faults, [""; 0]);
    compose_checked(
        operation.template.as_ref().unwrap(),
        input,
        arguments.as_object().unwrap(),
        Limits::default(),
    )
    .unwrap()
}

/// The request as it would stand on paper; the body as text.
fn shown(request: &Request) -> String {
    let mut out = format!("{} {}\n", request.method, request.url);
    let mut headers: Vec<_> = request.headers.iter().collect();
    headers.sort_by_key(|(name, _)| name.as_str());
    for (name, value) in headers {
        writeln!(out, "{name}: {}", value.to_str().unwrap()).unwrap();
    }
    if let Some(body) = &request.body {
        writeln!(out, "\n{}", std::str::from_utf8(body).unwrap()).unwrap();
    }
    out
}

/// A query of plain values: commas of a text, a star, and a time with its zone.
#[test]
fn github_lists_issues() {
    let list = operation("github.json", "issues_list_for_repo");
    let (all, required) = names(&list);
    assert_eq!(
        all,
        [
            "owner",
            "repo",
            "milestone",
            "state",
            "assignee",
            "creator",
            "mentioned",
            "labels",
            "sort",
            "direction",
            "since",
            "per_page",
            "page"
        ]
    );
    assert_eq!(required, ["owner", "repo"]);
    let sent = request(
        &list,
        r#"{"owner": "octocat", "repo": "hello-world", "milestone": "*", "labels": "bug,good first issue",
            "since": "2026-01-02T03:04:05+01:00", "per_page": 100, "state": "all"}"#,
    );
    assert_eq!(
        shown(&sent),
        "GET https://api.github.com/repos/octocat/hello-world/issues?milestone=%2A&state=all\
         &labels=bug%2Cgood%20first%20issue&since=2026-01-02T03%3A04%3A05%2B01%3A00&per_page=100\n\
         accept: application/json, */*;q=0.1\n"
    );
}

/// A slash in a path value stays in its segment, as its maker's own client writes it.
#[test]
fn github_writes_a_file() {
    let write = operation("github.json", "repos_create_or_update_file_contents");
    let (all, required) = names(&write);
    assert_eq!(
        all,
        [
            "owner",
            "repo",
            "path",
            "author",
            "branch",
            "committer",
            "content",
            "message",
            "sha"
        ]
    );
    assert_eq!(required, ["owner", "repo", "path", "content", "message"]);
    let sent = request(
        &write,
        r#"{"owner": "octocat", "repo": "hello-world", "path": "docs/read me.md", "message": "Fix ✓",
            "content": "bXkgbmV3", "committer": {"name": "Mona", "email": "mona@github.com"}}"#,
    );
    assert_eq!(
        shown(&sent),
        "PUT https://api.github.com/repos/octocat/hello-world/contents/docs%2Fread%20me.md\n\
         accept: application/json, */*;q=0.1\ncontent-type: application/json\n\n\
         {\"committer\":{\"name\":\"Mona\",\"email\":\"mona@github.com\"},\"content\":\"bXkgbmV3\",\"message\":\"Fix ✓\"}\n"
    );
}

/// A server of the operation's own, a file as the body, and arguments beside it.
#[test]
fn github_uploads_an_asset() {
    let upload = operation("github.json", "repos_upload_release_asset");
    let (all, required) = names(&upload);
    assert_eq!(
        all,
        ["owner", "repo", "release_id", "name", "label", "body"]
    );
    assert_eq!(required, ["owner", "repo", "release_id", "name"]);
    let sent = request(
        &upload,
        r#"{"owner": "octocat", "repo": "hello-world", "release_id": 9007199254740993, "name": "a&b #1.zip",
            "label": "für alle", "body": {"base64": "UEsDBA==", "mediaType": "application/octet-stream"}}"#,
    );
    assert_eq!(sent.body.as_deref(), Some(&b"PK\x03\x04"[..]));
    assert_eq!(
        shown(&sent),
        "POST https://uploads.github.com/repos/octocat/hello-world/releases/9007199254740993/assets\
         ?name=a%26b%20%231.zip&label=f%C3%BCr%20alle\n\
         accept: application/json, */*;q=0.1\ncontent-type: application/octet-stream\n\nPK\u{3}\u{4}\n"
    );
}

/// A form of lists of objects, and an object in one of them: brackets with places; a list of plain values has
/// empty brackets, as its maker's examples have them.
#[test]
fn stripe_starts_a_subscription() {
    let start = operation("stripe.json", "post_subscriptions");
    let (all, required) = names(&start);
    for name in ["customer", "items", "expand", "metadata", "trial_end"] {
        assert!(all.contains(&name), "{all:?}");
    }
    assert_eq!(required, ["customer"]);
    let sent = request(
        &start,
        r#"{"customer": "cus_4QFJOjw2pOmAGJ",
            "items": [{"price": "price_1", "quantity": 2}, {"price_data": {"currency": "eur", "product": "prod_1",
                "recurring": {"interval": "month"}, "unit_amount_decimal": "10.50"}}],
            "automatic_tax": {"enabled": true}, "application_fee_percent": 12.50,
            "metadata": {"order&no": "6735"}, "expand": ["latest_invoice.payment_intent"], "trial_end": "now"}"#,
    );
    let pairs = [
        "application_fee_percent=12.50",
        "automatic_tax%5Benabled%5D=true",
        "customer=cus_4QFJOjw2pOmAGJ",
        "expand%5B%5D=latest_invoice.payment_intent",
        "items%5B0%5D%5Bprice%5D=price_1",
        "items%5B0%5D%5Bquantity%5D=2",
        "items%5B1%5D%5Bprice_data%5D%5Bcurrency%5D=eur",
        "items%5B1%5D%5Bprice_data%5D%5Bproduct%5D=prod_1",
        "items%5B1%5D%5Bprice_data%5D%5Brecurring%5D%5Binterval%5D=month",
        "items%5B1%5D%5Bprice_data%5D%5Bunit_amount_decimal%5D=10.50",
        "metadata%5Border%26no%5D=6735",
        "trial_end=now",
    ];
    assert_eq!(
        shown(&sent),
        format!(
            "POST https://api.stripe.com/v1/subscriptions\naccept: application/json, */*;q=0.1\n\
             content-type: application/x-www-form-urlencoded\n\n{}\n",
            pairs.join("&")
        )
    );
}

/// A range in a query, and a list whose style has no place for one.
#[test]
fn stripe_lists_invoices() {
    let list = operation("stripe.json", "get_invoices");
    let (all, required) = names(&list);
    assert_eq!(
        all,
        [
            "collection_method",
            "created",
            "customer",
            "due_date",
            "ending_before",
            "expand",
            "limit",
            "starting_after",
            "status",
            "subscription"
        ]
    );
    assert_eq!(required, [""; 0]);
    let sent = request(
        &list,
        r#"{"created": {"gte": 1735689600, "lt": 1767225600}, "due_date": 1767225600, "limit": 3,
            "expand": ["data.customer", "data.subscription"], "status": "open"}"#,
    );
    assert_eq!(
        shown(&sent),
        "GET https://api.stripe.com/v1/invoices?created%5Bgte%5D=1735689600&created%5Blt%5D=1767225600\
         &due_date=1767225600&expand%5B%5D=data.customer&expand%5B%5D=data.subscription&limit=3&status=open\n\
         accept: application/json, */*;q=0.1\n"
    );
}

/// Swagger 2.0 with parameters of the path item, and three kinds of patch of which one schema says nothing: an
/// object is a merge patch, and never a JSON Patch.
#[test]
fn kubernetes_patches_a_deployment() {
    let patch = operation("kubernetes.json", "patch_apps_v1namespaced_deployment");
    let (all, required) = names(&patch);
    assert_eq!(all, ["name", "namespace", "pretty", "dryRun", "body"]);
    assert_eq!(required, ["name", "namespace", "body"]);
    assert_eq!(
        patch.definition.input_schema["properties"]["body"]["description"],
        "Sent as application/merge-patch+json."
    );
    let mut template = patch.clone();
    template.template.as_mut().unwrap().base_url = Some("https://cluster.test:6443".into());
    let sent = request(
        &template,
        r#"{"namespace": "shop", "name": "web", "dryRun": "All",
            "body": {"spec": {"replicas": 3, "paused": null}}}"#,
    );
    assert_eq!(
        shown(&sent),
        "PATCH https://cluster.test:6443/apis/apps/v1/namespaces/shop/deployments/web?dryRun=All\n\
         accept: application/json, application/yaml;q=0.5, application/vnd.kubernetes.protobuf;q=0.5, */*;q=0.1\n\
         content-type: application/merge-patch+json\n\n\
         {\"spec\":{\"replicas\":3,\"paused\":null}}\n"
    );
}

/// A form of Swagger 2.0 whose fields are JSON as text, and a header parameter.
#[test]
fn slack_posts_a_message() {
    let post = operation("slack.json", "chat_post_message");
    let (all, required) = names(&post);
    assert_eq!(
        all,
        [
            "token",
            "as_user",
            "attachments",
            "blocks",
            "channel",
            "icon_emoji",
            "icon_url",
            "link_names",
            "mrkdwn",
            "parse",
            "reply_broadcast",
            "text",
            "thread_ts",
            "unfurl_links",
            "unfurl_media",
            "username"
        ]
    );
    assert_eq!(required, ["token", "channel"]);
    let sent = request(
        &post,
        r#"{"token": "t", "channel": "C024BE91L", "text": "1 + 1 = 2 & more ✓\nnext", "link_names": true,
            "thread_ts": "1482960137.003543", "blocks": "[{\"type\":\"divider\"}]"}"#,
    );
    assert_eq!(
        shown(&sent),
        "POST https://slack.com/api/chat.postMessage\naccept: application/json, */*;q=0.1\n\
         content-type: application/x-www-form-urlencoded\ntoken: t\n\n\
         blocks=%5B%7B%22type%22%3A%22divider%22%7D%5D&channel=C024BE91L&link_names=true\
         &text=1%20%2B%201%20%3D%202%20%26%20more%20%E2%9C%93%0Anext&thread_ts=1482960137.003543\n"
    );
}

/// A form whose lists repeat their name, and a header parameter.
#[test]
fn twilio_registers_a_campaign() {
    let create = operation("twilio_messaging.yaml", "create_us_app_to_person");
    let (all, required) = names(&create);
    assert!(all.starts_with(&[
        "MessagingServiceSid",
        "X-Twilio-Api-Version",
        "BrandRegistrationSid"
    ]));
    assert_eq!(
        required,
        [
            "MessagingServiceSid",
            "BrandRegistrationSid",
            "Description",
            "MessageFlow",
            "MessageSamples",
            "UsAppToPersonUsecase",
            "HasEmbeddedLinks",
            "HasEmbeddedPhone"
        ]
    );
    let sent = request(
        &create,
        r#"{"MessagingServiceSid": "MG0123456789abcdef0123456789abcdef", "X-Twilio-Api-Version": "v1.1",
            "BrandRegistrationSid": "BN0123456789abcdef0123456789abcdef", "Description": "Sales",
            "MessageFlow": "Form at https://shop.test/?a=1&b=2", "MessageSamples": ["Book now, 20% off", "Hi {1}"],
            "UsAppToPersonUsecase": "MARKETING", "HasEmbeddedLinks": true, "HasEmbeddedPhone": false}"#,
    );
    assert_eq!(
        shown(&sent),
        "POST https://messaging.twilio.com/v1/Services/MG0123456789abcdef0123456789abcdef/Compliance/Usa2p\n\
         accept: application/json, */*;q=0.1\ncontent-type: application/x-www-form-urlencoded\n\
         x-twilio-api-version: v1.1\n\n\
         BrandRegistrationSid=BN0123456789abcdef0123456789abcdef&Description=Sales\
         &MessageFlow=Form%20at%20https%3A%2F%2Fshop.test%2F%3Fa%3D1%26b%3D2\
         &MessageSamples=Book%20now%2C%2020%25%20off&MessageSamples=Hi%20%7B1%7D\
         &UsAppToPersonUsecase=MARKETING&HasEmbeddedLinks=true&HasEmbeddedPhone=false\n"
    );
}

/// A list in a query, which repeats its name.
#[test]
fn twilio_lists_verifications() {
    let list = operation("twilio_messaging.yaml", "list_tollfree_verification");
    let (all, required) = names(&list);
    assert_eq!(
        all,
        [
            "TollfreePhoneNumberSid",
            "Status",
            "ExternalReferenceId",
            "IncludeSubAccounts",
            "PageSize",
            "Page",
            "PageToken",
            "TrustProductSid"
        ]
    );
    assert_eq!(required, [""; 0]);
    let sent = request(
        &list,
        r#"{"Status": "TWILIO_APPROVED", "IncludeSubAccounts": false, "PageSize": 50, "TrustProductSid": ["BU1", "BU2"]}"#,
    );
    assert_eq!(
        shown(&sent),
        "GET https://messaging.twilio.com/v1/Tollfree/Verifications?Status=TWILIO_APPROVED\
         &IncludeSubAccounts=false&PageSize=50&TrustProductSid=BU1&TrustProductSid=BU2\n\
         accept: application/json, */*;q=0.1\n"
    );
}
