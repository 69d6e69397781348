//! Distinguished names of certificates, and the patterns of them that SSLPEER has.
//!
//! Rules of the patterns, from the public manual: attributes are separated by commas or semicolons, around which blanks
//! (of ASCII) mean nothing; a value may stand in quotation marks; letters match in either case (of ASCII only: other alphabets have letters that a change of
//! case makes those of ASCII, such as the sign of kelvin, and the manual says nothing of them); an asterisk at the beginning or end
//! of a value stands for any characters, and with a backslash for itself; every attribute of the pattern must be in
//! the name, and what else is in the name does not matter; several OU (or DC) are those that the name has first, in its
//! order, the highest unit first.
//!
//! Which of two patterns is more specific (manual: "Channel authentication records"): the attributes are looked at in the
//! order of the table below, and the pattern that has the first one that not both have is. Where both have it, the values
//! decide: without asterisks, with one, with two, nothing but one; then the longer; then by their letters. Of several OU
//! the more are more specific, and otherwise the highest unit decides first.
//!
//! Invariant: a pattern that was parsed demands something: nobody matches it by chance of being empty.

use std::cmp::{Ordering, Reverse};
use std::fmt;

/// Kinds of attributes that a pattern may name, those that tell more first: its spellings, and what OpenSSL calls it.
const KINDS: &[(&[&str], &str)] = &[
    (&["SERIALNUMBER"], SERIAL),
    (&["MAIL", "E"], "emailAddress"),
    (&["UID", "USERID"], "UID"),
    (&["CN"], "CN"),
    (&["T"], "title"),
    (&["OU"], "OU"),
    (&["DC"], "DC"),
    (&["O"], "O"),
    (&["STREET"], "street"),
    (&["L"], "L"),
    (&["ST", "SP", "S"], "ST"),
    (&["PC"], "postalCode"),
    (&["C"], "C"),
    (&["UNSTRUCTUREDNAME"], "unstructuredName"),
    (&["UNSTRUCTUREDADDRESS"], "unstructuredAddress"),
    (&["DNQ"], "dnQualifier"),
];
/// The certificate's serial number; it is not in its name, but patterns may ask for it.
const SERIAL: &str = "SERIALNUMBER";
/// Those that a pattern may have more than once.
const SEVERAL: &[&str] = &["OU", "DC"];

/// Whom a certificate is for, or who issued it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistinguishedName {
    /// The certificate's serial number: hexadecimal bytes with colons between them.
    pub serial: String,
    /// Kind (OpenSSL's short name) and value of each part, the highest unit first.
    pub parts: Vec<(String, String)>,
}

