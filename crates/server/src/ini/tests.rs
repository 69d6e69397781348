//! What `qm.ini` accepts and what it refuses, row by row.

use super::*;
use crate::encryption::source::KeySource;
use crate::lifecycle::access::Access;
use std::path::Path;

fn parse(text: &str) -> Result<RawConfig, Vec<ConfigError>> {
    RawConfig::parse("qm.ini", text.as_bytes())
}

/// The one error of a text.
fn error(text: &str) -> ConfigError {
    let mut errors = parse(text)
        .and_then(|raw| raw.resolve().map(|_| raw))
        .expect_err(text);
    assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    errors.remove(0)
}

#[test]
fn an_empty_file_means_the_defaults() {
    let settings = parse("").unwrap().resolve().unwrap();
    assert_eq!(settings.log, Shape::default().config());
    assert_eq!(settings.log_path, None);
    assert_eq!((settings.q_buffer, settings.pq_buffer), (4 << 20, 1 << 20));
    assert_eq!(settings.expiry_interval_s, 300);
    assert_eq!(settings.lanes, 0);
    assert!(settings.service_programs);
    assert_eq!(settings.max_channels, 100);
    assert!(settings.keep_alive);
    assert_eq!(settings.error_log_bytes, 33_554_432);
    assert_eq!(settings.tokens, None);
}

#[test]
fn every_acting_key_reaches_the_settings() {
    let text = "Log:\n LogType=circular\n LogPath=/l\n LogFilePages=64\n LogPrimaryFiles=4\n \
         LogSecondaryFiles=5\n LogBufferPages=18\nchannels:\n maxchannels=50\n \
         MaxActiveChannels=7\nTuningParameters:\n DefaultQBufferSize=2048\n \
         DefaultPQBufferSize=4096\n ExpiryInterval=0\n Lanes=3\n ServicePrograms=no\nTCP:\n KeepAlive=No\n ListenerBacklog=9\n\
         QMErrorLog:\n ErrorLogSize=32768\n\
         AuthToken:\n KeyStore=/k\n UserClaim=name\n Issuer=https://i/\n Audience=QM1\n";
    let settings = parse(text).unwrap().resolve().unwrap();
    assert_eq!(settings.log_path.as_deref(), Some(Path::new("/l")));
    assert_eq!(settings.log.file_pages, 64);
    assert_eq!(settings.log.primary_files, 4);
    assert_eq!(settings.log.secondary_files, 5);
    assert_eq!(settings.log.buffer_pages, 18);
    assert_eq!(settings.max_channels, 7);
    assert_eq!((settings.q_buffer, settings.pq_buffer), (2048, 4096));
    assert_eq!(settings.expiry_interval_s, 0);
    assert_eq!(settings.lanes, 3);
    assert!(!settings.service_programs);
    assert!(!settings.keep_alive);
    assert_eq!(settings.backlog, 9);
    assert_eq!(settings.error_log_bytes, 32_768);
    let tokens = settings.tokens.unwrap();
    assert_eq!(tokens.keys, Path::new("/k"));
    let names = [&*tokens.user_claim, &tokens.issuer, &tokens.audience];
    assert_eq!(names, ["name", "https://i/", "QM1"]);
}

