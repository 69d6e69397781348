//! The properties that a message carries: those of the MQRFH2 headers in front of its data.
//!
//! Sources: MQ reference, "MQRFH2 - Rules and formatting header 2", "Supported data types for property folders",
//! "Property specified as MQRFH2 folders".
//!
//! Invariants:
//! * What is malformed is not there; [`Properties::fault`] says what a call that has to tell of it would.
//! * Of two properties with one name the first counts.
//! * No more than a bounded length of text is read, so that what a message asks of memory and time has a bound as well.
//! * What one costs to find does not grow with how many there are: few are looked through, more are sorted once.

use std::borrow::Cow;

use crate::folder::{Element, Folder};
use crate::{ByteOrder, Chars, Md, Reason, Rfh2};

/// Folders that are of properties whatever they say of their content.
const FOLDERS: [&str; 7] = ["usr", "jms", "mcd", "mqext", "mqps", "mq", "mq_usr"];

/// Whether the text of a folder is of properties. What is malformed is of none.
pub fn is_of_properties(text: &str) -> bool {
    Folder::read(text).is_some_and(|folder| folder.is_of_properties())
}

impl Folder<'_> {
    fn is_of_properties(&self) -> bool {
        self.content == Some("properties") || FOLDERS.contains(&self.name)
    }
}

/// Bytes of folders that are read. Taken apart they take some fifty times as much memory at worst; folders behind them,
/// and one that is longer, are not there.
const LONGEST: usize = 1 << 20;

/// So many are looked through without an order.
const FEW: usize = 16;

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Property<'a> {
    /// There, without a value.
    Null,
    /// `boolean`.
    Boolean(bool),
    /// `i1`, `i2`, `i4`, `i8`.
    Integer(i64),
    /// `r4`, `r8`.
    Float(f64),
    /// `string`, and what says no type.
    Text(Cow<'a, str>),
    /// `bin.hex`.
    Bytes(Cow<'a, [u8]>),
}

/// The properties of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties<'a> {
    all: Vec<Entry<'a>>,
    /// More than a few, by name; those of one name in their order.
    sorted: Vec<u32>,
    fault: Option<Reason>,
    /// Format and encoding of the data behind the headers.
    behind: (Chars<8>, i32),
}

#[derive(Clone, Debug, PartialEq)]
struct Entry<'a> {
    folder: Cow<'a, str>,
    path: Cow<'a, str>,
    value: Property<'a>,
}

impl<'a> Properties<'a> {
    /// Those of a message with this descriptor and these data.
    pub fn of(md: &Md, data: &'a [u8]) -> Self {
        Self::of_parts(md, [data, &[]])
    }