impl fmt::Display for DistinguishedName {
    /// As it is shown to an operator: the serial number, then the parts, the lowest first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if !self.serial.is_empty() {
            write!(f, "SERIALNUMBER={}", self.serial)?;
            separator = ",";
        }
        for (kind, value) in self.parts.iter().rev() {
            let known = KINDS.iter().find(|(_, openssl)| openssl == kind);
            let spelling = known.and_then(|(spellings, _)| spellings.first());
            let kind = spelling.copied().unwrap_or(kind);
            match value.contains([',', ';', '"']) {
                true => write!(f, "{separator}{kind}=\"{value}\"")?,
                false => write!(f, "{separator}{kind}={value}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

impl DistinguishedName {
    /// Reads a name as an operator writes it, the lowest part first, as it is shown.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<DistinguishedName, BadPattern> {
        let mut name = DistinguishedName::default();
        for part in split(text)? {
            let (kind, value) = attribute(part)?;
            let value = unquoted(value)?.to_owned();
            match kind {
                SERIAL => name.serial = value,
                kind => name.parts.push((kind.to_owned(), value)),
            }
        }
        // They are kept from the last to the first.
        name.parts.reverse();
        match name == DistinguishedName::default() {
            true => Err(BadPattern::Empty),
            false => Ok(name),
        }
    }

    /// As it is shown to an operator, without the serial number.
    pub fn parts_shown(&self) -> String {
        let parts = self.parts.clone();
        let serial = String::new();
        DistinguishedName { serial, parts }.to_string()
    }

    /// The first part of a kind, by OpenSSL's short name.
    pub fn part(&self, kind: &str) -> Option<&str> {
        let part = self.parts.iter().find(|(of, _)| of == kind);
        part.map(|(_, value)| value.as_str())
    }
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// A part is not an attribute, an equals sign and a value.
    #[error("\"{0}\" does not read ATTRIBUTE=value")]
    NoAttribute(String),
    /// An attribute that cannot be asked for.
    #[error("{0} is no attribute that can be matched")]
    UnknownAttribute(String),
    /// Only OU and DC may be there more than once.
    #[error("{0} is there more than once")]
    Twice(String),
    /// A quotation mark has no partner.
    #[error("a quotation mark is not closed")]
    OpenQuote,
    /// An asterisk stands inside a value.
    #[error("an asterisk stands inside the value \"{0}\"")]
    InnerAsterisk(String),
}

/// A value that something must match.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ValuePattern {
    /// Without asterisks, in ASCII's lower case.
    text: String,
    open_start: bool,
    open_end: bool,
}

impl ValuePattern {
    fn parse(text: &str) -> Result<ValuePattern, BadPattern> {
        let inner = || BadPattern::InnerAsterisk(text.to_owned());
        let (open_start, rest) = match text.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (open_end, rest) = match rest.strip_suffix('*') {
            Some(rest) if !rest.ends_with('\\') => (true, rest),
            _ => (false, rest),
        };
        let mut literal = String::new();
        let mut chars = rest.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' if chars.peek() == Some(&'*') => literal.extend(chars.next()),
                '*' => return Err(inner()),
                other => literal.push(other.to_ascii_lowercase()),
            }
        }
        Ok(ValuePattern {
            text: literal,
            open_start,
            open_end,
        })
    }

    /// How specific it is: how many asterisks it does without, its length, its letters.
    fn specificity(&self) -> (Reverse<u8>, usize, &str) {
        let open = match (self.open_start, self.open_end) {
            _ if self.text.is_empty() && (self.open_start || self.open_end) => 3,
            (true, true) => 2,
            (false, false) => 0,
            _ => 1,
        };
        (Reverse(open), self.text.len(), &self.text)
    }

    fn matches(&self, value: &str) -> bool {
        let value = without_blanks(value).to_ascii_lowercase();
        match (self.open_start, self.open_end) {
            (false, false) => value == self.text,
            (true, false) => value.ends_with(&self.text),
            (false, true) => value.starts_with(&self.text),
            (true, true) => value.contains(&self.text),
        }
    }
}

/// What SSLPEER demands of a partner's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerPattern {
    /// Kind, by OpenSSL's short name, and the values demanded of it, in order.
    demands: Vec<(&'static str, Vec<ValuePattern>)>,
}

impl PeerPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<PeerPattern, BadPattern> {
        let mut demands: Vec<(&'static str, Vec<ValuePattern>)> = Vec::new();
        for part in split(text)? {
            let (kind, value) = attribute(part)?;
            let value = ValuePattern::parse(unquoted(value)?)?;
            match demands.iter_mut().find(|(of, _)| *of == kind) {
                None => demands.push((kind, vec![value])),
                Some((_, values)) if SEVERAL.contains(&kind) => values.push(value),
                Some(_) => {
                    let (name, _) = part.split_once('=').unwrap_or_default();
                    return Err(BadPattern::Twice(name.to_ascii_uppercase()));
                }
            }
        }
        match demands.is_empty() {
            true => Err(BadPattern::Empty),
            false => Ok(PeerPattern { demands }),
        }
    }

