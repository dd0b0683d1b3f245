//! The outbound client on loopback: the fence, redirects, fetching.

use std::time::Duration;

use sezzlee::http::{AllowedHosts, Client, FetchError, Request, SendError, Settings, StatusCode};
use url::Url;

use crate::http_backend::{Backend, Step, header, response};

const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) fn client(hosts: &[&str]) -> Client {
    let mut allowed = AllowedHosts::none();
    for host in hosts {
        allowed.allow(host).unwrap();
    }
    Client::new(Settings {
        allowed,
        ..Settings::default()
    })
    .unwrap()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[tokio::test]
async fn loopback_is_reached_only_by_hosts_that_were_named() {
    let mut backend = Backend::fixed(response(200, &[], "ok")).await;
    let port = backend.address.port();
    for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"] {
        let target = url(&format!("http://{host}:{port}/secret-path?key=s3cret"));
        let error = client(&[]).send(Request::get(target)).await.unwrap_err();
        assert!(matches!(error, SendError::Fenced), "{host}: {error:?}");
        let told = error.to_string();
        assert!(!told.contains("127.0") && !told.contains("s3cret") && !told.contains(host));
    }
    assert_eq!(backend.requests(), Vec::<String>::new());
    for host in ["127.0.0.1", "localhost"] {
        let target = url(&format!("http://{host}:{port}/a%2Fb/..c?x=[1]&y=%20"));
        let response = client(&[host]).send(Request::get(target)).await.unwrap();
        assert_eq!(response.status, StatusCode::OK);
        let request = backend.requests().remove(0);
        assert!(
            request.starts_with("GET /a%2Fb/..c?x=[1]&y=%20 HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(
            header(&request, "user-agent")
                .unwrap()
                .starts_with("sezzlee/")
        );
    }
}

#[tokio::test]
async fn metadata_addresses_are_out_of_reach_even_when_named() {
    for host in [
        "169.254.169.254",
        "100.100.100.200",
        "[fd00:ec2::254]",
        "0.0.0.0",
    ] {
        let target = url(&format!("http://{host}/latest"));
        let error = client(&[host])
            .send(Request::get(target))
            .await
            .unwrap_err();
        assert!(matches!(error, SendError::Fenced), "{host}");
    }
}

#[tokio::test]
async fn a_refused_connection_names_no_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let target = url(&format!("http://{address}/"));
    let error = client(&["127.0.0.1"])
        .send(Request::get(target))
        .await
        .unwrap_err();
    assert!(matches!(error, SendError::Connect(_)), "{error:?}");
    assert!(!error.to_string().contains("127.0.0.1"));
    assert!(!error.may_have_arrived());
}

#[tokio::test]
async fn tls_to_a_plain_port_is_no_connection() {
    let backend = Backend::fixed(response(200, &[], "ok")).await;
    let target = url(&format!("https://{}/", backend.address));
    let error = client(&["127.0.0.1"])
        .send(Request::get(target))
        .await
        .unwrap_err();
    assert!(matches!(error, SendError::Connect(_)), "{error:?}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let mut backend = Backend::fixed(response(302, &[("location", "/other")], "")).await;
    let target = url(&backend.url("/first"));
    let client = client(&["127.0.0.1"]);
    let response = client.send(Request::get(target.clone())).await.unwrap();
    assert_eq!(response.status, StatusCode::FOUND);
    assert_eq!(backend.requests().len(), 1);
    let error = client.fetch(&target, 10, DEADLINE).await.unwrap_err();
    assert!(matches!(error, FetchError::Status(StatusCode::FOUND)));
    assert!(error.to_string().contains("redirects are not followed"));
}

#[tokio::test]
async fn documents_are_fetched_whole_or_not() {
    let backend = Backend::start(|request| {
        let headers = [("content-type", "application/yaml")];
        let path = request.split(' ').nth(1).unwrap();
        vec![match path {
            "/ok" => Step::Send(response(200, &headers, "openapi: 3.1.0")),
            "/long" => Step::Send(response(200, &headers, "a".repeat(101))),
            "/cut" => Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nopenapi".to_vec()),
            "/never" => Step::Hang,
            _ => Step::Send(response(404, &[], "")),
        }]
    })
    .await;
    let client = client(&["127.0.0.1"]);
    let fetch =
        async |path: &str, deadline| client.fetch(&url(&backend.url(path)), 100, deadline).await;
    let fetched = fetch("/ok", DEADLINE).await.unwrap();
    assert_eq!(fetched.bytes, "openapi: 3.1.0");
    assert_eq!(fetched.content_type.as_deref(), Some("application/yaml"));
    assert!(matches!(
        fetch("/long", DEADLINE).await.unwrap_err(),
        FetchError::TooLarge { bytes_max: 100 }
    ));
    assert!(matches!(
        fetch("/cut", DEADLINE).await.unwrap_err(),
        FetchError::Send(SendError::Broken(_))
    ));
    assert!(matches!(
        fetch("/none", DEADLINE).await.unwrap_err(),
        FetchError::Status(StatusCode::NOT_FOUND)
    ));
    assert!(matches!(
        fetch("/never", Duration::from_millis(50))
            .await
            .unwrap_err(),
        FetchError::Timeout(_)
    ));
}
