//! SET CHLAUTH and DISPLAY CHLAUTH (manual: the commands of these names).

use super::cursor::{Cursor, Item, Parameter};
use super::filter::where_of;
use super::nouns::Verb;
use super::values::value_of;
use super::{Given, fault, stated_type, unknown_keyword};
use crate::attribute::is_name_byte;
use crate::attribute::{Attribute, Set};
use crate::attrs::Attrs;
use crate::chlauth::{ChlAuthAction, ChlAuthMatch, RunCheck, SOURCE_MAP, is_relevant};
use crate::command::{ChlAuthCommand, Command, DisplayWhat, SyntaxError};
use crate::kinds::ObjectKind;
use crate::object::Object;
use crate::statuses::{all_keywords, where_keyword};
use crate::table::by_keyword;
use posthaste_mqi::constants as mq;

const NOUN: &str = "CHLAUTH";

/// What a DISPLAY command about records shows; the first kind stands for all.
const WHAT: DisplayWhat = DisplayWhat::Object(ObjectKind::ChlBlockUser);

/// What tells records of a kind apart, beside the profile; the first is needed.
fn keys(kind: ObjectKind) -> &'static [&'static str] {
    match kind {
        ObjectKind::ChlBlockUser => &["USERLIST"],
        ObjectKind::ChlBlockAddr => &["ADDRLIST"],
        ObjectKind::ChlSslPeerMap => &["SSLPEER", "SSLCERTI", "ADDRESS"],
        ObjectKind::ChlUserMap => &["CLNTUSER", "ADDRESS"],
        ObjectKind::ChlQmgrMap => &["QMNAME", "ADDRESS"],
        _ => &["ADDRESS"],
    }
}

/// The command, if it is one about channel authentication records.
pub(super) fn command(
    cursor: &mut Cursor<'_>,
    verb: Verb,
    noun: &Parameter<'_>,
) -> Option<Result<Command, SyntaxError>> {
    let is_noun = noun.word.eq_ignore_ascii_case(NOUN);
    match verb {
        Verb::Set if is_noun => Some(set(cursor, noun)),
        Verb::Display if is_noun => Some(display(cursor, noun)),
        _ => None,
    }
}

/// The names of channels, with asterisks wherever they are.
fn profile(text: &str, noun: &Parameter<'_>) -> Result<String, SyntaxError> {
    let item = noun.one_value(text)?;
    let name = item.text.trim_end_matches(' ');
    let most = mq::MQ_CHANNEL_NAME_LENGTH as usize;
    let wrong = |c: &char| *c != '*' && !u8::try_from(*c).is_ok_and(is_name_byte);
    let detail = match name.chars().find(wrong) {
        _ if name.is_empty() => "CHLAUTH needs the name of a channel".to_owned(),
        _ if name.len() > most => {
            format!(
                "CHLAUTH has {} characters, but at most {most} fit",
                name.len()
            )
        }
        Some(wrong) => {
            let shown = wrong.escape_debug();
            format!("CHLAUTH has the character {shown}; letters, digits and . / _ % * are allowed")
        }
        None => return Ok(name.to_owned()),
    };
    Err(fault::name(item.start, detail))
}

fn refused(text: &str, parameter: &Parameter<'_>, detail: String) -> SyntaxError {
    fault::syntax(text, parameter.start, parameter.word_end, detail)
}

/// One of a few words.
fn one_of<T: Copy>(
    text: &str,
    parameter: &Parameter<'_>,
    words: &[(&'static str, T)],
) -> Result<T, SyntaxError> {
    let item = parameter.one_value(text)?;
    let found = words.iter().find(|(word, _)| *word == item.text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let keyword = parameter.word.to_ascii_uppercase();
        let detail = format!("{keyword} must be one of {}", all.join(", "));
        fault::syntax(text, item.start, item.end, detail)
    })
}

/// The types of record by their words.
fn types() -> Vec<(&'static str, ObjectKind)> {
    let word = |kind: ObjectKind| kind.row().type_.map(|type_| (type_.word, kind));
    ObjectKind::CHLAUTH.into_iter().filter_map(word).collect()
}

fn word_of(kind: ObjectKind) -> &'static str {
    kind.row().type_.map_or("", |type_| type_.word)
}

