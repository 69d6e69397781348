//! DISPLAY (manual: "DISPLAY QUEUE", "DISPLAY CONN", ...).

use super::cursor::{Cursor, Item, Parameter};
use super::define::other_channel;
use super::filter::where_of;
use super::values::check_generic;
use super::{Given, fault, nouns, unknown_keyword};
use crate::command::{Command, DisplayType, DisplayWhat, SyntaxError};
use crate::object::ObjectKind;
use crate::table::{LOG_KEYWORDS, all_keywords, is_not_here, type_of_keyword, where_keyword};
use posthaste_mqi::constants as mq;

/// The noun of a DISPLAY command as it is called in messages.
pub(super) fn noun(what: DisplayWhat) -> &'static str {
    match what {
        DisplayWhat::Object(kind) => kind.noun(),
        DisplayWhat::Queue => "QUEUE",
        DisplayWhat::Channel => "CHANNEL",
        DisplayWhat::Listener => "LISTENER",
        DisplayWhat::Qmgr => "QMGR",
        DisplayWhat::QStatus => "QSTATUS",
        DisplayWhat::QMStatus => "QMSTATUS",
        DisplayWhat::Conn => "CONN",
        DisplayWhat::ChStatus => "CHSTATUS",
        DisplayWhat::LsStatus => "LSSTATUS",
    }
}

/// Whether the command names what it shows.
pub(super) fn is_named(what: DisplayWhat) -> bool {
    !matches!(what, DisplayWhat::Qmgr | DisplayWhat::QMStatus)
}

/// Refuses a name that nothing can have.
pub(super) fn check_displayed_name(what: DisplayWhat, item: &Item) -> Result<(), SyntaxError> {
    let longest = match what {
        DisplayWhat::Channel | DisplayWhat::ChStatus => ObjectKind::SvrConn.name_length(),
        // Eight bytes in hexadecimal, or all twenty-four of a connection's identifier.
        DisplayWhat::Conn => 2 * mq::MQ_CONNECTION_ID_LENGTH as usize,
        _ => mq::MQ_OBJECT_NAME_LENGTH as usize,
    };
    if item.text.is_empty() {
        return Err(fault::name(
            item.start,
            format!("{} needs a name", noun(what)),
        ));
    }
    check_generic(&item.text, longest, item.start, noun(what))
}

pub(super) fn display(
    cursor: &mut Cursor<'_>,
    what: DisplayWhat,
    name: String,
) -> Result<Command, SyntaxError> {
    let text = cursor.text;
    let mut given = Given::default();
    let mut show: Vec<String> = Vec::new();
    let mut all = false;
    let mut filter = None;
    let mut type_ = None;
    let mut types = Types::default();
    while let Some(parameter) = cursor.parameter()? {
        let word = parameter.word.to_ascii_uppercase();
        match (word.as_str(), &parameter.values) {
            ("ALL", None) => {
                given.once(text, "ALL", &parameter)?;
                all = true;
            }
            ("WHERE", _) => {
                given.once(text, "WHERE", &parameter)?;
                let found = where_of(what, &parameter)?;
                types.add(text, what, &found.keyword, &parameter)?;
                filter = Some(found);
            }
            ("TYPE" | "QTYPE" | "CHLTYPE", Some(_)) => {
                given.once(text, "TYPE", &parameter)?;
                type_ = Some(type_of(text, what, &parameter)?);
            }
            ("LOG", None) if what == DisplayWhat::QMStatus => {
                given.once(text, "LOG", &parameter)?;
                show.extend(LOG_KEYWORDS.iter().map(|&keyword| keyword.to_owned()));
            }
            (_, None) => match where_keyword(what, &word) {
                Some(keyword) => {
                    given.once(text, keyword, &parameter)?;
                    types.add(text, what, keyword, &parameter)?;
                    show.push(keyword.to_owned());
                }
                None => return Err(unknown(text, what, &parameter)),
            },
            (_, Some(_)) if where_keyword(what, &word).is_some() => {
                let detail = format!("{word} has no value here; use WHERE to choose by value");
                return Err(fault::syntax(text, parameter.start, parameter.end, detail));
            }
            _ => return Err(unknown(text, what, &parameter)),
        }
    }
    let type_ = types.fitting(text, type_)?;
    Ok(Command::Display {
        what,
        name,
        show,
        all,
        filter,
        type_,
    })
}

/// The TYPE that the keywords of a DISPLAY command about state belong to: the first that only one
/// TYPE's rows have, and that TYPE.
#[derive(Default)]
struct Types(Option<Needed>);

struct Needed {
    keyword: String,
    type_: DisplayType,
    start: usize,
    end: usize,
}

