//! Who is answered, and what every answer carries.

use crate::browser::{ask, open};
use crate::world::{World, empty_site};

#[tokio::test]
async fn every_answer_carries_the_policy() {
    let world = World::new();
    world.issue(1, "leak", "it drips");
    let router = hw_web::router(world.site());
    for path in [
        "/",
        "/?q=leak",
        "/search?q=leak",
        "/threads/acme/pump/1",
        "/threads/acme/pump/2",
        "/health",
        "/nowhere",
        "/assets/highwater.css",
        "/assets/nothing",
        "/favicon.ico",
        "/events",
    ] {
        let answer = ask(&router, "GET", path, &[]).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(
            header("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            "{path}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
    }
}

#[tokio::test]
async fn a_foreign_name_or_origin_is_refused() {
    let router = hw_web::router(empty_site());
    for host in ["evil.example", "evil.example:8080", "127.0.0.1", "127.0.0.1:1", ""] {
        for path in ["/", "/events", "/assets/highwater.css"] {
            assert_eq!(ask(&router, "GET", path, &[("host", host)]).await.status(), 421, "{host}");
        }
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "\u{fffd}"] {
        let answer = ask(&router, "GET", "/search?q=x", &[("origin", origin)]).await;
        assert_eq!(answer.status(), 403, "{origin}");
    }
    let ours = [("host", "localhost:8080"), ("origin", "http://127.0.0.1:8080")];
    assert_eq!(ask(&router, "GET", "/", &ours).await.status(), 200);
}

#[tokio::test]
async fn guard_refuses_requests_from_other_sites_but_for_links_that_are_followed() {
    let world = World::new();
    world.issue(1, "leak", "it drips");
    let router = hw_web::router(world.site());
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
                let status = ask(&router, "GET", path, &headers).await.status();
                assert_eq!(status, 403, "{site} {mode} {dest} {path}");
            }
        }
        assert_eq!(ask(&router, "GET", "/", &[("sec-fetch-site", site)]).await.status(), 403);
        let followed = [
            ("sec-fetch-site", site),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(ask(&router, "GET", "/?q=leak", &followed).await.status(), 200, "{site}");
    }
    for site in ["same-origin", "none"] {
        let headers = [("sec-fetch-site", site), ("sec-fetch-mode", "cors")];
        assert_eq!(ask(&router, "GET", "/search?q=leak", &headers).await.status(), 200, "{site}");
    }
}

#[tokio::test]
async fn nothing_can_be_sent() {
    let router = hw_web::router(empty_site());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = ask(&router, method, "/", &[]).await;
        assert_eq!(answer.status(), 405, "{method}");
        assert_eq!(answer.headers()["allow"], "GET, HEAD");
    }
    assert_eq!(ask(&router, "HEAD", "/", &[]).await.status(), 200);
}

#[tokio::test]
async fn a_file_is_kept_as_long_as_its_name_and_asked_for_again_by_its_tag() {
    let router = hw_web::router(empty_site());
    let page = open(&router, "/").await;
    let links = page.all("link[rel=stylesheet], script, link[rel=icon]");
    assert_eq!(links.len(), 5);
    for link in links {
        let path = link.attr("href").or(link.attr("src")).unwrap();
        let answer = ask(&router, "GET", path, &[]).await;
        assert_eq!(answer.status(), 200, "{path}");
        let cache = answer.headers()["cache-control"].to_str().unwrap();
        assert!(cache.contains("immutable"), "{path}: {cache}");
        let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
        let bare = path.split('?').next().unwrap();
        let again = ask(&router, "GET", bare, &[("if-none-match", &tag)]).await;
        assert_eq!(again.status(), 304);
        assert_eq!(again.headers()["cache-control"], "no-cache");
    }
    assert_eq!(ask(&router, "GET", "/assets/../Cargo.toml", &[]).await.status(), 404);
}