    /// The same of data in two pieces; no header lies in both.
    pub fn of_parts(md: &Md, parts: [&'a [u8]; 2]) -> Self {
        Self::read_parts(md.format, md.encoding, parts)
    }

    /// Those in front of data of this format and encoding: of every MQRFH2 that follows directly.
    pub fn read(format: Chars<8>, encoding: i32, data: &'a [u8]) -> Self {
        Self::read_parts(format, encoding, [data, &[]])
    }

    fn read_parts(mut format: Chars<8>, mut encoding: i32, parts: [&'a [u8]; 2]) -> Self {
        let [mut data, mut rest] = parts;
        let mut properties = Properties::default();
        let mut room = LONGEST;
        while format == Chars::new("MQHRF2") {
            if data.is_empty() {
                data = std::mem::take(&mut rest);
            }
            let order = ByteOrder::of_encoding(encoding);
            let decoded = order.map(|order| Rfh2::split(data, order));
            let Some(Ok((header, folders, used))) = decoded else {
                let reason = decoded.and_then(Result::err).map(|error| error.reason);
                properties.note(reason.unwrap_or(Reason::RFH_ERROR));
                break;
            };
            for text in folders {
                let length = text.as_ref().map_or(0, |text| text.len());
                match room.checked_sub(length) {
                    Some(left) => room = left,
                    None => {
                        properties.note(Reason::RFH_FORMAT_ERROR);
                        continue;
                    }
                }
                properties.add_text(text);
            }
            (format, encoding) = (header.format, header.encoding);
            data = data.get(used..).unwrap_or_default();
        }
        properties.behind = (format, encoding);
        properties.sort();
        properties
    }

    fn sort(&mut self) {
        if self.all.len() > FEW {
            let all = &self.all;
            // Each takes some bytes of a message.
            self.sorted = (0..all.len() as u32).collect();
            self.sorted
                .sort_unstable_by_key(|at| (all[*at as usize].name(), *at));
        }
    }

    fn note(&mut self, reason: Reason) {
        self.fault.get_or_insert(reason);
    }

    fn add_text(&mut self, text: Result<Cow<'a, str>, Reason>) {
        match text {
            Ok(Cow::Borrowed(text)) => match Folder::read(text) {
                Some(folder) => self.add(folder, |entry| entry),
                None => self.note(Reason::RFH_FORMAT_ERROR),
            },
            Ok(Cow::Owned(text)) => match Folder::read(&text) {
                Some(folder) => self.add(folder, Entry::into_owned),
                None => self.note(Reason::RFH_FORMAT_ERROR),
            },
            Err(reason) => self.note(reason),
        }
    }

    fn add<'b>(&mut self, folder: Folder<'b>, keep: impl Fn(Entry<'b>) -> Entry<'a>) {
        if !folder.is_of_properties() {
            return;
        }
        for element in folder.elements {
            match value(&element) {
                Some(value) => self.all.push(keep(Entry {
                    folder: Cow::Borrowed(folder.name),
                    path: element.path,
                    value,
                })),
                None => self.note(Reason::RFH_FORMAT_ERROR),
            }
        }
    }

    /// A property by its folder and its name there, with a period between levels.
    pub fn get(&self, folder: &str, path: &str) -> Option<&Property<'a>> {
        let named = |entry: &&Entry<'a>| entry.name() == (path, folder);
        let entry = match self.sorted.is_empty() {
            true => self.all.iter().find(named)?,
            false => {
                let entry = |at: u32| self.all.get(at as usize);
                let before = |at: &u32| entry(*at).is_some_and(|e| e.name() < (path, folder));
                let first = self.sorted.partition_point(before);
                entry(*self.sorted.get(first)?).filter(named)?
            }
        };
        Some(&entry.value)
    }

    /// All of them, by folder and name, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &Property<'a>)> {
        self.all
            .iter()
            .map(|entry| (&*entry.folder, &*entry.path, &entry.value))
    }

    /// Format and encoding of what is behind the headers that they were read from.
    pub fn behind(&self) -> &(Chars<8>, i32) {
        &self.behind
    }

    /// The first thing that is malformed, as a call says it that has to: 2334 the header, 2421 a folder.
    pub fn fault(&self) -> Option<Reason> {
        self.fault
    }
}

impl Entry<'_> {
    fn name(&self) -> (&str, &str) {
        (&self.path, &self.folder)
    }

    fn into_owned<'a>(self) -> Entry<'a> {
        Entry {
            folder: Cow::Owned(self.folder.into_owned()),
            path: Cow::Owned(self.path.into_owned()),
            value: match self.value {
                Property::Null => Property::Null,
                Property::Boolean(value) => Property::Boolean(value),
                Property::Integer(value) => Property::Integer(value),
                Property::Float(value) => Property::Float(value),
                Property::Text(text) => Property::Text(Cow::Owned(text.into_owned())),
                Property::Bytes(bytes) => Property::Bytes(Cow::Owned(bytes.into_owned())),
            },
        }
    }
}

