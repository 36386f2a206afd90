//! What `highwater pull` refuses, in one sentence each, and with what exit code.

use hw_sim::{Fault, TokenSpec};

use crate::house::{House, TOKEN, everything, failed, program, pulled};

#[test]
fn a_refused_token_is_told_and_not_shown() {
    let (house, home) = pulled();
    house.look(|github| github.arm(Fault::Unauthorized, 100));
    let (before, asked) = (everything(home.path()), house.requests());
    let (code, told) = house.refused(home.path(), &[]);
    assert_eq!(code, Some(1));
    let expected = "Error: cannot pull acme\n  because the token was refused: Bad credentials\nhint: \
                    is GITHUB_TOKEN right";
    assert!(told.contains(expected), "{told}");
    assert!(!told.contains(TOKEN), "{told}");
    assert_eq!(house.requests(), asked + 1, "asking again would change nothing");
    assert_eq!(everything(home.path()), before);
}

#[test]
fn a_token_that_lacks_single_sign_on_is_told_what_to_do() {
    let (house, home) = pulled();
    let before = everything(home.path());
    let token = TokenSpec { lacks_sign_on: true, ..TokenSpec::classic() };
    house.look(|github| github.issue_token(token));
    let (code, told) = house.refused(home.path(), &[]);
    assert_eq!(code, Some(1));
    let expected = "because not there, or hidden from this token: Resource protected by \
                    organization SAML enforcement";
    assert!(told.contains(expected) && told.contains("\nhint: allow the token for"), "{told}");
    assert_eq!(everything(home.path()), before);
}

#[test]
fn an_organisation_that_is_not_there_is_told() {
    let (house, home) = pulled();
    let before = everything(home.path());
    let (code, told) = house.refused(home.path(), &["-o", "nobody", "--workspace", "acme"]);
    assert_eq!(code, Some(1));
    let expected = "Error: cannot pull nobody\n  because not there, or hidden from this token: ";
    assert!(told.contains(expected) && told.contains("\nhint: is it an organisation"), "{told}");
    assert_eq!(everything(home.path()), before);
}

#[test]
fn without_a_token_or_an_organisation_nothing_is_asked() {
    let house = House::small();
    for (missing, sentence) in
        [("GITHUB_TOKEN", "no token is set"), ("ORGANIZATION", "no organisation is named")]
    {
        let home = tempfile::tempdir().unwrap();
        let mut command = house.pull(&["-m"]);
        let output = command.arg(home.path()).env_remove(missing).output().unwrap();
        let (code, told) = failed(&output);
        assert_eq!(code, Some(1));
        assert!(told.starts_with(&format!("Error: {sentence}\n")), "{told}");
        assert!(told.contains("\nhint: "), "{told}");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing is made");
    }
    assert_eq!(house.requests(), 0);
}

#[test]
fn a_token_that_no_token_can_be_is_not_sent() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let mut command = house.pull(&["-m"]);
    let output = command.arg(home.path()).env("GITHUB_TOKEN", "two words").output().unwrap();
    let (code, told) = failed(&output);
    assert_eq!((code, house.requests()), (Some(1), 0));
    assert!(told.contains("holds characters that no token has"), "{told}");
    assert!(!told.contains("two words"), "{told}");
}

#[test]
fn wrong_arguments_are_named_and_nothing_is_asked() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let all = "[possible values: repositories, discussions, issues, pull-requests, comments]";
    for (args, sentence) in [
        (["-i", "isues"], all),
        (["-i", "issues,coments"], all),
        (["-o", "a--b"], "an organisation's name is letters, digits and single hyphens"),
        (["--repo", "../x"], "an organisation's name is"),
        (["--repo", "a b"], "a repository's name is letters, digits"),
        (["--repo", ""], "a repository's name is missing"),
        (["--repo", "elsewhere/pump"], "elsewhere/pump does not belong to acme"),
        (["-e", ".."], "a repository's name is"),
        (["--reserve", "91"], "91 is not in 0..=90"),
        (["--pace", "fast"], "[possible values: adaptive, conservative]"),
        (["--window-days", "many"], "invalid value 'many' for '--window-days <DAYS>'"),
        (["--graphql-url", "http://example.com/graphql"], "the token would travel in the clear"),
        (["--graphql-url", "example.com"], "is no address such as https://api.github.com"),
    ] {
        let (code, told) = house.refused(home.path(), &args);
        assert_eq!(code, Some(2), "{args:?}: {told}");
        assert!(told.contains(sentence), "{args:?}: {told}");
    }
    assert_eq!(house.requests(), 0);
}

#[test]
fn the_environment_is_looked_at_as_closely() {
    for (name, value, sentence) in [
        ("ORGANIZATION", "../x", "ORGANIZATION in the environment: an organisation's name is"),
        (
            "EXCLUDED_REPOSITORIES",
            "a b",
            "EXCLUDED_REPOSITORIES in the environment: a repository's",
        ),
        (
            "HIGHWATER_LOG",
            "dbug",
            "HIGHWATER_LOG in the environment: \"dbug\" is none of off, error",
        ),
        (
            "HIGHWATER_RESERVE",
            "91",
            "HIGHWATER_RESERVE in the environment: \"91\" is no percentage",
        ),
        ("GITHUB_API_URL", "http://api.github.com", "the token would travel in the clear"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut command = program(&["pull", "-m"]);
        command.arg(home.path()).env("ORGANIZATION", "acme").env("GITHUB_TOKEN", TOKEN);
        let (code, told) = failed(&command.env(name, value).output().unwrap());
        assert_eq!(code, Some(1), "{name}");
        assert!(told.contains(sentence), "{told}");
    }
}
