//! Words of `setmqaut`, which goes by their order, as the two lists of a SET AUTHREC, which has none (manual: "setmqaut (grant
//! or revoke authority)", "SET AUTHREC").
//!
//! Invariant: no authority is in both lists.

use posthaste_authority::{Authorities, ObjectType};

/// AUTHADD and AUTHRMV of a SET AUTHREC that does at once what the words do one after the other, each with whether it gives or
/// takes away: of `-all +put` that put is given and all else taken away, of `+put -all` that all is taken away. Words that
/// mean nothing for the type of object are in the lists as they are, so that the command is refused as a whole.
pub fn authority_changes(words: &[(bool, String)], object_type: &str) -> String {
    let applicable = ObjectType::called(object_type).map(ObjectType::applicable);
    let (mut given, mut taken) = (List::default(), List::default());
    for (gives, word) in words {
        let (to, from) = match gives {
            true => (&mut given, &mut taken),
            false => (&mut taken, &mut given),
        };
        let known = applicable.zip(Authorities::called(word));
        let of_type = known.map(|(applicable, set)| (set & applicable, set));
        // Of a group of authorities, those count that apply.
        match of_type.filter(|(fits, set)| fits == set || set.iter().count() > 1) {
            Some((set, _)) => {
                to.known = to.known | set;
                let left = from.known.iter();
                from.known = left.filter(|one| !set.has((*one).into())).collect();
            }
            None => to.unknown.push(word.to_uppercase()),
        }
    }
    let lists = [("AUTHADD", given.text()), ("AUTHRMV", taken.text())];
    let lists = lists.iter().filter(|(_, list)| !list.is_empty());
    let text: String = lists
        .map(|(word, list)| format!(" {word}({list})"))
        .collect();
    match text.is_empty() {
        // `+none` makes a record, with nothing in it.
        true => " AUTHADD(NONE)".to_owned(),
        false => text,
    }
}

/// What a list has.
#[derive(Default)]
struct List {
    known: Authorities,
    unknown: Vec<String>,
}

impl List {
    fn text(self) -> String {
        let words = self.known.iter().map(|one| one.word().to_uppercase());
        let words: Vec<String> = words.chain(self.unknown).collect();
        words.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_one_command_in_their_order() {
        const CASES: &str = "
            queue: +put +get => AUTHADD(GET,PUT)
            listener: -all => AUTHRMV(CHG,DLT,DSP,CTRL)
            listener: +dsp -all => AUTHRMV(CHG,DLT,DSP,CTRL)
            listener: -all +dsp +CRT => AUTHADD(CRT,DSP) AUTHRMV(CHG,DLT,CTRL)
            listener: -all +all -dsp => AUTHADD(CHG,DLT,CTRL) AUTHRMV(DSP)
            listener: +none => AUTHADD(NONE)
            listener: +allmqi => AUTHADD(NONE)
            listener: -all +dsp +put => AUTHADD(DSP,PUT) AUTHRMV(CHG,DLT,CTRL)
            listener: -frob +dsp => AUTHADD(DSP) AUTHRMV(FROB)
            nothing: -all +dsp => AUTHADD(DSP) AUTHRMV(ALL)";
        for case in CASES.trim().lines() {
            let (words, text) = case.split_once(" =>").expect("what comes of it");
            let (object_type, words) = words.split_once(": ").expect("words");
            let words = words.split(' ').map(|word| {
                let (sign, authority) = word.split_at(1);
                (sign == "+", authority.to_owned())
            });
            let words: Vec<(bool, String)> = words.collect();
            assert_eq!(
                authority_changes(&words, object_type.trim()),
                text,
                "{case}"
            );
        }
    }
}