/// The value of an element; none: it is not one of its type, or its type is not known.
fn value<'a>(element: &Element<'a>) -> Option<Property<'a>> {
    if element.nil {
        return Some(Property::Null);
    }
    let text = element.text.trim();
    let integer = |low: i64, high: i64| {
        let number = text.parse().ok().filter(|n| (low..=high).contains(n))?;
        Some(Property::Integer(number))
    };
    Some(match element.data_type {
        None | Some("string") => Property::Text(element.text.clone()),
        Some("boolean") => Property::Boolean(match text {
            "1" | "true" => true,
            "0" | "false" => false,
            _ => return None,
        }),
        Some("i1") => integer(i8::MIN.into(), i8::MAX.into())?,
        Some("i2") => integer(i16::MIN.into(), i16::MAX.into())?,
        Some("i4") => integer(i32::MIN.into(), i32::MAX.into())?,
        Some("i8") => integer(i64::MIN, i64::MAX)?,
        Some("r4") => Property::Float(f64::from(text.parse::<f32>().ok()?)),
        Some("r8") => Property::Float(text.parse().ok()?),
        Some("bin.hex") => Property::Bytes(Cow::Owned(bytes(text)?)),
        Some(_) => return None,
    })
}

/// Bytes written as pairs of hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    let nibble = |digit: u8| char::from(digit).to_digit(16);
    let pair = |[high, low]: &[u8; 2]| u8::try_from(nibble(*high)? << 4 | nibble(*low)?).ok();
    match odd.is_empty() {
        true => pairs.iter().map(pair).collect(),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PointerSize;
    use crate::constants::MQENC_NATIVE;

    const RFH2: &str = "MQHRF2";

    fn message(folders: &[&str], ccsid: i32, order: ByteOrder) -> Vec<u8> {
        let header = Rfh2 {
            name_value_ccsid: ccsid,
            folders: folders.iter().map(|f| f.to_string()).collect(),
            format: Chars::new("MQSTR"),
            ..Rfh2::default()
        };
        let mut data = Vec::new();
        header.encode(&mut data, order, PointerSize::Four);
        data.extend_from_slice(b"<usr><body>1</body></usr>");
        data
    }

    fn texts(properties: &Properties<'_>) -> Vec<String> {
        let text = |(folder, path, value): (&str, &str, &Property<'_>)| match value {
            Property::Text(text) => format!("{folder}.{path}={text}"),
            other => format!("{folder}.{path}:{other:?}"),
        };
        properties.iter().map(text).collect()
    }

    /// As the Java client writes them.
    const JMS: [&str; 3] = [
        "<mcd><Msd>jms_text</Msd></mcd>",
        "<jms><Dst>queue:///Q1</Dst><Tms>1700000000000</Tms><Dlv>2</Dlv></jms>",
        "<usr><color>red</color><n dt='i4'>7</n><big dt='i8'>-9</big><yes dt='boolean'>1</yes></usr>",
    ];

    /// As programs on z/OS put them: what is text in the header is in EBCDIC, the folders are not.
    #[test]
    fn folders_are_read_behind_headers_in_ebcdic() {
        let mut data = Vec::new();
        for (format, colour) in [("MQHRF2", "red"), ("MQSTR", "blue")] {
            let header = Rfh2 {
                folders: vec![format!("<usr><{colour}>1</{colour}></usr>")],
                ..Rfh2::default()
            };
            let at = data.len();
            header.encode(&mut data, ByteOrder::Big, PointerSize::Four);
            data[at..at + 4].copy_from_slice(b"\xD9\xC6\xC8\x40");
            let format: &[u8; 8] = match format {
                "MQHRF2" => b"\xD4\xD8\xC8\xD9\xC6\xF2\x40\x40",
                _ => b"\xD4\xD8\xE2\xE3\xD9\x40\x40\x40",
            };
            data[at + 20..at + 28].copy_from_slice(format);
            data[at + 12..at + 16].copy_from_slice(&273_i32.to_be_bytes());
        }
        let read = Properties::read(Chars::new(RFH2), 273, &data);
        assert_eq!(texts(&read), ["usr.red=1", "usr.blue=1"]);
        assert_eq!(read.fault(), None);
    }

    #[test]
    fn folders_are_read_in_both_orders_and_character_sets() {
        let expected = [
            "mcd.Msd=jms_text",
            "jms.Dst=queue:///Q1",
            "jms.Tms=1700000000000",
            "jms.Dlv=2",
            "usr.color=red",
            "usr.n:Integer(7)",
            "usr.big:Integer(-9)",
            "usr.yes:Boolean(true)",
        ];
        for (order, encoding) in [(ByteOrder::Big, 273), (ByteOrder::Little, 546)] {
            for ccsid in [1208, 1200] {
                let data = message(&JMS, ccsid, order);
                let properties = Properties::read(Chars::new(RFH2), encoding, &data);
                assert_eq!(texts(&properties), expected, "{order:?} {ccsid}");
                assert_eq!(properties.fault(), None);
                assert_eq!(properties.get("usr", "n"), Some(&Property::Integer(7)));
                assert_eq!(properties.get("jms", "n"), None);
            }
        }
    }

    #[test]
    fn types_are_those_of_dt() {
        let of = |attribute: &str, text: &str| {
            let folder = format!("<usr><x {attribute}>{text}</x></usr>");
            let data = message(&[&folder], 1208, ByteOrder::NATIVE);
            let properties = Properties::read(Chars::new(RFH2), MQENC_NATIVE, &data);
            let value = properties.get("usr", "x").cloned();
            assert_eq!(
                value.is_none(),
                properties.fault() == Some(Reason::RFH_FORMAT_ERROR)
            );
            value.map(|value| format!("{value:?}"))
        };
        for (attribute, text, value) in [
            ("", " a ", Some("Text(\" a \")")),
            ("dt='string'", "", Some("Text(\"\")")),
            ("dt='boolean'", "0", Some("Boolean(false)")),
            ("dt='boolean'", "2", None),
            ("dt='i1'", "-128", Some("Integer(-128)")),
            ("dt='i1'", "128", None),
            ("dt='i2'", "32767", Some("Integer(32767)")),
            ("dt='i2'", "32768", None),
            ("dt='i4'", "2147483648", None),
            (
                "dt='i8'",
                "9223372036854775807",
                Some("Integer(9223372036854775807)"),
            ),
            ("dt='i8'", "9223372036854775808", None),
            ("dt='i4'", "x", None),
            ("dt='r4'", "1.5", Some("Float(1.5)")),
            ("dt='r8'", "1E3", Some("Float(1000.0)")),
            ("dt='r8'", "-", None),
            ("dt='bin.hex'", "0aFF", Some("Bytes([10, 255])")),
            ("dt='bin.hex'", "0aF", None),
            ("dt='bin.hex'", "zz", None),
            ("dt='other'", "1", None),
            ("xsi:nil='true'", "", Some("Null")),
        ] {
            assert_eq!(
                of(attribute, text).as_deref(),
                value,
                "{attribute} {text:?}"
            );
        }
    }

    #[test]
    fn what_is_malformed_is_not_there() {
        let folders = ["<usr><a>1</a></usr>", "<usr><b>", "<usr><c>3</c></usr>"];
        let data = message(&folders, 1208, ByteOrder::NATIVE);
        let of = |data: &[u8]| {
            let properties = Properties::read(Chars::new(RFH2), MQENC_NATIVE, data);
            (texts(&properties).join(" "), properties.fault())
        };
        assert_eq!(
            of(&data),
            ("usr.a=1 usr.c=3".into(), Some(Reason::RFH_FORMAT_ERROR))
        );
        assert_eq!(of(&data[..40]), (String::new(), Some(Reason::RFH_ERROR)));
        assert_eq!(of(b""), (String::new(), Some(Reason::RFH_ERROR)));
        // No integer order.
        let none = Properties::read(Chars::new(RFH2), 0, &data);
        assert_eq!(
            (texts(&none).len(), none.fault()),
            (0, Some(Reason::RFH_ERROR))
        );
        // A folder whose bytes are no text leaves the others.
        let mut spoilt = data.clone();
        let at = data.windows(3).position(|three| three == b"<b>").unwrap();
        spoilt[at] = 0xff;
        assert_eq!(of(&spoilt).0, "usr.a=1 usr.c=3");
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let long = format!("<usr><a>{}</a></usr>", "x".repeat(LONGEST));
        let half = format!("<usr><b>{}</b></usr>", "x".repeat(LONGEST / 2));
        let folders = [&long, &half, &half, "<usr><c>3</c></usr>"];
        let data = message(&folders, 1208, ByteOrder::NATIVE);
        let properties = Properties::read(Chars::new(RFH2), MQENC_NATIVE, &data);
        assert!(properties.get("usr", "a").is_none());
        assert!(properties.get("usr", "b").is_some());
        assert_eq!(
            properties.get("usr", "c"),
            Some(&Property::Text("3".into()))
        );
        assert_eq!(properties.all.len(), 2, "the second half is too much");
        assert_eq!(properties.fault(), Some(Reason::RFH_FORMAT_ERROR));
    }

    #[test]
    fn only_folders_of_properties_count() {
        let folders = [
            "<other><a>1</a></other>",
            "<mine content='properties'><g><a>1</a></g></mine>",
            "<mq_usr><b>2</b><b>3</b></mq_usr>",
        ];
        let data = message(&folders, 1208, ByteOrder::NATIVE);
        let properties = Properties::read(Chars::new(RFH2), MQENC_NATIVE, &data);
        assert_eq!(texts(&properties)[..2], ["mine.g.a=1", "mq_usr.b=2"]);
        let first = Property::Text("2".into());
        assert_eq!(properties.get("mq_usr", "b"), Some(&first));
        // Other formats have none, whatever they look like.
        let none = Properties::read(Chars::new("MQSTR"), MQENC_NATIVE, &data);
        assert!(none.iter().next().is_none() && none.fault().is_none());
    }

    /// Looked through for each name, these would be thousands of millions of steps.
    #[test]
    fn many_are_found_by_name_and_the_first_of_a_name_counts() {
        const COUNT: usize = 50_000;
        let element = |n: usize| format!("<p{}>{n}</p{}>", n % (COUNT / 2), n % (COUNT / 2));
        let elements: String = (0..COUNT).map(element).collect();
        let folders = [
            format!("<usr>{elements}</usr>"),
            "<jms><p7>j</p7></jms>".to_owned(),
        ];
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        let data = message(&folders, 1208, ByteOrder::NATIVE);
        let properties = Properties::read(Chars::new(RFH2), MQENC_NATIVE, &data);
        for n in 0..COUNT {
            let value = properties.get("usr", &format!("p{n}"));
            let first = Property::Text(n.to_string().into());
            assert_eq!(value, (n < COUNT / 2).then_some(&first));
        }
        let other = Property::Text("j".into());
        assert_eq!(properties.get("jms", "p7"), Some(&other));
        assert_eq!(properties.get("jms", "p8"), None);
        assert_eq!(properties.get("z", "z"), None);
    }

    #[test]
    fn headers_in_a_row_are_all_read() {
        let inner = message(&["<usr><b>2</b></usr>"], 1208, ByteOrder::Big);
        let outer = Rfh2 {
            format: Chars::new(RFH2),
            encoding: 273,
            folders: vec!["<usr><a>1</a></usr>".into()],
            ..Rfh2::default()
        };
        let mut data = Vec::new();
        outer.encode(&mut data, ByteOrder::Little, PointerSize::Four);
        data.extend_from_slice(&inner);
        let properties = Properties::read(Chars::new(RFH2), 546, &data);
        assert_eq!(texts(&properties), ["usr.a=1", "usr.b=2"]);
    }
}
