use std::collections::BTreeSet;
use std::rc::Rc;

use super::file::File;
use super::object::{Dict, Object};

const MAX_DEPTH: usize = 64;

pub(super) struct PageObject {
    pub(super) contents: Vec<u32>,
    pub(super) resources: Rc<Dict>,
}

/// Lists up to `most` pages. Without a valid page tree, lists every object of type `Page`.
pub(super) fn list(file: &mut File<'_>, most: usize) -> Vec<PageObject> {
    let root = file.root.and_then(|root| file.object(root));
    let tree = root.as_ref().and_then(Object::dict).and_then(|root| root.get("Pages").cloned());
    let mut pages = Vec::new();
    if let Some(Object::Reference(tree)) = tree {
        walk(file, tree, most, &mut pages);
    }
    if pages.is_empty() {
        for number in file.numbers() {
            let page = file.object(number);
            if let Some(dict) = page.as_ref().and_then(Object::dict).filter(|dict| dict.is("Type", "Page")) {
                let resources = parents_resources(file, dict);
                pages.push(page_object(file, dict, resources));
            }
            if pages.len() >= most {
                break;
            }
        }
    }
    pages
}

fn walk(file: &File<'_>, tree: u32, most: usize, pages: &mut Vec<PageObject>) {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![(tree, 0, None)];
    while let Some((number, depth, inherited)) = waiting.pop() {
        let node = file.object(number).filter(|_| seen.insert(number) && depth < MAX_DEPTH);
        let Some(Object::Dict(dict)) = node else { continue };
        let resources = file.dict(&dict, "Resources").map(Rc::new).or(inherited);
        match file.get(&dict, "Kids") {
            Some(Object::Array(mut kids)) => {
                kids.truncate(MAX_KIDS);
                let kids = kids.into_iter().rev();
                waiting.extend(kids.filter_map(|kid| match kid {
                    Object::Reference(kid) => Some((kid, depth + 1, resources.clone())),
                    _ => None,
                }));
            }
            _ => pages.push(page_object(file, &dict, resources)),
        }
        if pages.len() >= most {
            return;
        }
    }
}

fn parents_resources(file: &File<'_>, page: &Dict) -> Option<Rc<Dict>> {
    let mut node = page.clone();
    for _ in 0..MAX_DEPTH {
        if let Some(resources) = file.dict(&node, "Resources") {
            return Some(Rc::new(resources));
        }
        node = file.dict(&node, "Parent")?;
    }
    None
}

const MAX_KIDS: usize = 10_000;

fn page_object(file: &File<'_>, dict: &Dict, inherited: Option<Rc<Dict>>) -> PageObject {
    let resources = inherited.or_else(|| file.dict(dict, "Resources").map(Rc::new)).unwrap_or_default();
    let contents = match dict.get("Contents") {
        Some(Object::Reference(number)) => match file.object(*number) {
            Some(Object::Array(list)) => references(&list),
            _ => vec![*number],
        },
        Some(Object::Array(list)) => references(list),
        _ => Vec::new(),
    };
    PageObject { contents, resources }
}

fn references(list: &[Object]) -> Vec<u32> {
    const MAX_REFERENCES: usize = 1_000;
    let number = |object: &Object| match object {
        Object::Reference(number) => Some(*number),
        _ => None,
    };
    list.iter().filter_map(number).take(MAX_REFERENCES).collect()
}