fn set(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    let text = cursor.text;
    let profile = profile(text, noun)?;
    let stated = stated_type(cursor, &ObjectKind::CHLAUTH);
    let kind = stated.unwrap_or(ObjectKind::ChlAddressMap);
    let mut attrs = Attrs::default();
    let mut action = ChlAuthAction::Add;
    let mut given = Given::default();
    let mut parameters: Vec<(&'static Attribute, Parameter<'_>)> = Vec::new();
    while let Some(parameter) = cursor.parameter()? {
        let word = parameter.word.to_ascii_uppercase();
        match (word.as_str(), by_keyword(kind, &word)) {
            ("ACTION", _) => {
                given.once(text, "ACTION", &parameter)?;
                action = one_of(text, &parameter, &ChlAuthAction::ALL)?;
            }
            ("TYPE", _) => {
                given.once(text, "TYPE", &parameter)?;
                one_of(text, &parameter, &types())?;
            }
            // Which type the others are for is not known.
            _ if stated.is_none() => {}
            (_, Some(attribute)) if attribute.set == Set::ReadOnly => {
                let detail = format!("{} can be shown but not set", attribute.keyword);
                return Err(refused(text, &parameter, detail));
            }
            (_, Some(attribute)) => {
                given.once(text, attribute.keyword, &parameter)?;
                attrs.set(attribute.selector, value_of(text, attribute, &parameter)?);
                parameters.push((attribute, parameter));
            }
            (_, None) => return Err(not_of_type(text, kind, &parameter)),
        }
    }
    if stated.is_none() {
        let detail = "SET CHLAUTH needs TYPE, for example TYPE(ADDRESSMAP)".to_owned();
        return Err(fault::ended(text, detail));
    }
    if kind == ObjectKind::ChlBlockAddr && profile != "*" {
        let detail = "The profile of TYPE(BLOCKADDR) is *".to_owned();
        return Err(fault::name(noun.start, detail));
    }
    attrs.set_text(mq::MQCACH_CHANNEL_NAME, profile);
    check(text, kind, action, &attrs, &parameters)?;
    let command = ChlAuthCommand::Set {
        kind,
        action,
        attrs,
    };
    Ok(Command::ChlAuth(command))
}

fn not_of_type(text: &str, kind: ObjectKind, parameter: &Parameter<'_>) -> SyntaxError {
    let word = parameter.word.to_ascii_uppercase();
    let mut others = ObjectKind::CHLAUTH.into_iter();
    if others.any(|other| by_keyword(other, &word).is_some()) {
        let detail = format!("{word} is not for TYPE({})", word_of(kind));
        return refused(text, parameter, detail);
    }
    let mut known = all_keywords(WHAT);
    known.push("ACTION");
    unknown_keyword(text, "SET CHLAUTH", parameter, &known)
}

/// What goes together, and what has to be there.
fn check(
    text: &str,
    kind: ObjectKind,
    action: ChlAuthAction,
    attrs: &Attrs,
    parameters: &[(&'static Attribute, Parameter<'_>)],
) -> Result<(), SyntaxError> {
    let record = Object {
        kind,
        name: String::new(),
        attrs: attrs.clone(),
    };
    let sets = matches!(action, ChlAuthAction::Add | ChlAuthAction::Replace);
    for (attribute, parameter) in parameters {
        let keyword = attribute.keyword;
        let taken = match action {
            ChlAuthAction::RemoveAll => false,
            ChlAuthAction::Remove => keys(kind).contains(&keyword),
            _ => true,
        };
        if !taken {
            let words = ChlAuthAction::ALL.iter();
            let mut words = words.filter(|(_, other)| *other == action);
            let word = words.next().map_or("", |(word, _)| word);
            let detail = format!("{keyword} is not for ACTION({word})");
            return Err(refused(text, parameter, detail));
        }
        if !is_relevant(&record, attribute.selector) {
            let detail = format!("{keyword} is not for this USERSRC");
            return Err(refused(text, parameter, detail));
        }
    }
    let mut needed: Vec<&str> = match action {
        ChlAuthAction::RemoveAll => Vec::new(),
        // A list in whose place nothing comes is removed.
        ChlAuthAction::Replace if !is_map(kind) => Vec::new(),
        _ => keys(kind).first().copied().into_iter().collect(),
    };
    if sets && is_map(kind) && attrs.int(mq::MQIACH_USER_SOURCE) == SOURCE_MAP {
        needed.push("MCAUSER");
    }
    for keyword in needed {
        let value = by_keyword(kind, keyword).and_then(|row| attrs.get(row.selector));
        if value.is_none_or(|value| value.is_blank()) {
            let type_ = word_of(kind);
            let detail = format!("SET CHLAUTH TYPE({type_}) needs {keyword}");
            return Err(fault::ended(text, detail));
        }
    }
    Ok(())
}

fn is_map(kind: ObjectKind) -> bool {
    !matches!(kind, ObjectKind::ChlBlockUser | ObjectKind::ChlBlockAddr)
}

/// MATCH, by its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Generic,
    Exact,
    All,
    RunCheck,
}

const HOW: [(&str, How); 4] = [
    ("GENERIC", How::Generic),
    ("EXACT", How::Exact),
    ("ALL", How::All),
    ("RUNCHECK", How::RunCheck),
];

/// What MATCH(RUNCHECK) asks about.
const ASKED: [&str; 5] = ["ADDRESS", "CLNTUSER", "QMNAME", "SSLPEER", "SSLCERTI"];

