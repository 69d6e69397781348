//! Verbs and nouns with their short forms (manual: "Using MQSC commands").

/// The verbs that are carried out here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Define,
    Alter,
    Delete,
    Display,
    Clear,
    Start,
    Stop,
    Ping,
    Refresh,
    Save,
    Set,
}

/// Each verb with its forms, the long one first.
pub(super) const VERBS: &[(&[&str], Verb)] = &[
    (&["DEFINE", "DEF"], Verb::Define),
    (&["ALTER", "ALT"], Verb::Alter),
    (&["DELETE", "DEL"], Verb::Delete),
    (&["DISPLAY", "DIS", "DISP"], Verb::Display),
    (&["CLEAR"], Verb::Clear),
    (&["START", "STA"], Verb::Start),
    (&["STOP"], Verb::Stop),
    (&["PING"], Verb::Ping),
    (&["REFRESH", "REF"], Verb::Refresh),
    (&["SAVE"], Verb::Save),
    (&["SET"], Verb::Set),
];

/// MQ's other verbs, so that the answer can say that they are not wrong but not here.
pub(super) const OTHER_VERBS: &[&str] = &[
    "ARCHIVE", "BACKUP", "MOVE", "PURGE", "RECOVER", "RESET", "RESOLVE", "RES", "RESUME",
    "RVERIFY", "SUSPEND",
];

/// MQ's other nouns, so that the answer can say that they are not wrong but not here.
pub(super) const OTHER_NOUNS: &[&str] = &[
    "APSTATUS", "ARCHIVE", "BSDS", "BUFFPOOL", "CFSTATUS", "CFSTRUCT", "CHI", "CHINIT", "CLUSQMGR",
    "CLUSTER", "CMDSERV", "GROUP", "INDOUBT", "LOG", "MAXSMSGS", "POLICY", "PSID", "QC",
    "QCLUSTER", "QSTATS", "SECURITY", "SMDS", "SMDSCONN", "STC", "STGCLASS", "SYSTEM", "TCLUSTER",
    "THREAD", "TPIPE", "TRACE", "USAGE",
];

/// What MQ does to kinds of object that are here, and this release does not do.
pub(super) const OTHER_PAIRS: &[(Verb, &[&str])] = &[
    (Verb::Ping, &["CHANNEL", "CHL"]),
    (Verb::Refresh, &["QMGR"]),
    (Verb::Start, &["QMGR"]),
    (Verb::Stop, &["QMGR"]),
];

/// CHLTYPE words of channels that are not here yet.
pub(super) const OTHER_CHANNELS: &[&str] = &[
    "SDR", "SVR", "RCVR", "RQSTR", "CLUSSDR", "CLUSRCVR", "MQTT", "AMQP",
];

/// Finds a word among forms.
pub(super) fn find<T: Copy>(table: &[(&[&str], T)], word: &str) -> Option<T> {
    table
        .iter()
        .find(|(forms, _)| forms.iter().any(|form| form.eq_ignore_ascii_case(word)))
        .map(|(_, found)| *found)
}

/// Whether a list has a word.
pub(super) fn has(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The long forms of a table.
pub(super) fn long_forms<T>(table: &'static [(&'static [&'static str], T)]) -> Vec<&'static str> {
    table
        .iter()
        .filter_map(|(forms, _)| forms.first().copied())
        .collect()
}
