//! DISPLAY (manual: "DISPLAY QUEUE", "DISPLAY CONN", ...).

use super::cursor::{Cursor, Item, Parameter};
use super::define::other_channel;
use super::filter::where_of;
use super::values::check_generic;
use super::{Given, fault, unknown_keyword};
use crate::command::{Command, DisplayType, DisplayWhat, Op, SyntaxError, Where};
use crate::filter::wanted;
use crate::kinds::ObjectKind;
use crate::statuses::{
    Choice, ChoiceBy, Fit, STATUSES, all_keywords, choice, displayed_kinds, group, groups,
    is_not_here, noun, shown_by, status, types_of_keyword, where_keyword,
};
use crate::table::by_selector;
use posthaste_mqi::constants as mq;

/// The nouns of queues of every kind.
const QUEUE: &[&str] = &["QUEUE", "Q"];

/// The long nouns of all DISPLAY commands.
pub(super) fn nouns() -> Vec<&'static str> {
    let kinds = ObjectKind::ALL.into_iter().map(ObjectKind::noun);
    let statuses = STATUSES
        .iter()
        .filter_map(|status| status.nouns.first().copied());
    kinds.chain(statuses).chain(["QUEUE"]).collect()
}

/// The longest name that the command takes; 0: it names nothing.
fn name_length(what: DisplayWhat) -> usize {
    match (what, status(what)) {
        (_, Some(status)) => status.name_length as usize,
        (DisplayWhat::Object(ObjectKind::Qmgr), _) => 0,
        (DisplayWhat::Object(kind), _) => kind.name_length(),
        _ => mq::MQ_OBJECT_NAME_LENGTH as usize,
    }
}

/// Whether the command names what it shows.
pub(super) fn is_named(what: DisplayWhat) -> bool {
    name_length(what) > 0
}

/// Refuses a name that nothing can have.
pub(super) fn check_displayed_name(what: DisplayWhat, item: &Item) -> Result<(), SyntaxError> {
    // The root of the topic tree is the empty topic string.
    if item.text.is_empty() && what != DisplayWhat::TpStatus {
        return Err(fault::name(
            item.start,
            format!("{} needs a name", noun(what)),
        ));
    }
    let free = matches!(what, DisplayWhat::TpStatus | DisplayWhat::SbStatus)
        || displayed_kinds(what)
            .iter()
            .any(|kind| kind.row().free_name);
    check_generic(&item.text, name_length(what), free, item.start, noun(what))
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
    let mut choices = Vec::new();
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
                types.add(text, what, found.keyword, &parameter)?;
                filter = Some(found);
            }
            ("TYPE" | "QTYPE" | "CHLTYPE" | "AUTHTYPE", Some(_)) => {
                given.once(text, "TYPE", &parameter)?;
                type_ = Some(type_of(text, what, &parameter)?);
            }
            (_, None) => match (where_keyword(what, &word), group(what, &word)) {
                (Some(keyword), _) => {
                    given.once(text, keyword, &parameter)?;
                    types.add(text, what, keyword, &parameter)?;
                    show.push(keyword.to_owned());
                }
                (None, Some((name, keywords))) => {
                    given.once(text, name, &parameter)?;
                    for keyword in keywords {
                        types.add(text, what, keyword, &parameter)?;
                        show.push((*keyword).to_owned());
                    }
                }
                (None, None) => return Err(unknown(text, what, &parameter)),
            },
            (_, Some(_)) if let Some(choice) = choice(what, &word) => {
                given.once(text, choice.keyword, &parameter)?;
                choices.push(fits(text, what, choice, &parameter)?);
            }
            (_, Some(_)) if where_keyword(what, &word).is_some() => {
                let detail = format!("{word} has no value here; use WHERE to choose by value");
                return Err(fault::syntax(text, parameter.start, parameter.end, detail));
            }
            _ => return Err(unknown(text, what, &parameter)),
        }
    }
    let type_ = types.fitting(text, what, type_)?;
    let chosen = choices.iter().flat_map(|choice| choice.chosen(what, type_));
    let chosen = chosen.collect();
    Ok(Command::Display {
        what,
        name,
        show,
        all,
        filter,
        chosen,
        type_,
    })
}

