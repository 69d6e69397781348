//! Commands about authority records (manual: "SET AUTHREC", "DELETE AUTHREC", "DISPLAY AUTHREC", "DISPLAY ENTAUTH",
//! "DISPLAY AUTHSERV").

use posthaste_authority::{
    Authorities, Authority, Entity, EntityKind, MANAGER, ObjectType, Profile,
};

use super::cursor::{Cursor, Item, Parameter};
use super::nouns::Verb;
use super::{Given, fault, unknown_keyword};
use crate::authority::{AuthorityCommand, COMPONENT, Matching, RecordName};
use crate::command::{Command, SyntaxError};

/// A command, with the keywords that it knows.
struct Form {
    /// As it is called in answers.
    name: &'static str,
    keywords: &'static [&'static str],
    /// What can be asked for; what is shown always is in it too.
    shown: &'static [&'static str],
}

const SET: Form = Form {
    name: "SET AUTHREC",
    keywords: &[
        "PROFILE",
        "OBJTYPE",
        "PRINCIPAL",
        "GROUP",
        "AUTHADD",
        "AUTHRMV",
        "SERVCOMP",
    ],
    shown: &[],
};
const DELETE: Form = Form {
    name: "DELETE AUTHREC",
    keywords: &["PROFILE", "OBJTYPE", "PRINCIPAL", "GROUP", "SERVCOMP"],
    shown: &[],
};
const RECORDS: Form = Form {
    name: "DISPLAY AUTHREC",
    keywords: &[
        "PROFILE",
        "OBJTYPE",
        "PRINCIPAL",
        "GROUP",
        "MATCH",
        "SERVCOMP",
    ],
    shown: &["ALL", "AUTHLIST", "ENTITY", "ENTTYPE"],
};
const ENTITY: Form = Form {
    name: "DISPLAY ENTAUTH",
    keywords: &["OBJNAME", "OBJTYPE", "PRINCIPAL", "GROUP", "SERVCOMP"],
    shown: &["ALL", "AUTHLIST", "ENTITY", "ENTTYPE"],
};
const SERVICE: Form = Form {
    name: "DISPLAY AUTHSERV",
    keywords: &["SERVCOMP"],
    shown: &["ALL", "IFVER", "UIDSUPP"],
};

/// What the parameters of a command said.
#[derive(Default)]
struct Parameters {
    profile: Option<(Profile, usize)>,
    object_type: Option<ObjectType>,
    entity: Option<Entity>,
    add: Option<Vec<Item>>,
    remove: Option<Vec<Item>>,
    matching: Matching,
    show: Vec<&'static str>,
    all: bool,
}

impl Parameters {
    fn read(cursor: &mut Cursor<'_>, form: &Form) -> Result<Parameters, SyntaxError> {
        let text = cursor.text;
        let mut read = Parameters::default();
        let mut given = Given::default();
        while let Some(parameter) = cursor.parameter()? {
            let mut known = form.keywords.iter().chain(form.shown);
            let keyword = known.find(|known| parameter.word.eq_ignore_ascii_case(known));
            let Some(keyword) = keyword else {
                let known = [form.keywords, form.shown].concat();
                return Err(unknown_keyword(text, form.name, &parameter, &known));
            };
            given.once(text, keyword, &parameter)?;
            let is_asked_for = form.shown.contains(keyword) && parameter.values.is_none();
            match is_asked_for {
                true if *keyword == "ALL" => read.all = true,
                true => read.show.push(keyword),
                false => read.one(text, keyword, &parameter)?,
            }
        }
        if read.all {
            read.show.clear();
        }
        Ok(read)
    }

    /// One parameter with a value.
    fn one(
        &mut self,
        text: &str,
        keyword: &str,
        parameter: &Parameter<'_>,
    ) -> Result<(), SyntaxError> {
        if let "AUTHADD" | "AUTHRMV" = keyword {
            let items = parameter.values.clone().unwrap_or_default();
            if items.is_empty() {
                parameter.one_value(text)?;
            }
            match keyword {
                "AUTHADD" => self.add = Some(items),
                _ => self.remove = Some(items),
            }
            return Ok(());
        }
        let item = parameter.one_value(text)?;
        let wrong = |detail: String| fault::syntax(text, item.start, item.end, detail);
        match keyword {
            "PROFILE" | "OBJNAME" => {
                let profile = Profile::new(&item.text).map_err(|why| {
                    fault::name(item.start, format!("{} is no profile: {why}", item.text))
                })?;
                self.profile = Some((profile, item.start));
            }
            "OBJTYPE" => {
                let called = ObjectType::called(&item.text);
                let long = called.filter(|one| one.word().eq_ignore_ascii_case(&item.text));
                let words = ObjectType::ALL.map(|one| one.word().to_uppercase());
                let detail = || format!("OBJTYPE must be one of {}", words.join(", "));
                self.object_type = Some(long.ok_or_else(|| wrong(detail()))?);
            }
            "PRINCIPAL" | "GROUP" if self.entity.is_some() => {
                return Err(wrong("either PRINCIPAL or GROUP can be given".to_owned()));
            }
            "PRINCIPAL" | "GROUP" => {
                if !Entity::can_be_called(&item.text) {
                    return Err(wrong(format!("nobody can be called '{}'", item.text)));
                }
                self.entity = Some(match keyword {
                    "GROUP" => Entity::group(&item.text),
                    _ => Entity::principal(&item.text),
                });
            }
            "MATCH" => {
                self.matching = match item.text.to_ascii_uppercase().as_str() {
                    "PROFILE" => Matching::Profile,
                    "MEMBERSHIP" => Matching::Membership,
                    "EXACT" => Matching::Exact,
                    _ => {
                        let detail = "MATCH must be one of PROFILE, MEMBERSHIP, EXACT";
                        return Err(wrong(detail.to_owned()));
                    }
                };
            }
            "SERVCOMP" if !item.text.eq_ignore_ascii_case(COMPONENT) && item.text != "*" => {
                return Err(wrong(format!("the only component is {COMPONENT}")));
            }
            "SERVCOMP" => {}
            _ => {
                let word = parameter.word.to_ascii_uppercase();
                return Err(wrong(format!("{word} has no value in parentheses")));
            }
        }
        Ok(())
    }

