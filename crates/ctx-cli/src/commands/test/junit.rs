//! Results of tests as `JUnit` XML, the form that build servers read.

use std::path::{Component, Path, PathBuf};

use ctx_language::Language;
use ctx_types::internal::plural;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::commands::test::{Tested, changes_to_text};
use crate::show;
use ctx_project::case::Outcome;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::unusable;

/// The name of the suite.
const SUITE: &str = "ctx test";

/// Writes one suite with a case for each folder.
///
/// The form is that of Jenkins and GitLab (`testsuites`, `testsuite`, `testcase`, `failure`, `error`). No times are
/// written, so that equal results give equal bytes.
pub(super) fn to_xml(results: &[Tested]) -> Result<Vec<u8>> {
    let errors = results.iter().filter(|tested| tested.outcome.is_err()).count();
    let failures = results.iter().filter(|tested| tested.is_failure()).count() - errors;
    let counts = [("tests", results.len()), ("failures", failures), ("errors", errors)];
    let counts = counts.map(|(name, count)| (name, count.to_string()));
    let element = |name: &'static str| {
        let mut element = BytesStart::new(name);
        element.push_attribute(("name", SUITE));
        element.extend_attributes(counts.iter().map(|(name, count)| (*name, count.as_str())));
        element
    };
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let written = (|| {
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        writer.write_event(Event::Start(element("testsuites")))?;
        writer.write_event(Event::Start(element("testsuite")))?;
        for tested in results {
            case(&mut writer, tested)?;
        }
        writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
        writer.write_event(Event::End(BytesEnd::new("testsuites")))
    })();
    written.map_err(|error| unwritten(&error))?;
    let mut xml = writer.into_inner();
    xml.push(b'\n');
    Ok(xml)
}

fn unwritten(error: &std::io::Error) -> ProjectError {
    unusable!("cannot write the results as XML: {error}", error = error.to_string())
}

fn case(writer: &mut Writer<Vec<u8>>, tested: &Tested) -> std::io::Result<()> {
    let name = allowed(&show::clean_line(&name(&tested.folder)));
    let mut element = BytesStart::new("testcase");
    element.push_attribute(("classname", SUITE));
    element.push_attribute(("name", name.as_str()));
    let Some((kind, message, details)) = fault(&tested.outcome) else {
        return writer.write_event(Event::Empty(element));
    };
    writer.write_event(Event::Start(element))?;
    let mut inner = BytesStart::new(kind);
    inner.push_attribute(("message", allowed(&message).as_str()));
    writer.write_event(Event::Start(inner))?;
    writer.write_event(Event::Text(BytesText::new(&allowed(&show::clean(&details)))))?;
    writer.write_event(Event::End(BytesEnd::new(kind)))?;
    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

/// The name of a case: its folder as it was named, and that itself by the name that it has where it lies.
fn name(folder: &Path) -> String {
    let named: PathBuf = folder.components().filter(|part| *part != Component::CurDir).collect();
    let own = match named.file_name() {
        Some(_) => None,
        None => folder.canonicalize().ok().and_then(|folder| folder.file_name().map(PathBuf::from)),
    };
    files::name(own.as_deref().unwrap_or(&named))
}

/// What is wrong with a case: the element, a line and the details.
fn fault(outcome: &Result<Outcome>) -> Option<(&'static str, String, String)> {
    match outcome {
        Ok(Outcome::Passed | Outcome::Updated { .. }) => None,
        Ok(Outcome::Differs { expected, result, changes }) => {
            let first = changes.first().map(|change| show::clean_line(&change.to_string()));
            let more = changes.len().checked_sub(1).filter(|more| *more > 0);
            let more = more.map(|more| format!(" and {}", plural(more, "more change"))).unwrap_or_default();
            let line =
                first.unwrap_or_else(|| "the context differs from the expected one".to_owned()) + &more;
            let details = changes_to_text(Language::En, changes, expected, result)
                + &show::plain_diff(expected, result);
            Some(("failure", line, details))
        }
        Ok(Outcome::New) => Some(("failure", "nothing is expected of it yet".to_owned(), String::new())),
        Err(error) => Some(("error", "cannot read the case".to_owned(), show::plain(error))),
    }
}

/// Leaves out what XML 1.0 has no way to say: control characters and two code points.
fn allowed(text: &str) -> String {
    let is_allowed =
        |c: char| matches!(c, '\t' | '\n' | '\r') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(|c| is_allowed(*c)).collect()
}
