//! Relative links in Markdown lead to a file or folder of the repository, and `#heading` to a heading.

use crate::{Repository, Violation};

/// Short name.
pub const NAME: &str = "dead-links";

/// Finds links that lead nowhere.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in repository.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links(text) {
            if let Some(problem) = problem_with(repository, path, &target) {
                found.push(Violation::new(NAME, path, line, problem));
            }
        }
    }
    found
}

fn problem_with(repository: &Repository, from: &str, target: &str) -> Option<String> {
    let scheme = target.contains("://") || target.starts_with("mailto:");
    if scheme {
        return None;
    }
    let (file, heading) = match target.split_once('#') {
        Some((file, heading)) => (file, Some(heading)),
        None => (target, None),
    };
    let Some(path) = resolve(from, file) else {
        return Some(format!(
            "link to `{target}` leaves the repository; link to a file in it, or name the thing without a link"
        ));
    };
    if !repository.exists(&path) {
        return Some(format!(
            "link to `{target}`: there is no `{path}`; correct the link or write the page"
        ));
    }
    let heading = heading?;
    let text = repository.text(&path)?;
    (path.ends_with(".md") && !headings(text).iter().any(|known| known == heading))
        .then(|| format!("link to `{target}`: `{path}` has no heading `#{heading}`; its headings are the lower-case words joined by hyphens"))
}

/// Path from the root that `target`, written in `from`, means; `None` above the root.
fn resolve(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        from.split('/')
            .rev()
            .skip(1)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect()
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Inline links and reference definitions outside code, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose_lines(text) {
        let line = without_code_spans(line);
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            if let Some(end) = rest.find(')') {
                let target = rest[..end].split_whitespace().next().unwrap_or("");
                found.push((number, target.trim_matches(['<', '>']).to_owned()));
            }
        }
        let definition = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = definition {
            found.push((number, target.trim().to_owned()));
        }
    }
    found
}

/// Lines outside fenced code blocks, numbered from 1.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((index + 1, line))
    })
}

fn without_code_spans(line: &str) -> String {
    line.split('`')
        .enumerate()
        .map(|(index, part)| if index % 2 == 0 { part } else { "" })
        .collect()
}

/// Anchors of the headings, as code hosts make them.
fn headings(text: &str) -> Vec<String> {
    prose_lines(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(page: &str) -> Vec<usize> {
        let repository = Repository::from_files(&[
            ("docs/page.md", page),
            ("docs/other.md", "# One Two: three\n"),
            ("README.md", "# Top\n"),
        ]);
        check(&repository).iter().map(|v| v.line).collect()
    }

    #[test]
    fn live_links_are_silent() {
        let page = "# Here\n[a](other.md) [b](../README.md#top) [c](https://example.org/x.md)\n\
                    [d](#here) [e](other.md#one-two-three) [f](..) `[g](gone.md)`\n\
                    ```\n[h](gone.md)\n```\n[i](<other.md> \"title\")\n[j]: other.md\n";
        assert_eq!(problems(page), []);
    }

    #[test]
    fn dead_links_fire() {
        let page =
            "[a](gone.md)\n\n[b](../../above.md)\n[c](#nothing)\n[d](other.md#no)\n[e]: gone.md\n";
        assert_eq!(problems(page), [1, 3, 4, 5, 6]);
    }
}
