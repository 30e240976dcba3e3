//! Typed settings: each is declared and read in one place.

/// Defines the settings of a processor, in the order of its settings page.
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $declared:expr,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name { $($(#[$doc])* pub(crate) $field: $type,)* }

        impl $name {
            pub(crate) fn read(settings: &mut ctx_pipeline::SettingsReader<'_>) -> Self {
                Self { $($field: settings.read($declared),)* }
            }
        }
    };
}

/// Defines the values of a choice: its stored name, and its label. The first is the default.
macro_rules! choices {
    ($name:ident { $($choice:ident = ($value:literal, $label:literal),)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($choice,)* }

        impl $name {
            pub(crate) const OPTIONS: &[(&str, &str)] = &[$(($value, $label),)*];
        }

        impl ctx_pipeline::SettingValue for $name {
            fn from_setting(value: &serde_json::Value, _: &ctx_pipeline::ConfigField) -> Self {
                let chosen = Self::OPTIONS.iter().position(|(known, _)| value == known);
                [$(Self::$choice),*][chosen.unwrap_or_default()]
            }
        }
    };
}

pub(crate) const ROLES: &[(&str, &str)] =
    &[("system", "System"), ("user", "User"), ("assistant", "Assistant")];

/// Describes a processor: its priority, id, name, and description, then `optional` if it is disabled by default,
/// and the flags of its [`Descriptor`](ctx_pipeline::Descriptor) that are true.
macro_rules! describe {
    ($priority:literal, $id:expr, $name:literal, $description:literal $(, $flag:ident)* $(,)?) => {
        fn descriptor(&self) -> ctx_pipeline::Descriptor {
            ctx_pipeline::Descriptor::new($id, $name, $description).with(|descriptor| {
                descriptor.priority = $priority;
                $(describe!(@$flag descriptor);)*
            })
        }
    };
    (@optional $descriptor:ident) => { $descriptor.default_enabled = false };
    (@$flag:ident $descriptor:ident) => { $descriptor.$flag = true };
}