    /// Which of two is more specific: that one is greater.
    pub fn specificity(&self, other: &PeerPattern) -> Ordering {
        let values = |pattern: &'_ PeerPattern, kind: &str| {
            let found = pattern.demands.iter().find(|(of, _)| *of == kind);
            let mut values = found.map_or_else(Vec::new, |(_, values)| values.clone());
            // Their highest is the last.
            if kind == "DC" {
                values.reverse();
            }
            values
        };
        let of_kind = |(_, kind): &(_, &'static str)| {
            let (ours, theirs) = (values(self, kind), values(other, kind));
            let number = ours.len().cmp(&theirs.len());
            let pairs = || ours.iter().zip(&theirs);
            number.then_with(|| {
                let mut each = pairs().map(|(a, b)| a.specificity().cmp(&b.specificity()));
                each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            })
        };
        let mut each = KINDS.iter().map(of_kind);
        each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Whether a name has all that is demanded.
    pub fn matches(&self, name: &DistinguishedName) -> bool {
        self.demands.iter().all(|(kind, demanded)| {
            let parts = name.parts.iter().filter(|(of, _)| of == kind);
            let mut values: Vec<&str> = parts.map(|(_, value)| value.as_str()).collect();
            if *kind == SERIAL {
                values = vec![&name.serial];
            }
            values.len() >= demanded.len()
                && demanded
                    .iter()
                    .zip(values)
                    .all(|(pattern, value)| pattern.matches(value))
        })
    }
}

impl fmt::Display for PeerPattern {
    /// The same for all texts that demand the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (spellings, kind) in KINDS {
            let demanded = self.demands.iter().filter(|(of, _)| of == kind);
            for value in demanded.flat_map(|(_, values)| values) {
                let spelling = spellings.first().copied().unwrap_or_default();
                let literal = value.text.replace('*', "\\*");
                let open = |is: bool| if is { "*" } else { "" };
                let (start, end) = (open(value.open_start), open(value.open_end));
                write!(f, "{separator}{spelling}=\"{start}{literal}{end}\"")?;
                separator = ",";
            }
        }
        Ok(())
    }
}

/// The kind of attribute that a part is about, and its value.
fn attribute(part: &str) -> Result<(&'static str, &str), BadPattern> {
    let no_attribute = || BadPattern::NoAttribute(part.to_owned());
    let (name, value) = part.split_once('=').ok_or_else(no_attribute)?;
    let name = name.to_ascii_uppercase();
    let mut known = KINDS.iter();
    match known.find(|(spellings, _)| spellings.contains(&name.as_str())) {
        Some((_, kind)) => Ok((kind, value)),
        None => Err(BadPattern::UnknownAttribute(name)),
    }
}

/// Without the blanks around it. Other spaces are part of a name: who may choose his own could look like somebody by them.
fn without_blanks(text: &str) -> &str {
    text.trim_matches(' ')
}

/// The parts between separators that do not stand in quotation marks.
fn split(text: &str) -> Result<Vec<&str>, BadPattern> {
    let mut parts = Vec::new();
    let (mut begin, mut quoted) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' | b';' if !quoted => {
                parts.push(without_blanks(text.get(begin..at).unwrap_or_default()));
                begin = at + 1;
            }
            _ => {}
        }
    }
    if quoted {
        return Err(BadPattern::OpenQuote);
    }
    let last = without_blanks(text.get(begin..).unwrap_or_default());
    // One separator too many at the end is no part.
    if !last.is_empty() {
        parts.push(last);
    }
    Ok(parts)
}

