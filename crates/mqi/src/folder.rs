//! The text of one MQRFH2 folder, which looks like XML, as elements with values.
//!
//! Only what folders are made of is known: elements, attributes, text and the references to characters (MQ reference,
//! "MQRFH2 - Rules and formatting header 2"). Declarations, comments and CDATA are not.
//!
//! Invariants:
//! * The text is gone through once, from the front; how deep elements nest is limited and costs no stack.
//! * What is given borrows from the text, unless a reference or a nested name has to be made up.

use std::borrow::Cow;

/// How deep elements may nest.
const DEEPEST: usize = 32;

/// An element that has a value, or is one.
#[derive(Debug, PartialEq)]
pub(crate) struct Element<'a> {
    /// Its name, below the folder, with a period between levels.
    pub(crate) path: Cow<'a, str>,
    /// The attribute `dt`: its type.
    pub(crate) data_type: Option<&'a str>,
    /// The attribute `xsi:nil`.
    pub(crate) nil: bool,
    /// What stands between its tags.
    pub(crate) text: Cow<'a, str>,
}

/// A folder.
#[derive(Debug, PartialEq)]
pub(crate) struct Folder<'a> {
    pub(crate) name: &'a str,
    /// The attribute `content`.
    pub(crate) content: Option<&'a str>,
    pub(crate) elements: Vec<Element<'a>>,
}

/// A tag that begins an element.
struct Opening<'a> {
    name: &'a str,
    data_type: Option<&'a str>,
    content: Option<&'a str>,
    nil: bool,
    /// It is its end too.
    empty: bool,
}

/// An element whose end has not come.
struct Open<'a> {
    opening: Opening<'a>,
    /// There was an element in it.
    group: bool,
    /// Where its text begins.
    from: usize,
}

impl<'a> Folder<'a> {
    /// Reads a folder; none: it is not well formed.
    pub(crate) fn read(text: &'a str) -> Option<Folder<'a>> {
        let mut reader = Reader { text, at: 0 };
        reader.blanks();
        let root = reader.opening()?;
        let mut folder = Folder {
            name: root.name,
            content: root.content,
            elements: Vec::new(),
        };
        if !root.empty {
            reader.elements(root, &mut folder.elements)?;
        }
        reader.blanks();
        reader.rest().is_empty().then_some(folder)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, what: &str) -> Option<()> {
        self.rest().starts_with(what).then(|| self.at += what.len())
    }

    /// Takes what comes before one of these characters, which must come.
    fn until(&mut self, ends: impl Fn(char) -> bool) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(ends)?;
        self.at += end;
        Some(&rest[..end])
    }

    fn name(&mut self) -> Option<&'a str> {
        let name = self.until(|c| c.is_whitespace() || matches!(c, '>' | '/' | '=' | '<'))?;
        (!name.is_empty()).then_some(name)
    }

    fn opening(&mut self) -> Option<Opening<'a>> {
        self.take("<")?;
        let mut opening = Opening {
            name: self.name()?,
            data_type: None,
            content: None,
            nil: false,
            empty: false,
        };
        loop {
            self.blanks();
            if self.take(">").is_some() {
                return Some(opening);
            }
            if self.take("/>").is_some() {
                opening.empty = true;
                return Some(opening);
            }
            let attribute = self.name()?;
            self.blanks();
            self.take("=")?;
            self.blanks();
            let quote = self
                .rest()
                .chars()
                .next()
                .filter(|c| matches!(c, '\'' | '"'))?;
            self.at += 1;
            let value = self.until(|c| c == quote)?;
            self.at += 1;
            match attribute {
                "dt" => opening.data_type = Some(value),
                "content" => opening.content = Some(value),
                "xsi:nil" => opening.nil = matches!(value, "true" | "1"),
                _ => {}
            }
        }
    }

    /// Reads up to the end of the root.
    fn elements(&mut self, root: Opening<'a>, elements: &mut Vec<Element<'a>>) -> Option<()> {
        let mut open = vec![Open {
            opening: root,
            group: false,
            from: self.at,
        }];
        loop {
            let at = self.at + self.rest().find('<')?;
            let text = &self.text[open.last()?.from..at];
            self.at = at;
            if self.take("</").is_some() {
                let closed = open.pop()?;
                if self.name()? != closed.opening.name {
                    return None;
                }
                self.blanks();
                self.take(">")?;
                if open.is_empty() {
                    return is_blank(text);
                }
                match closed.group {
                    true => is_blank(text)?,
                    false => elements.push(element(&open, closed.opening, text)?),
                }
                open.last_mut()?.from = self.at;
                continue;
            }
            // Between elements there is nothing: text beside them would be a mixed content.
            is_blank(text)?;
            let opening = self.opening()?;
            let outer = open.last_mut()?;
            outer.group = true;
            if opening.empty {
                outer.from = self.at;
                elements.push(element(&open, opening, "")?);
                continue;
            }
            if open.len() == DEEPEST {
                return None;
            }
            open.push(Open {
                opening,
                group: false,
                from: self.at,
            });
        }
    }
}

