//! CLEAR: the messages of a queue, or what is retained for topic strings.

use crate::command::{Command, SyntaxError};
use crate::kinds::ObjectKind;

use super::cursor::{Cursor, Parameter};
use super::{Given, fault, kind_of, nothing_more, object_name, unknown_keyword};

/// What CLEAR TOPICSTR has beside the topic string, and the one value that each of them takes.
const OF_TOPICS: [(&str, &str); 2] = [("CLRTYPE", "RETAINED"), ("SCOPE", "LOCAL")];

pub(super) fn clear(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    if noun.word.eq_ignore_ascii_case("TOPICSTR") {
        return clear_topics(cursor, noun);
    }
    let kind = kind_of(cursor, "CLEAR", &[ObjectKind::QLocal], noun)?;
    let name = object_name(cursor.text, kind, noun)?;
    nothing_more(cursor, "CLEAR QLOCAL")?;
    Ok(Command::Clear { name })
}

fn clear_topics(cursor: &mut Cursor<'_>, noun: &Parameter<'_>) -> Result<Command, SyntaxError> {
    let topics = noun.one_value(cursor.text)?.text.clone();
    let mut given = Given::default();
    let mut stated = false;
    while let Some(parameter) = cursor.parameter()? {
        let known = OF_TOPICS.iter();
        let mut found = known.filter(|(word, _)| parameter.word.eq_ignore_ascii_case(word));
        let Some((word, value)) = found.next() else {
            let words = OF_TOPICS.map(|(word, _)| word);
            let command = "CLEAR TOPICSTR";
            return Err(unknown_keyword(cursor.text, command, &parameter, &words));
        };
        given.once(cursor.text, word, &parameter)?;
        let item = parameter.one_value(cursor.text)?;
        if item.text != *value {
            let detail = format!("{word} must be {value}");
            return Err(fault::syntax(cursor.text, item.start, item.end, detail));
        }
        stated |= *word == "CLRTYPE";
    }
    match stated {
        true => Ok(Command::ClearTopics { topics }),
        false => {
            let detail = "CLEAR TOPICSTR needs CLRTYPE(RETAINED)".to_owned();
            Err(fault::ended(cursor.text, detail))
        }
    }
}
