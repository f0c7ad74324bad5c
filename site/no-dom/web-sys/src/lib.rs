//! What plotters takes from the crate of this name: a browser without a window.

use std::convert::Infallible;
use wasm_bindgen::JsCast;

/// No window, so nothing below is ever made.
pub fn window() -> Option<Window> {
    None
}

#[derive(Debug)]
pub struct Window(Infallible);

#[derive(Debug)]
pub struct Document(Infallible);

#[derive(Debug)]
pub struct Element(Infallible);

#[derive(Debug)]
pub struct HtmlElement(Infallible);

impl Window {
    pub fn document(&self) -> Option<Document> {
        None
    }
}

impl Document {
    pub fn body(&self) -> Option<HtmlElement> {
        None
    }

    pub fn create_element(&self, _: &str) -> Result<Element, Infallible> {
        match self.0 {}
    }
}

impl Element {
    pub fn set_text_content(&self, _: Option<&str>) {}

    pub fn set_attribute(&self, _: &str, _: &str) -> Result<(), Infallible> {
        match self.0 {}
    }
}

impl JsCast for Element {}

impl HtmlElement {
    pub fn append_with_node_1(&self, _: &Element) -> Result<(), Infallible> {
        match self.0 {}
    }

    pub fn offset_height(&self) -> i32 {
        match self.0 {}
    }

    pub fn offset_width(&self) -> i32 {
        match self.0 {}
    }

    pub fn remove(&self) {}
}
