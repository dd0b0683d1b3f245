//! Headers, bodies, nulls, unknown names, and what cannot be called.

use serde_json::json;

use super::*;

#[test]
fn numbers_keep_every_digit() {
    let text = r#"{"p": 12345678901234567890, "q": 0.10, "h": 9007199254740993, "deep": {"n": [1.000, -0]}}"#;
    let mut body = with_body(
        BodyShape::Members {
            members: vec![member("deep")],
            open: false,
        },
        false,
    );
    body.route = "/n/{p}".to_owned();
    body.parameters = vec![path("p"), query("q"), header("h")];
    let request = run(&body, text).unwrap();
    assert_eq!(request.target(), "/api/n/12345678901234567890?q=0.10");
    assert_eq!(request.headers["h"], "9007199254740993");
    assert_eq!(
        request.body.as_deref(),
        Some(br#"{"deep":{"n":[1.000,-0]}}"#.as_slice())
    );
}

#[test]
fn null_goes_only_where_it_is_allowed() {
    let mut nullable = query("maybe");
    nullable.nullable = true;
    let mut json_null = query("json");
    json_null.nullable = true;
    json_null.content_type = Some("application/json".to_owned());
    let search = template("/s", vec![query("q"), header("h"), nullable, json_null]);
    for arguments in [r#"{"q": null}"#, r#"{"h": null}"#] {
        refused(&search, arguments, ArgumentFault::NullNotAllowed);
    }
    assert_eq!(target(&search, r#"{"maybe": null}"#), "/api/s");
    assert_eq!(target(&search, r#"{"json": null}"#), "/api/s?json=null");

    let mut open_member = member("note");
    open_member.nullable = true;
    let jars = with_body(
        BodyShape::Members {
            members: vec![member("lid"), open_member],
            open: false,
        },
        false,
    );
    refused(&jars, r#"{"lid": null}"#, ArgumentFault::NullNotAllowed);
    let request = run(&jars, r#"{"note": null}"#).unwrap();
    assert_eq!(request.body.as_deref(), Some(b"{\"note\":null}".as_slice()));
}

#[test]
fn headers() {
    let lots = template("/lots", vec![header("X-Grower"), header("X-Tags")]);
    let request = run(&lots, r#"{"X-Grower": 12, "X-Tags": ["a", "b c"]}"#).unwrap();
    assert_eq!(request.headers["x-grower"], "12");
    assert_eq!(request.headers["x-tags"], "a,b c");
    let request = run(&lots, r#"{"X-Grower": "é \"=;"}"#).unwrap();
    assert_eq!(request.headers["x-grower"].as_bytes(), "é \"=;".as_bytes());
    for value in ["1\r\nX-Admin: yes", "a\nb", "a\u{0}", "\r"] {
        let arguments = json!({ "X-Grower": value }).to_string();
        refused(&lots, &arguments, ArgumentFault::HeaderInjection);
    }
    for value in [
        json!(" a"),
        json!("a\t"),
        json!("\u{1b}"),
        json!(["a,b"]),
        json!([]),
        json!({"a,b": 1}),
    ] {
        let arguments = json!({ "X-Grower": value }).to_string();
        refused(&lots, &arguments, ArgumentFault::InvalidType);
    }
    let exploded = template(
        "/lots",
        vec![parameter("X-O", Location::Header, Style::Simple, true)],
    );
    let request = run(&exploded, r#"{"X-O": {"a": 1, "b": "c=d"}}"#).unwrap();
    assert_eq!(request.headers["x-o"], "a=1,b=c=d");
    refused(
        &exploded,
        r#"{"X-O": {"a=b": 1}}"#,
        ArgumentFault::InvalidType,
    );
    for name in [
        "Authorization",
        "host",
        "X-Forwarded-For",
        "Proxy-Auth",
        "X-HTTP-Method-Override",
        "a b",
    ] {
        let odd = template("/lots", vec![header(name)]);
        let arguments = json!({ name: "x" }).to_string();
        refused(&odd, &arguments, ArgumentFault::NotInvocable);
    }
}

#[test]
fn bodies() {
    let members = |open| BodyShape::Members {
        members: vec![member("id"), member("lid")],
        open,
    };
    let closed = with_body(members(false), false);
    assert_eq!(run(&closed, "{}").unwrap().body, None);
    assert!(
        !run(&closed, "{}")
            .unwrap()
            .headers
            .contains_key("content-type")
    );
    let request = run(&closed, r#"{"lid": "tin", "id": {"a": [null]}}"#).unwrap();
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(
        request.body.as_deref(),
        Some(br#"{"id":{"a":[null]},"lid":"tin"}"#.as_slice())
    );
    refused(&closed, r#"{"size": 1}"#, ArgumentFault::UnknownArgument);
    let required = with_body(members(false), true);
    assert_eq!(
        run(&required, "{}").unwrap().body.as_deref(),
        Some(b"{}".as_slice())
    );

    let mut open = with_body(members(true), false);
    let request = run(&open, r#"{"size": 1, "lid": "tin", "note": null}"#).unwrap();
    assert_eq!(
        request.body.as_deref(),
        Some(br#"{"lid":"tin","size":1,"note":null}"#.as_slice())
    );
    // The old names of renamed arguments are not open members.
    let mut renamed = query("secret");
    renamed.argument = "public".to_owned();
    open.parameters.push(renamed);
    refused(&open, r#"{"secret": 1}"#, ArgumentFault::UnknownArgument);

    let mut whole = with_body(BodyShape::Whole(member("body")), true);
    assert_eq!(run(&whole, "{}").unwrap().body, None);
    refused(&whole, r#"{"body": null}"#, ArgumentFault::NullNotAllowed);
    if let Some(body) = &mut whole.body {
        body.media_type = "application/vnd.api+json".to_owned();
    }
    let request = run(&whole, r#"{"body": [1, "a"]}"#).unwrap();
    assert_eq!(request.headers["content-type"], "application/vnd.api+json");
    assert_eq!(request.body.as_deref(), Some(b"[1,\"a\"]".as_slice()));
    if let Some(body) = &mut whole.body {
        body.media_type = "*/*".to_owned();
    }
    let request = run(&whole, r#"{"body": "a"}"#).unwrap();
    assert_eq!(request.headers["content-type"], "application/json");
    if let Some(body) = &mut whole.body {
        body.media_type = "multipart/form-data".to_owned();
    }
    refused(&whole, r#"{"body": "a"}"#, ArgumentFault::NotInvocable);
}

#[test]
fn the_same_name_in_path_and_body_arrives_twice() {
    let mut put = with_body(
        BodyShape::Members {
            members: vec![
                Member {
                    argument: "id_body".to_owned(),
                    ..member("id")
                },
                member("lid"),
            ],
            open: false,
        },
        true,
    );
    put.method = "PUT".to_owned();
    put.route = "/jars/{id}".to_owned();
    put.parameters = vec![path("id")];
    let request = run(&put, r#"{"id": 4, "id_body": 9, "lid": "tin"}"#).unwrap();
    assert_eq!(request.method, Method::PUT);
    assert_eq!(request.target(), "/api/jars/4");
    assert_eq!(
        request.body.as_deref(),
        Some(br#"{"id":9,"lid":"tin"}"#.as_slice())
    );
}

#[test]
fn unknown_arguments_come_before_everything_the_arguments_could_do_wrong() {
    let plots = template("/plots/{plot}", vec![path("plot"), query("limit")]);
    let error = refused(
        &plots,
        r#"{"lmit": 1, "plot": ".."}"#,
        ArgumentFault::UnknownArgument,
    );
    assert_eq!(
        error.message,
        "`lmit` is not an argument of this tool; it takes `limit`, `plot`"
    );
    assert_eq!(error.fields[0].0, "lmit");
    let none = template("/x", vec![]);
    let error = refused(&none, r#"{"a": 1}"#, ArgumentFault::UnknownArgument);
    assert_eq!(
        error.message,
        "`a` is not an argument of this tool; it takes none"
    );
}

#[test]
fn operations_that_cannot_be_called() {
    let base = |url: Option<&str>| RequestTemplate {
        base_url: url.map(str::to_owned),
        ..template("/a", vec![])
    };
    for url in [
        None,
        Some(""),
        Some("/api"),
        Some("ftp://a.test"),
        Some("https://u:p@a.test"),
        Some("https://a.test?x=1"),
        Some("https://a.test#x"),
    ] {
        refused(&base(url), "{}", ArgumentFault::NotInvocable);
    }
    for method in ["", "GE T", "CONNECT", "GET\r\n"] {
        let odd = RequestTemplate {
            method: method.to_owned(),
            ..template("/a", vec![])
        };
        refused(&odd, "{}", ArgumentFault::NotInvocable);
    }
    refused(&template("/{a}", vec![]), "{}", ArgumentFault::NotInvocable);
    refused(
        &template("/a", vec![path("b")]),
        r#"{"b": 1}"#,
        ArgumentFault::NotInvocable,
    );
    for (name, style) in [("a b", Style::Form), ("theme", Style::DeepObject)] {
        let cookie = parameter(name, Location::Cookie, style, true);
        let cookies = template("/a", vec![cookie]);
        assert_eq!(target(&cookies, "{}"), "/api/a");
        let arguments = json!({ name: 1 }).to_string();
        refused(&cookies, &arguments, ArgumentFault::NotInvocable);
    }
}
