//! Diagnostic codes of this crate: 1000 to 1049. They name why a request was refused, and what is odd about a folder.

use ctx_types::Code;

/// A request is not what its route takes.
pub const MALFORMED: Code = Code::new(1000, "malformed request");

/// A request has no token, or one of another run.
pub const NO_TOKEN: Code = Code::new(1001, "invalid access token");

/// The code of a link was used before, is too old, or belongs to another run.
pub const BAD_LINK: Code = Code::new(1002, "expired link");

/// A request was sent to a name that is not the page's own.
pub const FOREIGN_HOST: Code = Code::new(1003, "foreign host");

/// A request comes from another page.
pub const FOREIGN_ORIGIN: Code = Code::new(1004, "foreign origin");

/// Something was to be written where nothing may be written.
pub const READ_ONLY: Code = Code::new(1005, "read-only");

/// An edit changes a key of `ctx.toml` that the page may not set.
pub const FORBIDDEN_KEY: Code = Code::new(1006, "key not editable on the page");

/// A request is about something that is not there.
pub const NOT_FOUND: Code = Code::new(1007, "not found");

/// An edit is about a text that has changed at the same place.
pub const STALE_EDIT: Code = Code::new(1008, "edit of an older text");

/// A file has changed since it was read.
pub const STALE_FILE: Code = Code::new(1009, "file changed on disk");

/// A request, a file or a folder is more than is taken.
pub const TOO_LARGE: Code = Code::new(1010, "too large");

/// A request has another content type than its route takes.
pub const CONTENT_TYPE: Code = Code::new(1011, "wrong content type");

/// A newer preview was asked for.
pub const OLDER_PREVIEW: Code = Code::new(1012, "outdated preview");

/// An edit cannot be made in the text.
pub const REFUSED_EDIT: Code = Code::new(1013, "edit not possible");

/// A file, or what is asked for, cannot be used.
pub const UNUSABLE: Code = Code::new(1014, "request failed");

/// Too much is asked for at once.
pub const BUSY: Code = Code::new(1015, "server busy");

/// A request took too long.
pub const TOO_LONG: Code = Code::new(1016, "request timed out");

/// Unsaved edits cannot be kept beside the store.
pub const NO_JOURNAL: Code = Code::new(1017, "unsaved edits are not backed up");

/// Another `ctx studio` has the same folder open.
pub const OTHER_SERVER: Code = Code::new(1018, "folder open elsewhere");
