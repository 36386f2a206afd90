//! The guard: rejected requests, and the headers of every response.

use crate::browser::{open_page, send_request};
use crate::fixture::{WebFixture, empty_site};

#[tokio::test]
async fn responses_carry_security_headers() {
    let fixture = WebFixture::new();
    fixture.add_issue(1, "leak", "it drips");
    let router = hw_web::build_router(fixture.site_options());
    for path in [
        "/",
        "/?q=leak",
        "/search?q=leak",
        "/threads/acme/pump/1",
        "/threads/acme/pump/2",
        "/health",
        "/posts",
        "/trending",
        "/nowhere",
        "/assets/highwater.css",
        "/assets/nothing",
        "/favicon.ico",
        "/events",
    ] {
        let response = send_request(&router, "GET", path, &[]).await;
        let headers = response.headers();
        assert_eq!(
            headers["content-security-policy"],
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            "{path}"
        );
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
        assert_eq!(headers["cross-origin-resource-policy"], "same-origin");
    }
}

#[tokio::test]
async fn guard_rejects_foreign_hosts_and_origins() {
    let router = hw_web::build_router(empty_site());
    for host in ["evil.example", "evil.example:8080", "127.0.0.1", "127.0.0.1:1", ""] {
        for path in ["/", "/events", "/assets/highwater.css"] {
            assert_eq!(
                send_request(&router, "GET", path, &[("host", host)]).await.status(),
                421,
                "{host}"
            );
        }
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "\u{fffd}"] {
        let response = send_request(&router, "GET", "/search?q=x", &[("origin", origin)]).await;
        assert_eq!(response.status(), 403, "{origin}");
    }
    let own = [("host", "localhost:8080"), ("origin", "http://127.0.0.1:8080")];
    assert_eq!(send_request(&router, "GET", "/", &own).await.status(), 200);
}

#[tokio::test]
async fn guard_rejects_requests_from_other_sites_except_followed_links() {
    let fixture = WebFixture::new();
    fixture.add_issue(1, "leak", "it drips");
    let router = hw_web::build_router(fixture.site_options());
    for site in ["cross-site", "same-site", "", "\u{fffd}"] {
        for (mode, dest) in [
            ("no-cors", "image"),
            ("no-cors", "script"),
            ("cors", "empty"),
            ("navigate", "iframe"),
            ("navigate", "object"),
            ("websocket", "document"),
        ] {
            for path in
                ["/search?q=leak", "/threads/acme/pump/1", "/events", "/assets/highwater.css"]
            {
                let headers =
                    [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
                let status = send_request(&router, "GET", path, &headers).await.status();
                assert_eq!(status, 403, "{site} {mode} {dest} {path}");
            }
        }
        assert_eq!(
            send_request(&router, "GET", "/", &[("sec-fetch-site", site)]).await.status(),
            403
        );
        let navigation = [
            ("sec-fetch-site", site),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(
            send_request(&router, "GET", "/?q=leak", &navigation).await.status(),
            200,
            "{site}"
        );
    }
    for site in ["same-origin", "none"] {
        let headers = [("sec-fetch-site", site), ("sec-fetch-mode", "cors")];
        assert_eq!(
            send_request(&router, "GET", "/search?q=leak", &headers).await.status(),
            200,
            "{site}"
        );
    }
}

#[tokio::test]
async fn guard_rejects_methods_that_write() {
    let router = hw_web::build_router(empty_site());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let response = send_request(&router, method, "/", &[]).await;
        assert_eq!(response.status(), 405, "{method}");
        assert_eq!(response.headers()["allow"], "GET, HEAD");
    }
    assert_eq!(send_request(&router, "HEAD", "/", &[]).await.status(), 200);
}

#[tokio::test]
async fn assets_are_cached_by_url_and_revalidated_by_tag() {
    let router = hw_web::build_router(empty_site());
    let page = open_page(&router, "/").await;
    let links = page.select_all("link[rel=stylesheet], script, link[rel=icon]");
    assert_eq!(links.len(), 5);
    for link in links {
        let path = link.attr("href").or(link.attr("src")).unwrap();
        let response = send_request(&router, "GET", path, &[]).await;
        assert_eq!(response.status(), 200, "{path}");
        let cache = response.headers()["cache-control"].to_str().unwrap();
        assert!(cache.contains("immutable"), "{path}: {cache}");
        let tag = response.headers()["etag"].to_str().unwrap().to_owned();
        let bare = path.split('?').next().unwrap();
        let again = send_request(&router, "GET", bare, &[("if-none-match", &tag)]).await;
        assert_eq!(again.status(), 304);
        assert_eq!(again.headers()["cache-control"], "no-cache");
    }
    assert_eq!(send_request(&router, "GET", "/assets/../Cargo.toml", &[]).await.status(), 404);
}
