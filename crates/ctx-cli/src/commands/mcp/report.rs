//! Reports of tools: pages of text, and JSON as resources.

use std::collections::VecDeque;

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::Value;

/// Maximum length of a page, in bytes.
const MAX_PAGE: usize = 16_000;

/// Maximum size of the JSON of a report, in bytes. Larger reports have only text.
const MAX_JSON: usize = 4 << 20;

/// Number of reports that are kept for clients.
const MAX_REPORTS: usize = 16;

/// Result of a tool.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) text: String,
    pub(super) data: ReportData,
}

/// Result of a tool for programs.
#[derive(Debug)]
pub(super) enum ReportData {
    /// Only text.
    Text,
    /// A few values. Some clients show them to the model in place of the text.
    Values(Value),
    /// JSON that clients can read as a resource.
    Resource { title: String, json: Value },
}

/// The newest reports.
#[derive(Debug, Default)]
pub(super) struct Reports {
    kept: VecDeque<KeptReport>,
    count: u64,
}

#[derive(Debug)]
struct KeptReport {
    resource: Resource,
    json: String,
}

impl Reports {
    /// Keeps the JSON of a report. Returns its resource, or `None` if it is too large.
    fn keep(&mut self, title: &str, json: &Value) -> Option<Resource> {
        let json = json.to_string();
        if json.len() > MAX_JSON {
            return None;
        }
        self.count += 1;
        let resource = Resource::new(format!("ctx://report/{}", self.count), title)
            .with_mime_type("application/json")
            .with_size(json.len() as u64);
        if self.kept.len() >= MAX_REPORTS {
            self.kept.pop_front();
        }
        self.kept.push_back(KeptReport { resource: resource.clone(), json });
        Some(resource)
    }

    /// Lists the resources, the oldest first.
    pub(super) fn resources(&self) -> Vec<Resource> {
        self.kept.iter().map(|kept| kept.resource.clone()).collect()
    }

    /// Returns the JSON of a report.
    pub(super) fn read(&self, uri: &str) -> Option<String> {
        self.kept.iter().find(|kept| kept.resource.uri == uri).map(|kept| kept.json.clone())
    }

    /// Writes a page of a report for the client. The JSON is kept with the first page.
    pub(super) fn result(&mut self, report: &Report, page: usize) -> CallToolResult {
        let pages = pages(&report.text);
        let page = page.clamp(1, pages.len());
        let resource = match &report.data {
            ReportData::Resource { title, json } if page == 1 => self.keep(title, json),
            _ => None,
        };
        let mut text = pages[page - 1].to_owned();
        if page < pages.len() {
            let (count, next) = (pages.len(), page + 1);
            text = format!("{text}\npage {page} of {count}; set `page` to {next} for more\n");
        }
        let blocks = [ContentBlock::text(text)].into_iter().chain(resource.map(ContentBlock::resource_link));
        let mut result = CallToolResult::success(blocks.collect());
        if let ReportData::Values(values) = &report.data {
            result.structured_content = Some(values.clone());
        }
        result
    }
}

/// Splits a text into pages, at line feeds if possible. Returns at least one.
fn pages(text: &str) -> Vec<&str> {
    let (mut pages, mut rest) = (Vec::new(), text);
    while rest.len() > MAX_PAGE {
        let end = (0..=MAX_PAGE).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(0);
        let end = rest[..end].rfind('\n').map_or(end, |line| line + 1);
        let (page, others) = rest.split_at(end);
        pages.push(page);
        rest = others;
    }
    if !rest.is_empty() || pages.is_empty() {
        pages.push(rest);
    }
    pages
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn splits_long_texts_at_lines() {
        let text = "a line of a report\n".repeat(2_000);
        let split = pages(&text);
        assert_eq!(split.concat(), text);
        assert!(split.len() == 3 && split.iter().all(|page| page.len() <= MAX_PAGE && page.ends_with('\n')));
        assert_eq!(pages(""), [""]);
        assert_eq!(pages(&"灯".repeat(10_000)).concat(), "灯".repeat(10_000));
    }

    #[test]
    fn keeps_the_newest_reports() {
        let mut reports = Reports::default();
        for number in 1..=20 {
            let data = ReportData::Resource { title: "r".to_owned(), json: json!(number) };
            reports.result(&Report { text: String::new(), data }, 1);
        }
        assert_eq!(reports.resources().len(), MAX_REPORTS);
        assert_eq!(reports.read("ctx://report/20").as_deref(), Some("20"));
        assert_eq!(reports.read("ctx://report/1"), None);
    }
}