fn is_blank(text: &str) -> Option<()> {
    text.trim_start().is_empty().then_some(())
}

/// An element inside those that are open, of which the first is the folder.
fn element<'a>(open: &[Open<'a>], opening: Opening<'a>, text: &'a str) -> Option<Element<'a>> {
    let groups = open.get(1..)?;
    let path = match groups.is_empty() {
        true => Cow::Borrowed(opening.name),
        false => {
            let names = groups.iter().map(|group| group.opening.name);
            let names: Vec<&str> = names.chain([opening.name]).collect();
            Cow::Owned(names.join("."))
        }
    };
    Some(Element {
        path,
        data_type: opening.data_type,
        nil: opening.nil,
        text: resolved(text)?,
    })
}

/// A text with its references to characters resolved; none: one that is not known.
fn resolved(text: &str) -> Option<Cow<'_, str>> {
    let Some(first) = text.find('&') else {
        return Some(Cow::Borrowed(text));
    };
    let mut out = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(behind) = rest.strip_prefix('&') {
        let (reference, more) = behind.split_once(';')?;
        out.push(match reference {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let number = reference.strip_prefix('#')?;
                let code = match number.strip_prefix('x') {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                char::from_u32(code.ok()?)?
            }
        });
        let end = more.find('&').unwrap_or(more.len());
        out.push_str(&more[..end]);
        rest = &more[end..];
    }
    Some(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, String)>> {
        let folder = Folder::read(text)?;
        let all = folder.elements.into_iter();
        Some(all.map(|e| (e.path.into(), e.text.into())).collect())
    }

    #[track_caller]
    fn has(text: &str, elements: &[(&str, &str)]) {
        let elements = elements.iter().map(|(p, t)| (p.to_string(), t.to_string()));
        assert_eq!(read(text), Some(elements.collect()), "{text}");
    }

    #[test]
    fn elements_are_read() {
        has("<usr/>", &[]);
        has("<usr></usr>", &[]);
        has(
            " <usr > <a>1</a >\n<b> x </b></usr >  ",
            &[("a", "1"), ("b", " x ")],
        );
        has("<usr><a/><b></b></usr>", &[("a", ""), ("b", "")]);
        has(
            "<f><g><a>1</a><h><b/></h></g><c>2</c></f>",
            &[("g.a", "1"), ("g.h.b", ""), ("c", "2")],
        );
        has(
            "<u><a>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;c&amp;</a></u>",
            &[("a", "<&>\"'ABc&")],
        );
    }

    #[test]
    fn attributes_are_read() {
        let text = "<f content='properties'><a dt=\"i4\" xsi:nil = 'true' sup='x'/></f>";
        let folder = Folder::read(text).unwrap();
        assert_eq!((folder.name, folder.content), ("f", Some("properties")));
        let element = &folder.elements[0];
        assert_eq!((element.data_type, element.nil), (Some("i4"), true));
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        for text in [
            "",
            "x",
            "<",
            "<a",
            "<a>",
            "<a",
            "<a/",
            "<a b>",
            "<a b=>",
            "<a b='>",
            "<a b=c/>",
            "<a></b>",
            "<a><b></a>",
            "<a/>x",
            "<a/><b/>",
            "</a>",
            "< a/>",
            "<a>x</a>",
            "<a>x<b/></a>",
            "<a><b/>x</a>",
            "<a><b>&no;</b></a>",
            "<a><b>&amp</b></a>",
            "<a><b>&#xD800;</b></a>",
            "<a><b>&#;</b></a>",
            "<!-- --><a/>",
            "<a><b>x<c/></b></a>",
            "<a><b><c/>x</b></a>",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
        let nested = |levels: usize| format!("{}{}", "<a>".repeat(levels), "</a>".repeat(levels));
        assert!(read(&nested(DEEPEST)).is_some());
        assert!(read(&nested(DEEPEST + 1)).is_none());
        assert!(read(&nested(100_000)).is_none());
    }
}