/// What a parameter of DISPLAY with a value goes by.
enum Chosen {
    /// The value that rows have under a keyword.
    Value(&'static str, String),
    /// What rows of each TYPE fit it.
    Fits(&'static [Fit]),
}

impl Chosen {
    /// The filters that it stands for in rows of a TYPE.
    fn chosen(&self, what: DisplayWhat, type_: Option<DisplayType>) -> Vec<Where> {
        let filter = |keyword: &str, op, value: &str| {
            let attribute = *shown_by(what, keyword).first()?;
            Some(Where {
                keyword: attribute.keyword,
                op,
                value: wanted(attribute, op, value)?,
            })
        };
        match self {
            Chosen::Value(keyword, value) => filter(keyword, Op::Eq, value).into_iter().collect(),
            Chosen::Fits(fits) => {
                let type_ = type_.unwrap_or(DisplayType::Queue);
                let fits = fits.iter().filter(|(of, ..)| *of == type_);
                fits.filter_map(|(_, keyword, op, value)| filter(keyword, *op, value))
                    .collect()
            }
        }
    }
}

fn fits(
    text: &str,
    what: DisplayWhat,
    choice: &Choice,
    parameter: &Parameter<'_>,
) -> Result<Chosen, SyntaxError> {
    let item = parameter.one_value(text)?;
    let words = match choice.by {
        ChoiceBy::Value => {
            let row = shown_by(what, choice.keyword).first().copied();
            return match row.and_then(|row| wanted(row, Op::Eq, &item.text)) {
                Some(_) => Ok(Chosen::Value(choice.keyword, item.text.clone())),
                None => {
                    let detail = format!("{} is not a value of {}", item.text, choice.keyword);
                    Err(fault::syntax(text, item.start, item.end, detail))
                }
            };
        }
        ChoiceBy::Word(words) => words,
    };
    let mut known = words.iter();
    let known = known.find(|(word, _)| word.eq_ignore_ascii_case(&item.text));
    known.map(|(_, fits)| Chosen::Fits(fits)).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let detail = format!("{} must be one of {}", choice.keyword, words.join(", "));
        fault::syntax(text, item.start, item.end, detail)
    })
}

/// The TYPEs that the keywords of a DISPLAY command about state belong to: those whose rows have all of them, and the first
/// that not every TYPE's rows have.
#[derive(Default)]
struct Types(Option<Needed>);

struct Needed {
    keyword: String,
    types: Vec<DisplayType>,
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
        let types = types_of_keyword(what, keyword);
        if types.is_empty() {
            return Ok(());
        }
        let needed = Needed {
            keyword: keyword.to_owned(),
            types,
            start: parameter.start,
            end: parameter.word_end,
        };
        let Some(first) = &mut self.0 else {
            self.0 = Some(needed);
            return Ok(());
        };
        let both = |type_: &DisplayType| needed.types.contains(type_);
        if !first.types.iter().any(both) {
            return Err(needed.refused(text, what));
        }
        first.types.retain(both);
        Ok(())
    }

    /// The TYPE of the command: as given, or as its keywords need it.
    fn fitting(
        self,
        text: &str,
        what: DisplayWhat,
        given: Option<DisplayType>,
    ) -> Result<Option<DisplayType>, SyntaxError> {
        match (self.0, given) {
            (Some(needed), None) => Ok(needed.types.first().copied().filter(|first| {
                // The others are what is shown when no TYPE is given.
                matches!(first, DisplayType::Handle | DisplayType::Pub)
            })),
            (Some(needed), Some(given))
                if !needed.types.contains(&given) && given != DisplayType::All =>
            {
                Err(needed.refused(text, what))
            }
            (_, given) => Ok(given),
        }
    }
}

