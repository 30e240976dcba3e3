//! Variable shorthand such as `{{$name += 1}}`.

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Span, Text, Trust, phrase};

use super::{Evaluator, is_true};
use crate::call::{self, Failure};
use crate::codes;
use crate::expansion::{Output, Writer};
use crate::number;
use crate::sillytavern::variable_store::{self, Addend};
use crate::state::Scope;
use crate::tree::{Access, Argument, Operator};

#[derive(Clone, Copy)]
struct VariableTarget<'a> {
    scope: Scope,
    name: &'a str,
    span: Span,
}

impl<'a> Evaluator<'a> {
    pub(super) fn variable(
        &mut self,
        access: Access,
        span: Span,
        argument: Option<&'a Argument>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let Access { scope, operator, name } = access;
        let place = VariableTarget { scope, name: self.source(name), span };
        let old = variable_store::read(self.state, scope, place.name);
        let needed = argument.filter(|_| needs_value(operator, old.as_ref().map(|(text, _)| &**text)));
        let value = needed.map(|argument| self.argument(argument)).transpose()?;
        match self.operate(place, operator, old, value.as_ref()) {
            Ok(Some((text, trust))) => {
                self.take_output(text.len(), span)?;
                self.has_escapes = self.has_escapes || memchr::memchr(b'\\', text.as_bytes()).is_some();
                output.push(&text, Writer::Variable { trust });
            }
            Ok(None) => {}
            Err(limit) if limit.is_limit => return Err(limit.at(span)),
            Err(failure) => {
                self.findings.add(|| failure.at(span).into_diagnostic());
                self.keep(span, value.as_slice(), |trust| Writer::Variable { trust }, output);
            }
        }
        Ok(())
    }

    fn operate(
        &mut self,
        place: VariableTarget<'a>,
        operator: Operator,
        old: Option<(Text, Trust)>,
        value: Option<&call::Argument<'_>>,
    ) -> Result<Option<(Text, Trust)>, Failure> {
        let old = old.unwrap_or((Text::default(), Trust::Preset));
        let Some(value) = value else {
            return match operator {
                Operator::Increment => self.add(place, Addend::Number(1.0), Trust::Preset).map(Some),
                Operator::Decrement => self.add(place, Addend::Number(-1.0), Trust::Preset).map(Some),
                _ => Ok(Some(old)),
            };
        };
        match operator {
            Operator::Set => self.set(place, value).map(|()| None),
            Operator::Add => self.add(place, Addend::Text(&value.text), value.trust).map(|_| None),
            Operator::Subtract => self.subtract(place, value).map(|()| None),
            Operator::Or | Operator::OrElse => Ok(Some((Text::from(value.text.as_ref()), value.trust))),
            Operator::OrSet | Operator::OrElseSet => {
                self.set(place, value)?;
                Ok(Some((Text::from(value.text.as_ref()), value.trust)))
            }
            _ => {
                let (text, trust) = old;
                let holds = compare(operator, &text, &value.text);
                Ok(Some((Text::from(if holds { "true" } else { "false" }), trust.max(value.trust))))
            }
        }
    }

    fn set(&mut self, place: VariableTarget<'a>, value: &call::Argument<'_>) -> Result<(), Failure> {
        self.state.take_output(value.text.len())?;
        self.state.set_variable(place.scope, place.name, Text::from(value.text.as_ref()), value.trust)
    }

    fn add(
        &mut self,
        place: VariableTarget<'a>,
        added: Addend<'_>,
        trust: Trust,
    ) -> Result<(Text, Trust), Failure> {
        let sum = variable_store::add(self.state, place.scope, place.name, added, trust)?;
        if let Some(finding) = sum.finding {
            self.findings.add(|| finding.at_span(place.span));
        }
        Ok((sum.text, sum.trust))
    }

    fn subtract(&mut self, place: VariableTarget<'a>, value: &call::Argument<'_>) -> Result<(), Failure> {
        let Some(less) = number::read(&value.text) else {
            let (name, value) = (excerpt(place.name), excerpt(&value.text));
            let message =
                phrase!("`{value}` is not a number; nothing is subtracted from `{name}`", value, name);
            let finding = || Diagnostic::warning(codes::NOT_A_NUMBER, message).at_span(place.span);
            self.findings.add(finding);
            return Ok(());
        };
        self.add(place, Addend::Number(-less), value.trust).map(|_| ())
    }
}

fn needs_value(operator: Operator, old: Option<&str>) -> bool {
    match operator {
        Operator::Or | Operator::OrSet => !old.is_some_and(is_true),
        Operator::OrElse | Operator::OrElseSet => old.is_none(),
        _ => operator.has_value(),
    }
}

/// `==` and `!=` compare texts. The others compare numbers and are false for other texts.
fn compare(operator: Operator, left: &str, right: &str) -> bool {
    let numbers = number::read(left).zip(number::read(right));
    let as_numbers =
        |holds: fn(&f64, &f64) -> bool| numbers.is_some_and(|(left, right)| holds(&left, &right));
    match operator {
        Operator::Equal => left == right,
        Operator::NotEqual => left != right,
        Operator::Greater => as_numbers(f64::gt),
        Operator::GreaterEqual => as_numbers(f64::ge),
        Operator::Less => as_numbers(f64::lt),
        Operator::LessEqual => as_numbers(f64::le),
        _ => false,
    }
}