fn unquoted(value: &str) -> Result<&str, BadPattern> {
    let value = without_blanks(value);
    let Some(rest) = value.strip_prefix('"') else {
        return Ok(value);
    };
    rest.strip_suffix('"').ok_or(BadPattern::OpenQuote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(parts: &[(&str, &str)]) -> DistinguishedName {
        let owned = |(kind, value): &(&str, &str)| ((*kind).to_owned(), (*value).to_owned());
        DistinguishedName {
            serial: "0A:FF".to_owned(),
            parts: parts.iter().map(owned).collect(),
        }
    }

    fn matches(pattern: &str, name: &DistinguishedName) -> bool {
        PeerPattern::parse(pattern).unwrap().matches(name)
    }

    #[test]
    fn every_demand_must_be_met_and_the_rest_does_not_matter() {
        let smith = name(&[
            ("C", "GB"),
            ("ST", "Kent"),
            ("O", "IBM"),
            ("OU", "Test"),
            ("CN", "John Smith"),
        ]);
        for pattern in [
            "CN=John Smith",
            "CN=John Smith, O=IBM ,OU=Test , C=GB",
            "CN=\"John Smith\"; O=ibm;",
            "cn=JOHN SMITH",
            "CN=John*",
            "CN=*Smith",
            "CN=*hn Sm*",
            "CN=*",
            "SP=Kent",
            "S=kent",
            "SERIALNUMBER=0a:ff",
            "SERIALNUMBER=0A*,C=*",
        ] {
            assert!(matches(pattern, &smith), "{pattern}");
        }
        for pattern in [
            "CN=John",
            "CN=*John",
            "CN=Smith*",
            "CN=John Smith,L=*",
            "O=IBM,C=DE",
            "SERIALNUMBER=0A",
            "CN=",
            "CN=\"John Smith \"",
            "E=*",
        ] {
            assert!(!matches(pattern, &smith), "{pattern}");
        }
    }

    #[test]
    fn no_letter_beyond_ascii_is_one_of_ascii() {
        let bank = name(&[("CN", "bank")]);
        assert!(matches("CN=BANK", &bank));
        for other in ["ban\u{212a}", "\u{212a}*"] {
            assert!(!matches(&format!("CN={other}"), &bank), "{other}");
        }
        assert!(!matches("CN=bank", &name(&[("CN", "ban\u{212a}")])));
        assert!(!matches("CN=*bank*", &name(&[("CN", "a ban\u{212a} b")])));
    }

    /// Certificates may be had with names that look like others.
    #[test]
    fn no_space_beyond_ascii_is_a_blank() {
        let bank = name(&[("CN", "bank")]);
        assert!(matches(
            "CN= bank , O= IBM",
            &name(&[("CN", " bank "), ("O", "IBM")])
        ));
        for space in ['\u{a0}', '\u{2003}', '\u{3000}', '\u{85}', '\t', '\n'] {
            for other in [format!("bank{space}"), format!("{space}bank")] {
                let of_other = name(&[("CN", &other)]);
                for pattern in ["CN=bank", "CN=\"bank\""] {
                    assert!(!matches(pattern, &of_other), "{other:?}");
                }
                for pattern in [format!("CN={other}"), format!("CN=\"{other}\"")] {
                    assert!(!matches(&pattern, &bank), "{other:?}");
                    assert!(matches(&pattern, &of_other), "{other:?}");
                }
            }
            assert!(PeerPattern::parse(&format!("{space}CN=bank")).is_err());
        }
    }

    #[test]
    fn units_match_from_the_highest_down() {
        let units = name(&[
            ("OU", "Large Unit"),
            ("OU", "Medium Unit"),
            ("OU", "Small Unit"),
            ("CN", "x"),
        ]);
        for (pattern, expected) in [
            ("OU=Large Unit,OU=Medium Unit", true),
            ("OU=*,OU=Medium Unit,OU=Small Unit", true),
            ("OU=*,OU=Medium Unit", true),
            ("OU=Large Unit", true),
            ("OU=Medium Unit,OU=Small Unit", false),
            ("OU=Large Unit,OU=Small Unit", false),
            ("OU=Medium Unit", false),
            ("OU=Small Unit,OU=Medium Unit,OU=Large Unit", false),
            ("OU=*,OU=*,OU=*,OU=*", false),
        ] {
            assert_eq!(matches(pattern, &units), expected, "{pattern}");
        }
    }

    #[test]
    fn separators_in_quotation_marks_and_asterisks_behind_a_backslash_stand_for_themselves() {
        let odd = name(&[("O", "Bell, Book; Candle"), ("CN", "star*")]);
        assert!(matches("O=\"Bell, Book; Candle\"", &odd));
        assert!(matches("CN=star\\*", &odd));
        assert!(!matches("CN=star\\*", &name(&[("CN", "starry")])));
        assert!(matches("CN=*ta*", &odd));
        assert_eq!(
            odd.to_string(),
            "SERIALNUMBER=0A:FF,CN=star*,O=\"Bell, Book; Candle\""
        );
    }

    /// The order of the manual's table, and its rules about units; each is more generic than the next.
    #[test]
    fn the_more_specific_is_the_greater() {
        for (generic, specific) in [
            ("C=UK", "O=IBM"),
            ("O=IBM,C=UK", "CN=*"),
            ("CN=x,O=y", "UID=*"),
            ("UID=x", "MAIL=*"),
            ("MAIL=x", "SERIALNUMBER=0*"),
            ("O=IBM", "O=IBM,C=UK"),
            ("CN=*", "CN=*a*"),
            ("CN=*abc*", "CN=a*"),
            ("CN=*a", "CN=ab*"),
            ("CN=abc*", "CN=b"),
            ("CN=a", "CN=ab"),
            ("CN=a", "CN=b"),
            ("OU=Large", "OU=*,OU=*"),
            ("OU=L*,OU=Medium", "OU=Large,OU=*"),
            ("OU=Large,OU=M*", "OU=Large,OU=Medium"),
            ("DC=com,DC=*", "DC=*,DC=com"),
        ] {
            let [generic, specific] =
                [generic, specific].map(|text| PeerPattern::parse(text).unwrap());
            let order = specific.specificity(&generic);
            assert_eq!(order, Ordering::Greater, "{specific} and {generic}");
            assert_eq!(generic.specificity(&specific), Ordering::Less);
        }
    }

    #[test]
    fn a_name_reads_as_it_is_shown() {
        for text in [
            "SERIALNUMBER=0A:FF,CN=John Smith,OU=\"A, B\",OU=Top,O=IBM,C=GB",
            "CN=a",
        ] {
            let name = DistinguishedName::parse(text).unwrap();
            assert_eq!(name.to_string(), text);
        }
        let name = DistinguishedName::parse("CN=a,OU=low,OU=high").unwrap();
        assert!(matches("OU=high,OU=low", &name) && !matches("OU=low", &name));
        for wrong in ["", "John", "CN=a,X=b", "CN=\"a"] {
            assert!(DistinguishedName::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// However many parts there are: it would take minutes to move the others for each.
    #[test]
    fn the_parts_of_a_long_name_are_read_once() {
        let text = "OU=first,".to_owned() + &"OU=a,".repeat(400_000) + "CN=last";
        let name = DistinguishedName::parse(&text).unwrap();
        assert_eq!(name.parts.len(), 400_002);
        let ends = [&name.parts[0].1, &name.parts[400_001].1];
        assert_eq!(ends, ["last", "first"]);
    }

    #[test]
    fn patterns_that_demand_the_same_have_one_text() {
        let patterns = [
            "o=IBM ,CN=John*;",
            "CN=\"john*\",O=ibm",
            "CN=\"john*\",O=\"ibm\"",
        ]
        .map(|text| PeerPattern::parse(text).unwrap());
        for pattern in &patterns {
            assert_eq!(pattern.to_string(), "CN=\"john*\",O=\"ibm\"");
            assert_eq!(pattern.specificity(&patterns[0]), Ordering::Equal);
        }
        for text in ["CN=star\\*", "CN=*", "CN=*a\\**", "OU=a,OU=b"] {
            let pattern = PeerPattern::parse(text).unwrap();
            assert_eq!(PeerPattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_its_reason() {
        use BadPattern::{Empty, InnerAsterisk, NoAttribute, OpenQuote, Twice, UnknownAttribute};
        for (text, expected) in [
            ("", Empty),
            (" ; ", NoAttribute(String::new())),
            ("John Smith", NoAttribute("John Smith".into())),
            ("CN=a,,O=b", NoAttribute(String::new())),
            ("CN =a", UnknownAttribute("CN ".into())),
            ("GIVENNAME=a", UnknownAttribute("GIVENNAME".into())),
            ("CN=a,CN=b", Twice("CN".into())),
            ("ST=a,S=b", Twice("S".into())),
            ("CN=\"a", OpenQuote),
            ("CN=\"a\"b\"", OpenQuote),
            ("CN=a*b", InnerAsterisk("a*b".into())),
        ] {
            assert_eq!(PeerPattern::parse(text), Err(expected), "{text}");
        }
    }
}
