//! Forms, multipart bodies, files, text, cookies and query strings, to the byte.

use serde_json::json;

use super::*;
use crate::catalog::{CollectionSeparator, Field, Fields, FileUse};

fn field(name: &str) -> Field {
    Field {
        member: member(name),
        style: None,
        explode: false,
        allow_reserved: false,
        content_types: vec![],
        file: FileUse::Never,
        headers: vec![],
    }
}

fn styled(name: &str, style: Style, explode: bool) -> Field {
    Field {
        style: Some(style),
        explode,
        ..field(name)
    }
}

fn file(name: &str, types: &[&str]) -> Field {
    Field {
        file: FileUse::Only,
        content_types: types.iter().map(|&one| one.to_owned()).collect(),
        ..field(name)
    }
}

fn sending(media_type: &str, shape: BodyShape) -> RequestTemplate {
    let mut template = with_body(shape, false);
    template.body.as_mut().unwrap().media_type = media_type.to_owned();
    template
}

fn of(fields: Vec<Field>) -> Fields {
    Fields {
        fields,
        open: false,
        further: FileUse::Never,
        within: None,
    }
}

fn form(fields: Vec<Field>) -> RequestTemplate {
    sending(
        "application/x-www-form-urlencoded",
        BodyShape::Form(of(fields)),
    )
}

fn multipart(fields: Vec<Field>) -> RequestTemplate {
    sending("multipart/form-data", BodyShape::Multipart(of(fields)))
}

#[track_caller]
fn body(template: &RequestTemplate, arguments: &str) -> String {
    let request = run(template, arguments).unwrap();
    String::from_utf8(request.body.unwrap().to_vec()).unwrap()
}

/// The parts of a multipart body, each as its text, with the boundary that the Content-Type names.
#[track_caller]
fn parts(template: &RequestTemplate, arguments: &str) -> Vec<String> {
    let request = run(template, arguments).unwrap();
    let content_type = request.headers["content-type"].to_str().unwrap().to_owned();
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    let text = String::from_utf8(request.body.unwrap().to_vec()).unwrap();
    let text = text.strip_suffix(&format!("--{boundary}--\r\n")).unwrap();
    text.split(&format!("--{boundary}\r\n"))
        .skip(1)
        .map(|part| part.strip_suffix("\r\n").unwrap().to_owned())
        .collect()
}