fn display(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    let text = cursor.text;
    let profile = profile(text, noun)?;
    let (mut kind, mut all, mut filter) = (None, false, None);
    let mut how = How::Generic;
    let mut show: Vec<String> = Vec::new();
    let mut asked: Vec<(&'static str, Item)> = Vec::new();
    let mut given = Given::default();
    while let Some(parameter) = cursor.parameter()? {
        let word = parameter.word.to_ascii_uppercase();
        let named = ASKED.into_iter().find(|asked| *asked == word);
        match (word.as_str(), &parameter.values, named) {
            ("ALL", None, _) => {
                given.once(text, "ALL", &parameter)?;
                all = true;
            }
            ("WHERE", _, _) => {
                given.once(text, "WHERE", &parameter)?;
                filter = Some(where_of(WHAT, &parameter)?);
            }
            ("MATCH", Some(_), _) => {
                given.once(text, "MATCH", &parameter)?;
                how = one_of(text, &parameter, &HOW)?;
            }
            ("TYPE", Some(_), _) => {
                given.once(text, "TYPE", &parameter)?;
                let named = types().into_iter().map(|(word, kind)| (word, Some(kind)));
                let words: Vec<_> = named.chain([("ALL", None)]).collect();
                kind = one_of(text, &parameter, &words)?;
            }
            (_, Some(_), Some(keyword)) => {
                given.once(text, keyword, &parameter)?;
                asked.push((keyword, parameter.one_value(text)?.clone()));
            }
            (_, None, _) if let Some(keyword) = where_keyword(WHAT, &word) => {
                given.once(text, keyword, &parameter)?;
                show.push(keyword.to_owned());
            }
            _ => {
                let mut known = all_keywords(WHAT);
                known.extend(["ALL", "WHERE", "TYPE", "MATCH"]);
                return Err(unknown_keyword(text, "DISPLAY CHLAUTH", &parameter, &known));
            }
        }
    }
    let how = match how {
        How::RunCheck => ChlAuthMatch::RunCheck(Box::new(run_check(text, &profile, &asked)?)),
        _ if let Some((keyword, item)) = asked.first() => {
            let detail = format!("{keyword} has a value only with MATCH(RUNCHECK)");
            return Err(fault::syntax(text, item.start, item.end, detail));
        }
        How::Exact => ChlAuthMatch::Exact,
        How::All => ChlAuthMatch::All,
        How::Generic => ChlAuthMatch::Generic,
    };
    Ok(Command::ChlAuth(ChlAuthCommand::Display {
        profile,
        kind,
        how,
        show,
        all,
        filter,
    }))
}

/// How long a partner's properties are at most, in bytes.
const LONGEST_ASKED: [(&str, usize); 4] = [
    ("CLNTUSER", mq::MQ_CLIENT_USER_ID_LENGTH as usize),
    ("QMNAME", mq::MQ_Q_MGR_NAME_LENGTH as usize),
    ("SSLPEER", mq::MQ_DISTINGUISHED_NAME_LENGTH as usize),
    ("SSLCERTI", mq::MQ_DISTINGUISHED_NAME_LENGTH as usize),
];

/// Whom MATCH(RUNCHECK) asks about: one partner, at one channel.
fn run_check(
    text: &str,
    profile: &str,
    asked: &[(&'static str, Item)],
) -> Result<RunCheck, SyntaxError> {
    if profile.contains('*') {
        let detail = "MATCH(RUNCHECK) needs the name of one channel".to_owned();
        return Err(fault::ended(text, detail));
    }
    for (keyword, longest) in LONGEST_ASKED {
        let mut of_it = asked.iter().filter(|(other, _)| *other == keyword);
        if let Some((_, item)) = of_it.find(|(_, item)| item.text.trim_matches(' ').len() > longest)
        {
            let detail = format!("{keyword} is longer than {longest} bytes");
            return Err(fault::syntax(text, item.start, item.end, detail));
        }
    }
    let value = |keyword: &str| {
        let found = asked.iter().find(|(other, _)| *other == keyword);
        let value = found.map(|(_, item)| match keyword {
            // As a client's is taken, whose user has no blanks behind it and may have some before it.
            "CLNTUSER" => item.text.trim_end_matches(' ').to_owned(),
            _ => item.text.trim_matches(' ').to_owned(),
        });
        value.filter(|value| !value.is_empty())
    };
    let (user, queue_manager) = (value("CLNTUSER"), value("QMNAME"));
    if user.is_some() == queue_manager.is_some() {
        let detail = "MATCH(RUNCHECK) needs either CLNTUSER or QMNAME".to_owned();
        return Err(fault::ended(text, detail));
    }
    let address = value("ADDRESS")
        .ok_or_else(|| fault::ended(text, "MATCH(RUNCHECK) needs ADDRESS".to_owned()))?;
    let single = address.parse::<core::net::IpAddr>().is_ok();
    if let Some((_, item)) = asked.iter().find(|(key, _)| *key == "ADDRESS" && !single) {
        let detail = "ADDRESS must be one IP address".to_owned();
        return Err(fault::syntax(text, item.start, item.end, detail));
    }
    Ok(RunCheck {
        address,
        user,
        queue_manager,
        peer: value("SSLPEER"),
        issuer: value("SSLCERTI"),
    })
}