#[test]
fn faults_have_a_number_a_line_and_a_column() {
    #[rustfmt::skip]
    let rows: &[(&str, &str, usize, usize)] = &[
        ("Logs:\n", "AMQ2102E", 1, 1),
        ("Log:\n   LogFiles=3\n", "AMQ7075E", 2, 4),
        ("Log:\n   Port=1414\n", "AMQ7075E", 2, 4),
        ("Log:\n   LogFilePages=many\n", "AMQ7076E", 2, 17),
        ("Log:\n   LogFilePages=-1\n", "AMQ7076E", 2, 17),
        ("Log:\n   LogFilePages=\n", "AMQ7076E", 2, 17),
        ("Log:\n   LogFilePages=0x40\n", "AMQ7076E", 2, 17),
        ("Log:\n   LogFilePages=63\n", "AMQ2103E", 2, 17),
        ("Log:\n   LogFilePages=65536\n", "AMQ2103E", 2, 17),
        ("Log:\n   LogFilePages=99999999999999999999\n", "AMQ2103E", 2, 17),
        ("Log:\n   LogPrimaryFiles=1\n", "AMQ2103E", 2, 20),
        ("Log:\n   LogPrimaryFiles=511\n", "AMQ2103E", 2, 20),
        ("Log:\n   LogSecondaryFiles=0\n", "AMQ2103E", 2, 22),
        ("Log:\n   LogBufferPages=17\n", "AMQ2103E", 2, 19),
        ("Log:\n   LogBufferPages=4097\n", "AMQ2103E", 2, 19),
        ("Log:\n LogPrimaryFiles=500\n LogSecondaryFiles=12\n", "AMQ2103E", 3, 20),
        ("Log:\n   LogType=SQUARE\n", "AMQ7076E", 2, 12),
        ("Log:\n   LogType=LINEAR\n", "AMQ2106E", 2, 12),
        ("Log:\n   LogType=replicated\n", "AMQ2106E", 2, 12),
        ("Log:\n   LogPath=relative/path\n", "AMQ7076E", 2, 12),
        ("Log:\n LogPath=/a\n LogPath=/b\n", "AMQ2101E", 3, 2),
        ("Log:\n LogPath=/a\nTCP:\nlog:\n", "AMQ2101E", 4, 1),
        ("LogPath=/a\n", "AMQ2101E", 1, 1),
        ("Log:\n  LogPath\n", "AMQ2101E", 2, 3),
        ("NativeHALocalInstance:\n Name=a\n", "AMQ2106E", 1, 1),
        ("SSL:\n", "AMQ2106E", 1, 1),
        ("Channels:\n MaxChannels=5\n MaxActiveChannels=6\n", "AMQ2103E", 3, 20),
        ("Channels:\n MaxChannels=0\n", "AMQ2103E", 2, 14),
        ("TCP:\n KeepAlive=maybe\n", "AMQ7076E", 2, 12),
        ("TuningParameters:\n DefaultQBufferSize=1023\n", "AMQ2103E", 2, 21),
        ("TuningParameters:\n DefaultQBufferSize=1k\n", "AMQ7076E", 2, 21),
    ];
    for &(text, id, line, column) in rows {
        let found = error(text);
        assert_eq!((found.id, found.at), (id, Place { line, column }), "{text}");
        let shown = found.to_string();
        let head = format!("qm.ini:{line}:{column}: {id}: ");
        assert!(shown.starts_with(&head), "{shown}");
        assert!(!shown.contains('{'), "{shown}");
        assert!(messages::find(id).is_some(), "{id}");
    }
}

#[test]
fn all_faults_of_a_file_are_reported_in_order() {
    let errors = parse("x\nLog:\n LogFiles=1\n LogFilePages=1\nNope:\n").unwrap_err();
    let ids: Vec<&str> = errors.iter().map(|error| error.id).collect();
    assert_eq!(ids, ["AMQ2101E", "AMQ7075E", "AMQ2103E", "AMQ2102E"]);
}

#[test]
fn what_has_no_effect_is_accepted_and_reported() {
    let text = "Log:\n LogWriteIntegrity=SingleWrite\nChannels:\n MQIBindType=FASTPATH\n\
         ExitPath:\n ExitsDefaultPath=/exits\nService:\n Name=A\nService:\n Name=B\n";
    let raw = parse(text).unwrap();
    let noted: Vec<&str> = raw
        .notes()
        .iter()
        .map(|note| note.inserts[2].as_str())
        .collect();
    let expected = [
        "LogWriteIntegrity",
        "MQIBindType",
        "ExitsDefaultPath",
        "Name",
        "Name",
    ];
    assert_eq!(noted, expected);
}

#[test]
fn the_file_of_a_new_queue_manager_says_where_its_key_is_if_it_has_one() {
    let new = |key: Option<&KeySource>| {
        new_file(
            "QM1",
            Path::new("/l"),
            &Shape::default(),
            key,
            Access::Unchecked,
        )
    };
    let of = |text: &str| parse(text).unwrap().resolve().unwrap().encryption;
    assert_eq!(of(&new(None)), None);
    assert!(
        !new(None).contains("Encryption"),
        "it cannot be switched on later"
    );
    let file = KeySource::file(Path::new("/k/key")).unwrap();
    let command = KeySource::command("vault kv get -field=key mq/qm1").unwrap();
    for source in [file, command] {
        assert_eq!(of(&new(Some(&source))), Some(source));
    }
    let both = parse("Encryption:\n   KeyFile=/k\n   KeyCommand=c\n")
        .unwrap()
        .resolve();
    let refused = both.unwrap_err();
    assert_eq!(
        (refused[0].id, refused[0].at.line),
        ("AMQ2101E", 3),
        "{refused:?}"
    );
    assert!(parse("Encryption:\n   KeyFile=relative\n").is_err());
}