impl Types {
    fn add(
        &mut self,
        text: &str,
        what: DisplayWhat,
        keyword: &str,
        parameter: &Parameter<'_>,
    ) -> Result<(), SyntaxError> {
        let Some(type_) = type_of_keyword(what, keyword) else {
            return Ok(());
        };
        let needed = Needed {
            keyword: keyword.to_owned(),
            type_,
            start: parameter.start,
            end: parameter.word_end,
        };
        match &self.0 {
            Some(first) if first.type_ != type_ => Err(needed.refused(text)),
            Some(_) => Ok(()),
            None => {
                self.0 = Some(needed);
                Ok(())
            }
        }
    }

    /// The TYPE of the command: as given, or as its keywords need it.
    fn fitting(
        self,
        text: &str,
        given: Option<DisplayType>,
    ) -> Result<Option<DisplayType>, SyntaxError> {
        match (self.0, given) {
            // The others are what is shown when no TYPE is given.
            (Some(needed), None) if needed.type_ == DisplayType::Handle => Ok(Some(needed.type_)),
            (Some(needed), Some(given)) if given != needed.type_ && given != DisplayType::All => {
                Err(needed.refused(text))
            }
            (_, given) => Ok(given),
        }
    }
}

impl Needed {
    fn refused(&self, text: &str) -> SyntaxError {
        let type_ = match self.type_ {
            DisplayType::Handle => "HANDLE",
            DisplayType::Conn => "CONN",
            _ => "QUEUE",
        };
        let detail = format!("{} is shown with TYPE({type_})", self.keyword);
        fault::syntax(text, self.start, self.end, detail)
    }
}

fn unknown(text: &str, what: DisplayWhat, parameter: &Parameter<'_>) -> SyntaxError {
    if is_not_here(what, parameter.word) {
        return not_answered(what, parameter.word, parameter.start);
    }
    let mut known = all_keywords(what);
    known.extend(["ALL", "WHERE", "TYPE"]);
    unknown_keyword(text, &format!("DISPLAY {}", noun(what)), parameter, &known)
}

/// One of MQ's keywords for which there is no answer here.
pub(super) fn not_answered(what: DisplayWhat, word: &str, start: usize) -> SyntaxError {
    let command = format!("DISPLAY {} {}", noun(what), word.to_ascii_uppercase());
    fault::not_here(start, command)
}

fn type_of(
    text: &str,
    what: DisplayWhat,
    parameter: &Parameter<'_>,
) -> Result<DisplayType, SyntaxError> {
    let keyword = parameter.word.to_ascii_uppercase();
    let item = parameter.one_value(text)?;
    let word = item.text.to_ascii_uppercase();
    let queues = [
        ("QLOCAL", DisplayType::Kind(ObjectKind::QLocal)),
        ("QMODEL", DisplayType::Kind(ObjectKind::QModel)),
        ("QALIAS", DisplayType::Kind(ObjectKind::QAlias)),
        ("QREMOTE", DisplayType::Kind(ObjectKind::QRemote)),
        ("ALL", DisplayType::All),
    ];
    let channels = [
        ("SVRCONN", DisplayType::Kind(ObjectKind::SvrConn)),
        ("ALL", DisplayType::All),
    ];
    let conns = [
        ("CONN", DisplayType::Conn),
        ("HANDLE", DisplayType::Handle),
        ("ALL", DisplayType::All),
    ];
    let statuses = [
        ("QUEUE", DisplayType::Queue),
        ("HANDLE", DisplayType::Handle),
    ];
    let types: &[(&str, DisplayType)] = match (what, keyword.as_str()) {
        (DisplayWhat::Queue, "TYPE" | "QTYPE") => &queues,
        (DisplayWhat::Channel | DisplayWhat::ChStatus, "TYPE" | "CHLTYPE") => &channels,
        (DisplayWhat::Conn, "TYPE") => &conns,
        (DisplayWhat::QStatus, "TYPE") => &statuses,
        _ => return Err(unknown(text, what, parameter)),
    };
    if matches!(what, DisplayWhat::Channel | DisplayWhat::ChStatus) {
        other_channel("DISPLAY", parameter)?;
    }
    types
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, type_)| *type_)
        .ok_or_else(|| {
            let names: Vec<&str> = types.iter().map(|(name, _)| *name).collect();
            let detail = format!("{keyword} must be one of {}", names.join(", "));
            fault::syntax(text, item.start, item.end, detail)
        })
}

/// The nouns of DISPLAY: the single kinds of queue besides those of the table.
pub(super) fn find(word: &str) -> Option<DisplayWhat> {
    nouns::find(nouns::DISPLAYS, word).or_else(|| {
        nouns::find(nouns::KINDS, word)
            .filter(|kind| kind.is_queue())
            .map(DisplayWhat::Object)
    })
}