#[test]
fn form_fields_by_kind_and_by_style() {
    let list = json!(["a b", "c,d", "e&f=g+h#i"]);
    let object = json!({"R": 1.5, "G&": "x,y"});
    let tab = Style::Collection(CollectionSeparator::Tab);
    for (one, value, want) in [
        (field("f"), json!("é &"), "f=%C3%A9%20%26"),
        (field("f"), json!(true), "f=true"),
        (field("f"), json!(""), "f="),
        (
            field("f"),
            list.clone(),
            "f=a%20b&f=c%2Cd&f=e%26f%3Dg%2Bh%23i",
        ),
        (field("f"), json!({"a": [1]}), "f=%7B%22a%22%3A%5B1%5D%7D"),
        (field("f"), json!([{"a": 1}, 2]), "f=%7B%22a%22%3A1%7D&f=2"),
        (
            Field {
                content_types: vec!["application/json".into()],
                ..field("f")
            },
            json!(["a"]),
            "f=%5B%22a%22%5D",
        ),
        (
            styled("f", Style::Form, true),
            object.clone(),
            "R=1.5&G%26=x%2Cy",
        ),
        (
            styled("f", Style::Form, false),
            list.clone(),
            "f=a%20b,c%2Cd,e%26f%3Dg%2Bh%23i",
        ),
        (
            styled("f", Style::Form, false),
            object.clone(),
            "f=R,1.5,G%26,x%2Cy",
        ),
        (
            styled("f", Style::SpaceDelimited, false),
            json!([1, 2]),
            "f=1%202",
        ),
        (
            styled("f", Style::PipeDelimited, false),
            json!([1, 2]),
            "f=1%7C2",
        ),
        (
            styled("f", Style::PipeDelimited, true),
            json!([1, 2]),
            "f=1&f=2",
        ),
        (styled("f", tab, false), json!([1, 2]), "f=1%092"),
        (
            styled("f", Style::DeepObject, true),
            object,
            "f%5BR%5D=1.5&f%5BG%26%5D=x%2Cy",
        ),
        (
            styled("f", Style::DeepObject, true),
            json!([{"a": 1}, {"a": [2, 3]}]),
            "f%5B0%5D%5Ba%5D=1&f%5B1%5D%5Ba%5D%5B%5D=2&f%5B1%5D%5Ba%5D%5B%5D=3",
        ),
        (
            styled("f", Style::DeepObject, true),
            json!("plain"),
            "f=plain",
        ),
        (
            Field {
                allow_reserved: true,
                ..styled("f", Style::Form, true)
            },
            json!("a/b?c=[d]&e+f;'%41"),
            "f=a/b?c=[d]%26e%2Bf%3B%27%2541",
        ),
    ] {
        let template = form(vec![one]);
        assert_eq!(body(&template, &json!({ "f": value }).to_string()), want);
    }
    let request = run(&form(vec![field("f")]), r#"{"f": 1}"#).unwrap();
    assert_eq!(
        request.headers["content-type"],
        "application/x-www-form-urlencoded"
    );
}

#[test]
fn form_values_without_a_form() {
    for (one, value) in [
        (field("f"), json!([])),
        (field("f"), json!([null])),
        (styled("f", Style::Form, true), json!({})),
        (styled("f", Style::Form, true), json!([[1]])),
        (styled("f", Style::PipeDelimited, false), json!(["a|b"])),
        (styled("f", Style::DeepObject, true), json!({"a": null})),
        (styled("f", Style::DeepObject, true), json!({"a": {}})),
        (
            Field {
                content_types: vec!["text/plain".into()],
                ..field("f")
            },
            json!({"a": 1}),
        ),
    ] {
        for template in [form(vec![one.clone()]), multipart(vec![one.clone()])] {
            let arguments = json!({ "f": value }).to_string();
            let error = refused(&template, &arguments, ArgumentFault::InvalidType);
            assert_eq!(error.fields[0].0, "f");
        }
    }
    // In parts nothing is encoded, so a separator inside an item is one too many.
    let commas = multipart(vec![styled("f", Style::Form, false)]);
    refused(
        &commas,
        r#"{"f": ["a,b", "c"]}"#,
        ArgumentFault::InvalidType,
    );
    refused(
        &form(vec![field("f")]),
        r#"{"f": null}"#,
        ArgumentFault::NullNotAllowed,
    );
    let mut nullable = field("f");
    nullable.member.nullable = true;
    assert_eq!(
        run(&form(vec![nullable]), r#"{"f": null}"#).unwrap().body,
        None
    );
}

#[test]
fn no_field_sets_another() {
    let mut hidden = field("admin");
    hidden.member.argument = "renamed".to_owned();
    let fields = vec![
        styled("free", Style::Form, true),
        hidden,
        styled("deep", Style::DeepObject, true),
        field("deep[x]"),
    ];
    for template in [form(fields.clone()), multipart(fields.clone())] {
        for arguments in [
            json!({"free": {"admin": 1}}),
            json!({"free": {"ADMIN[]": 1}}),
            json!({"free": {"deep": 1}}),
            json!({"deep": {"x": 1}}),
            json!({"free": {"": 1}}),
            json!({"free": {"k": 1, "K": 2}}),
        ] {
            refused(
                &template,
                &arguments.to_string(),
                ArgumentFault::InvalidType,
            );
        }
        refused(&template, r#"{"admin": 1}"#, ArgumentFault::UnknownArgument);
    }
    let mut open = of(fields);
    open.open = true;
    let open = sending("application/x-www-form-urlencoded", BodyShape::Form(open));
    refused(&open, r#"{"admin": 1}"#, ArgumentFault::UnknownArgument);
    refused(&open, r#"{"admin[]": 1}"#, ArgumentFault::InvalidType);
    assert_eq!(
        body(&open, r#"{"more": {"a": 1}, "renamed": 2}"#),
        "admin=2&more=%7B%22a%22%3A1%7D"
    );
}

#[test]
fn one_argument_may_hold_all_fields() {
    let mut fields = of(vec![styled("list", Style::Form, false), field("other")]);
    fields.open = true;
    fields.within = Some(member("body"));
    let whole = sending("application/x-www-form-urlencoded", BodyShape::Form(fields));
    assert_eq!(
        body(
            &whole,
            r#"{"body": {"more": "m", "other": 1, "list": [1, 2]}}"#
        ),
        "list=1,2&other=1&more=m"
    );
    assert_eq!(body(&whole, r#"{"body": {}}"#), "");
    refused(&whole, r#"{"body": "list=1"}"#, ArgumentFault::InvalidType);
    refused(&whole, r#"{"list": [1]}"#, ArgumentFault::UnknownArgument);
    let error = refused(
        &whole,
        r#"{"body": {"other": null}}"#,
        ArgumentFault::NullNotAllowed,
    );
    assert_eq!(error.fields[0].0, "body.other");
}

#[test]
fn parts_have_names_types_and_headers() {
    let mut kind = field("kind");
    kind.content_types = vec!["text/csv".into()];
    kind.headers = vec![("X-Kind".into(), "rows".into())];
    let mut vendor = field("vendor");
    vendor.content_types = vec!["application/vnd.a+json".into()];
    let upload = multipart(vec![
        file("image", &["image/png", "image/jpeg"]),
        field("caption"),
        field("meta"),
        kind,
        vendor,
        styled("tags", Style::DeepObject, true),
        styled("ids", Style::Form, false),
    ]);
    let arguments = json!({
        "image": [{"text": "one", "name": "t\"r\\ée.png", "mediaType": "image/jpeg"}, {"base64": "dHdv"}],
        "caption": "é",
        "meta": {"row": 3.5},
        "kind": "a,b",
        "vendor": "text",
        "tags": {"a": "\r\n--x"},
        "ids": [1, 2],
    });
    assert_eq!(
        parts(&upload, &arguments.to_string()),
        [
            "Content-Disposition: form-data; name=\"image\"; filename=\"t%22r\\ée.png\"\r\nContent-Type: image/jpeg\r\n\r\none",
            "Content-Disposition: form-data; name=\"image\"; filename=\"file\"\r\nContent-Type: image/png\r\n\r\ntwo",
            "Content-Disposition: form-data; name=\"caption\"\r\n\r\né",
            "Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"row\":3.5}",
            "Content-Disposition: form-data; name=\"kind\"\r\nContent-Type: text/csv\r\nX-Kind: rows\r\n\r\na,b",
            "Content-Disposition: form-data; name=\"vendor\"\r\nContent-Type: application/vnd.a+json\r\n\r\n\"text\"",
            "Content-Disposition: form-data; name=\"tags[a]\"\r\n\r\n\r\n--x",
            "Content-Disposition: form-data; name=\"ids\"\r\n\r\n1,2",
        ]
    );
    assert_eq!(run(&upload, "{}").unwrap().body, None);
    let mut required = upload;
    required.body.as_mut().unwrap().required = true;
    assert_eq!(parts(&required, "{}").len(), 0);
    // Keys that come from the agent cannot add a header either.
    let free = multipart(vec![styled("o", Style::Form, true)]);
    assert_eq!(
        parts(&free, r#"{"o": {"a\"\r\nX-Evil: 1": "v"}}"#),
        ["Content-Disposition: form-data; name=\"a%22%0D%0AX-Evil: 1\"\r\n\r\nv"]
    );
    let mut odd = field("f");
    odd.content_types = vec!["text/plain\r\nX-Evil: 1".into()];
    refused(
        &multipart(vec![odd]),
        r#"{"f": "a"}"#,
        ArgumentFault::NotInvocable,
    );
}

#[test]
fn files_beside_plain_values() {
    let mut photo = file("photo", &[]);
    photo.file = FileUse::Beside;
    let send = multipart(vec![photo]);
    for (value, want) in [
        (json!("https://a.test/x"), "\r\n\r\nhttps://a.test/x"),
        (
            json!({"text": "x"}),
            "; filename=\"file\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nx",
        ),
        (
            json!({"base64": "eA=="}),
            "; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\nx",
        ),
        (
            json!({"id": 1}),
            "\r\nContent-Type: application/json\r\n\r\n{\"id\":1}",
        ),
    ] {
        let want = format!("Content-Disposition: form-data; name=\"photo\"{want}");
        assert_eq!(parts(&send, &json!({ "photo": value }).to_string()), [want]);
    }
    let only = multipart(vec![file("photo", &[])]);
    for value in [
        json!("a"),
        json!({"id": 1}),
        json!(["a"]),
        json!({"text": "a", "base64": ""}),
    ] {
        let arguments = json!({ "photo": value }).to_string();
        let error = refused(&only, &arguments, ArgumentFault::InvalidFileArgument);
        assert_eq!(error.fields[0].0, "photo");
    }
    refused(&only, r#"{"photo": []}"#, ArgumentFault::InvalidType);
}

#[test]
fn further_fields_may_be_files() {
    let mut fields = of(vec![field("note")]);
    (fields.open, fields.further) = (true, FileUse::Only);
    let send = sending("multipart/form-data", BodyShape::Multipart(fields));
    assert_eq!(
        parts(
            &send,
            r#"{"note": "n", "a": {"text": "x", "name": "a.txt"}}"#
        ),
        [
            "Content-Disposition: form-data; name=\"note\"\r\n\r\nn",
            "Content-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nx",
        ]
    );
    refused(&send, r#"{"a": "x"}"#, ArgumentFault::InvalidFileArgument);
}

#[test]
fn types_that_leave_the_value_open_change_nothing() {
    let mut any = field("f");
    any.content_types = vec!["*/*".into()];
    let send = multipart(vec![any]);
    assert_eq!(
        parts(&send, r#"{"f": "a"}"#),
        ["Content-Disposition: form-data; name=\"f\"\r\n\r\na"]
    );
    let mut photo = file("photo", &["image/png"]);
    photo.file = FileUse::Beside;
    let send = multipart(vec![photo]);
    assert_eq!(
        parts(&send, r#"{"photo": "an id"}"#),
        ["Content-Disposition: form-data; name=\"photo\"\r\n\r\nan id"]
    );
}

#[test]
fn the_files_of_a_call_are_limited_together() {
    let upload = multipart(vec![file("a", &[]), file("b", &[])]);
    let limits = Limits {
        inline_bytes_max: 6,
    };
    let composed = |arguments: &Value| {
        compose_checked(
            &upload,
            &Value::Null,
            arguments.as_object().unwrap(),
            limits,
        )
    };
    assert!(composed(&json!({"a": {"text": "abc"}, "b": {"base64": "YWJj"}})).is_ok());
    let over = json!({"a": {"text": "abc"}, "b": {"base64": "YWJjZA=="}});
    let error = composed(&over).unwrap_err();
    assert_eq!(error.fault, ArgumentFault::FileTooLarge);
    assert_eq!(error.fields[0].0, "b");
    // The default is the one that is documented.
    let at_most = |bytes: usize| json!({"a": {"text": "x".repeat(bytes)}}).to_string();
    assert!(run(&upload, &at_most(1024 * 1024)).is_ok());
    refused(
        &upload,
        &at_most(1024 * 1024 + 1),
        ArgumentFault::FileTooLarge,
    );
}

#[test]
fn bytes_and_text_go_out_as_they_are() {
    let asset = sending(
        "application/octet-stream",
        BodyShape::File {
            member: member("body"),
            content_types: vec!["application/octet-stream".into()],
        },
    );
    let request = run(
        &asset,
        r#"{"body": {"base64": "AP8=", "mediaType": "application/zip"}}"#,
    )
    .unwrap();
    assert_eq!(request.body.as_deref(), Some([0, 255].as_slice()));
    assert_eq!(request.headers["content-type"], "application/zip");
    let request = run(&asset, r#"{"body": {"text": "é"}}"#).unwrap();
    assert_eq!(request.body.as_deref(), Some("é".as_bytes()));
    assert_eq!(request.headers["content-type"], "application/octet-stream");
    assert_eq!(run(&asset, "{}").unwrap().body, None);
    refused(
        &asset,
        r#"{"body": "text"}"#,
        ArgumentFault::InvalidFileArgument,
    );
    refused(&asset, r#"{"body": null}"#, ArgumentFault::NullNotAllowed);

    let raw = sending(
        "text/markdown; charset=utf-8",
        BodyShape::Text(member("body")),
    );
    let request = run(&raw, r##"{"body": "# a\r\n\u0000"}"##).unwrap();
    assert_eq!(request.body.as_deref(), Some(b"# a\r\n\0".as_slice()));
    assert_eq!(
        request.headers["content-type"],
        "text/markdown; charset=utf-8"
    );
    assert_eq!(body(&raw, r#"{"body": 1.50}"#), "1.50");
    refused(&raw, r#"{"body": {}}"#, ArgumentFault::InvalidType);
    let latin = sending(
        "text/plain; charset=iso-8859-1",
        BodyShape::Text(member("body")),
    );
    assert_eq!(body(&latin, r#"{"body": "plain"}"#), "plain");
    refused(&latin, r#"{"body": "é"}"#, ArgumentFault::InvalidType);
    let broken = sending("text/a\r\nb", BodyShape::Text(member("body")));
    refused(&broken, r#"{"body": "a"}"#, ArgumentFault::NotInvocable);
}

fn cookie(name: &str, style: Style, explode: bool) -> Parameter {
    parameter(name, Location::Cookie, style, explode)
}

#[test]
fn cookies_travel_in_one_header() {
    let template = template(
        "/a",
        vec![
            cookie("theme", Style::Form, true),
            cookie("list", Style::Form, true),
            cookie("joined", Style::Form, false),
            cookie("object", Style::Form, true),
            cookie("plain", Style::Cookie, false),
        ],
    );
    for (arguments, want) in [
        (json!({"theme": "dark"}), "theme=dark"),
        (
            json!({"theme": "a; b=c, \"é\"\\%"}),
            "theme=a%3B%20b%3Dc%2C%20%22%C3%A9%22%5C%25",
        ),
        (json!({"theme": ""}), "theme="),
        (
            json!({"list": [1, "b c"], "theme": true}),
            "theme=true; list=1; list=b%20c",
        ),
        (json!({"joined": ["a,b", "c"]}), "joined=a%2Cb,c"),
        (json!({"joined": {"k": "v"}}), "joined=k,v"),
        (json!({"object": {"k": "v;w", "n": 1.0}}), "k=v%3Bw; n=1.0"),
        (json!({"plain": "a%20=b"}), "plain=a%20=b"),
        (json!({"plain": ["a", "b"]}), "plain=a,b"),
    ] {
        let request = run(&template, &arguments.to_string()).unwrap();
        assert_eq!(request.headers["cookie"], want);
        assert_eq!(request.headers.get_all("cookie").iter().count(), 1);
    }
    assert!(
        run(&template, "{}")
            .unwrap()
            .headers
            .get("cookie")
            .is_none()
    );
    for (arguments, fault) in [
        (json!({"theme": "a\r\nb"}), ArgumentFault::HeaderInjection),
        (json!({"plain": "a\u{0}"}), ArgumentFault::HeaderInjection),
        (
            json!({"object": {"k\n": "v"}}),
            ArgumentFault::HeaderInjection,
        ),
        (
            json!({"theme": "a\u{7}"}),
            ArgumentFault::InvalidCookieValue,
        ),
        (json!({"plain": "a b"}), ArgumentFault::InvalidCookieValue),
        (json!({"plain": "a;b=c"}), ArgumentFault::InvalidCookieValue),
        (json!({"plain": "é"}), ArgumentFault::InvalidCookieValue),
        (
            json!({"plain": ["a,b", "c"]}),
            ArgumentFault::InvalidCookieValue,
        ),
        (
            json!({"object": {"k;l": "v"}}),
            ArgumentFault::InvalidCookieValue,
        ),
        (
            json!({"object": {"session": "v"}}),
            ArgumentFault::CookieCarrierCollision,
        ),
        (
            json!({"object": {"theme": "v"}}),
            ArgumentFault::InvalidType,
        ),
        (json!({"list": []}), ArgumentFault::InvalidType),
        (json!({"list": [[]]}), ArgumentFault::InvalidType),
        (json!({"theme": null}), ArgumentFault::NullNotAllowed),
    ] {
        refused(&template, &arguments.to_string(), fault);
    }
    let session = self::template("/a", vec![cookie("PHPSESSID", Style::Form, true)]);
    refused(
        &session,
        r#"{"PHPSESSID": 1}"#,
        ArgumentFault::CookieCarrierCollision,
    );
}

#[test]
fn the_query_string_is_one_argument() {
    let of = |content: &str| {
        let mut whole = parameter("w", Location::QueryString, Style::Form, false);
        whole.content_type = Some(content.to_owned());
        template("/a", vec![whole])
    };
    let form = of("application/x-www-form-urlencoded");
    assert_eq!(
        target(
            &form,
            r#"{"w": {"a b": "c&d", "l": [1, 2.0], "o": {"x": "é"}, "n": null}}"#
        ),
        "/api/a?a%20b=c%26d&l=1&l=2.0&o=%7B%22x%22%3A%22%C3%A9%22%7D"
    );
    refused(&form, r#"{"w": "a=b"}"#, ArgumentFault::InvalidType);
    assert_eq!(target(&form, r#"{"w": {}}"#), "/api/a");
    let exact = of("application/json");
    assert_eq!(
        target(&exact, r#"{"w": {"a": [1.0]}}"#),
        "/api/a?%7B%22a%22%3A%5B1.0%5D%7D"
    );
    let text = of("text/plain");
    assert_eq!(
        target(&text, r#"{"w": "$.a?(@.b)"}"#),
        "/api/a?%24.a%3F%28%40.b%29"
    );
    refused(&text, r#"{"w": [1]}"#, ArgumentFault::InvalidType);
}

#[test]
fn text_content_of_a_parameter_is_one_plain_value() {
    let mut plain = query("q");
    plain.content_type = Some("text/plain".to_owned());
    plain.nullable = true;
    let search = template("/s", vec![plain]);
    assert_eq!(target(&search, r#"{"q": "a b"}"#), "/api/s?q=a%20b");
    assert_eq!(target(&search, r#"{"q": null}"#), "/api/s");
    refused(&search, r#"{"q": ["a"]}"#, ArgumentFault::InvalidType);
}