    /// The record that a command names.
    fn record(&self, text: &str, form: &Form) -> Result<RecordName, SyntaxError> {
        let missing = |what: &str| fault::ended(text, format!("{} needs {what}", form.name));
        let object_type = self.object_type.ok_or_else(|| missing("OBJTYPE"))?;
        let named = form.keywords.first().copied().unwrap_or_default();
        let profile = match (&self.profile, object_type) {
            // However it is called, there is one.
            (_, ObjectType::QueueManager) => Profile::new(MANAGER).ok(),
            (Some((profile, _)), _) => Some(profile.clone()),
            (None, _) => None,
        };
        let entity = self.entity.clone();
        Ok(RecordName {
            profile: profile.ok_or_else(|| missing(named))?,
            object_type,
            entity: entity.ok_or_else(|| missing("PRINCIPAL or GROUP"))?,
        })
    }
}

/// The authorities of a list, which must be about the type of object.
fn authorities(
    text: &str,
    items: Option<&[Item]>,
    object_type: ObjectType,
) -> Result<Authorities, SyntaxError> {
    let applicable = object_type.applicable();
    let mut all = Authorities::NONE;
    for item in items.unwrap_or_default() {
        let wrong = |detail| fault::syntax(text, item.start, item.end, detail);
        let Some(set) = Authorities::called(&item.text) else {
            let detail = format!("{} is not an authority", item.text);
            return Err(wrong(detail));
        };
        let single = Authority::called(&item.text).is_some();
        if single && !applicable.has(set) {
            let detail = format!("{} is not for objects of type {object_type}", item.text);
            return Err(wrong(detail));
        }
        all = all | (set & applicable);
    }
    Ok(all)
}

/// SET, DELETE and DISPLAY with their nouns, if those are about authorities.
pub(super) fn command(
    cursor: &mut Cursor<'_>,
    verb: Verb,
    noun: &Parameter<'_>,
) -> Option<Result<Command, SyntaxError>> {
    let noun_word = noun.word.to_ascii_uppercase();
    let form = match (verb, noun_word.as_str()) {
        (Verb::Set, "AUTHREC") => &SET,
        (Verb::Delete, "AUTHREC") => &DELETE,
        (Verb::Display, "AUTHREC") => &RECORDS,
        (Verb::Display, "ENTAUTH") => &ENTITY,
        (Verb::Display, "AUTHSERV") => &SERVICE,
        _ => return None,
    };
    let read = noun.bare(cursor.text).and_then(|()| read(cursor, form));
    Some(read.map(Command::Authority))
}

fn read(cursor: &mut Cursor<'_>, form: &Form) -> Result<AuthorityCommand, SyntaxError> {
    let text = cursor.text;
    let given = Parameters::read(cursor, form)?;
    Ok(match form.name {
        "SET AUTHREC" => {
            let record = given.record(text, form)?;
            if given.add.is_none() && given.remove.is_none() {
                return Err(fault::ended(
                    text,
                    "SET AUTHREC needs AUTHADD or AUTHRMV".to_owned(),
                ));
            }
            AuthorityCommand::Set {
                add: authorities(text, given.add.as_deref(), record.object_type)?,
                remove: authorities(text, given.remove.as_deref(), record.object_type)?,
                record,
            }
        }
        "DELETE AUTHREC" => AuthorityCommand::Delete {
            record: given.record(text, form)?,
        },
        "DISPLAY AUTHREC" => {
            let matching = given.matching;
            let is_group = |one: &Entity| one.kind == EntityKind::Group;
            if matching == Matching::Membership && given.entity.as_ref().is_none_or(is_group) {
                let detail = "MATCH(MEMBERSHIP) needs PRINCIPAL".to_owned();
                return Err(fault::ended(text, detail));
            }
            AuthorityCommand::Records {
                profile: given.profile.map(|(profile, _)| profile),
                object_type: given.object_type,
                entity: given.entity,
                matching,
                show: given.show,
            }
        }
        "DISPLAY ENTAUTH" => AuthorityCommand::Entity {
            record: given.record(text, form)?,
            show: given.show,
        },
        _ => AuthorityCommand::Service { show: given.show },
    })
}