impl Needed {
    fn refused(&self, text: &str, what: DisplayWhat) -> SyntaxError {
        let words = self.types.iter().map(|type_| match type_ {
            DisplayType::Handle if what == DisplayWhat::TpStatus => "SUB",
            DisplayType::Queue if what == DisplayWhat::TpStatus => "TOPIC",
            DisplayType::Handle => "HANDLE",
            DisplayType::Pub => "PUB",
            DisplayType::Conn => "CONN",
            _ => "QUEUE",
        });
        let words: Vec<String> = words.map(|word| format!("TYPE({word})")).collect();
        let detail = format!("{} is shown with {}", self.keyword, words.join(" or "));
        fault::syntax(text, self.start, self.end, detail)
    }
}

fn unknown(text: &str, what: DisplayWhat, parameter: &Parameter<'_>) -> SyntaxError {
    if is_not_here(what, parameter.word) {
        return fault::not_answered(what, parameter.word, parameter.start);
    }
    let mut known = all_keywords(what);
    known.extend(["ALL", "WHERE", "TYPE"]);
    known.extend(groups(what).iter().map(|(name, _)| *name));
    unknown_keyword(text, &format!("DISPLAY {}", noun(what)), parameter, &known)
}

fn type_of(
    text: &str,
    what: DisplayWhat,
    parameter: &Parameter<'_>,
) -> Result<DisplayType, SyntaxError> {
    let keyword = parameter.word.to_ascii_uppercase();
    let item = parameter.one_value(text)?;
    let word = item.text.to_ascii_uppercase();
    let types = types_of(what, &keyword);
    if types.is_empty() {
        return Err(unknown(text, what, parameter));
    }
    if types.contains(&("SVRCONN", DisplayType::Kind(ObjectKind::SvrConn))) {
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

/// The types that a keyword of DISPLAY chooses among; none: it is no keyword of this command.
fn types_of(what: DisplayWhat, keyword: &str) -> Vec<(&'static str, DisplayType)> {
    let named = match (what, keyword) {
        (DisplayWhat::Conn, "TYPE") => {
            vec![("CONN", DisplayType::Conn), ("HANDLE", DisplayType::Handle)]
        }
        (DisplayWhat::QStatus, "TYPE") => {
            return vec![
                ("QUEUE", DisplayType::Queue),
                ("HANDLE", DisplayType::Handle),
            ];
        }
        (DisplayWhat::TpStatus, "TYPE") => {
            return vec![
                ("TOPIC", DisplayType::Queue),
                ("SUB", DisplayType::Handle),
                ("PUB", DisplayType::Pub),
            ];
        }
        (DisplayWhat::PubSub, "TYPE") => vec![("LOCAL", DisplayType::Queue)],
        (DisplayWhat::ChStatus, "TYPE" | "CHLTYPE") => {
            vec![("SVRCONN", DisplayType::Kind(ObjectKind::SvrConn))]
        }
        // Topics of clusters are not here.
        (DisplayWhat::Object(ObjectKind::Topic), "TYPE") => {
            vec![("LOCAL", DisplayType::Kind(ObjectKind::Topic))]
        }
        (DisplayWhat::Object(kind), _) if kind.is_queue() => Vec::new(),
        _ => displayed_kinds(what)
            .into_iter()
            .filter_map(|kind| {
                let type_ = kind.row().type_?;
                let attribute = by_selector(kind, type_.selector)?;
                let asked = keyword == "TYPE" || attribute.is_called(keyword);
                asked.then_some((type_.word, DisplayType::Kind(kind)))
            })
            .collect(),
    };
    match named.is_empty() {
        true => named,
        false => [named, vec![("ALL", DisplayType::All)]].concat(),
    }
}

/// The nouns of DISPLAY.
pub(super) fn find(word: &str) -> Option<DisplayWhat> {
    let is = |noun: &&str| noun.eq_ignore_ascii_case(word);
    if QUEUE.iter().any(is) {
        return Some(DisplayWhat::Queue);
    }
    let mut statuses = STATUSES.iter();
    let status = statuses.find(|status| status.nouns.iter().any(is));
    let meant = ObjectKind::with_noun(word);
    let object = meant.first().map(|kind| DisplayWhat::Object(*kind));
    status.map(|status| status.what).or(object)
}