#[test]
fn the_file_of_a_new_queue_manager_reads_as_what_was_chosen() {
    let shape = Shape {
        file_pages: 128,
        primary: 5,
        secondary: 6,
        buffer_pages: 20,
    };
    let text = new_file(
        "QM1",
        Path::new("/var/log/QM1"),
        &shape,
        None,
        Access::Developer,
    );
    let raw = parse(&text).unwrap();
    assert!(raw.notes().is_empty());
    let settings = raw.resolve().unwrap();
    assert_eq!(settings.log, shape.config());
    assert_eq!(
        settings.log_path.as_deref(),
        Some(Path::new("/var/log/QM1"))
    );
    assert_eq!(settings.loopback_user.as_deref(), Some("app"));
    assert!(!settings.insecure_listeners);
    assert_eq!(settings.authorization, Some(SecurityPolicy::External));
    // What stands there as a comment is the default, if there is one: without the comment signs the rest is the same.
    let bare = text.replace("   #", "   ");
    let settings_of = |text: &str| {
        let lines = text.lines().filter(|line| {
            let is_key = line.contains('=') && !line.trim_start().contains(' ');
            line.ends_with(':') || is_key && !line.ends_with('=')
        });
        let kept: Vec<&str> = lines.collect();
        parse(&kept.join("\n")).unwrap().resolve().unwrap()
    };
    assert_eq!(settings_of(&bare), settings);
}

#[test]
fn values_written_out_read_back() {
    let raw = parse("Log:\n LogFilePages=64\n LogPath=/x\nTCP:\n Port=1500\n").unwrap();
    let again = parse(&raw.to_text()).unwrap();
    assert_eq!(again.number("Log", "LogFilePages"), Some(64));
    assert_eq!(again.text("TCP", "Port"), Some("1500"));
    assert_eq!(again.to_text(), raw.to_text());
}

const SERVICE: &str = "Service:\n Name=AuthorizationService\n EntryPoints=14\n";
const COMPONENT_STANZA: &str = "ServiceComponent:\n Service=AuthorizationService\n \
                                Name=MQSeries.UNIX.auth.service\n Module=amqzfu\n ComponentDataSize=0\n";

#[test]
fn authorities_are_checked_where_the_service_is_named() {
    let policy = |text: &str| {
        let raw = RawConfig::parse("qm.ini", text.as_bytes()).unwrap();
        assert!(raw.notes().is_empty(), "{text}: {:?}", raw.notes());
        raw.resolve().unwrap().authorization
    };
    assert_eq!(policy(""), None);
    let both = format!("{SERVICE}{COMPONENT_STANZA}");
    assert_eq!(policy(&both), Some(SecurityPolicy::Group));
    for (word, wanted) in [
        ("default", SecurityPolicy::Group),
        ("Group", SecurityPolicy::Group),
        ("USER", SecurityPolicy::User),
        ("UserExternal", SecurityPolicy::External),
    ] {
        let text = format!("{SERVICE} SecurityPolicy={word}\n{COMPONENT_STANZA}");
        assert_eq!(policy(&text), Some(wanted), "{word}");
    }
    // Another service behind it switches nothing off.
    let text = format!("{both}Service:\n Name=NameService\n");
    let raw = RawConfig::parse("qm.ini", text.as_bytes()).unwrap();
    assert_eq!(
        raw.resolve().unwrap().authorization,
        Some(SecurityPolicy::Group)
    );
    assert_eq!(raw.notes().len(), 1);
}

/// Or one of two names would say that the stanza is about it, and the other that it is not.
#[test]
fn a_stanza_of_a_service_has_each_key_once() {
    let text = format!("Service:\n Name=Other\n Name=AuthorizationService\n{COMPONENT_STANZA}");
    let errors = RawConfig::parse("qm.ini", text.as_bytes()).unwrap_err();
    assert_eq!(errors[0].id, "AMQ2101E");
    assert!(
        errors[0].to_string().contains("Name is on line 2 already"),
        "{errors:?}"
    );
    let several = format!("{SERVICE}{COMPONENT_STANZA}Service:\n Name=NameService\n");
    let read = RawConfig::parse("qm.ini", several.as_bytes()).unwrap();
    let again = RawConfig::parse("qm.ini", read.to_text().as_bytes()).unwrap();
    assert_eq!(again.resolve().unwrap(), read.resolve().unwrap());
}

#[test]
fn an_authorization_service_that_would_check_nothing_is_refused() {
    let refused = |text: &str| {
        let errors = RawConfig::parse("qm.ini", text.as_bytes()).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        (errors[0].id, errors[0].to_string())
    };
    let (id, text) = refused(SERVICE);
    assert_eq!(id, "AMQ2101E");
    assert!(
        text.contains("AuthorizationService has no stanza ServiceComponent"),
        "{text}"
    );
    let own = COMPONENT_STANZA.replace("MQSeries.UNIX.auth.service", "our.own");
    assert_eq!(refused(&own).0, "AMQ2106E");
    let other = format!("{SERVICE} SecurityPolicy=Everybody\n{COMPONENT_STANZA}");
    assert_eq!(refused(&other).0, "AMQ2106E");
}
