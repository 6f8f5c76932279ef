//! The script of a page: one function around the files of `templates/script/`, in this order.

/// What the browser runs.
pub(super) const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("templates/script/helpers.js"),
    include_str!("templates/script/marks.js"),
    include_str!("templates/script/list.js"),
    include_str!("templates/script/figures.js"),
    include_str!("templates/script/person.js"),
    include_str!("templates/script/aspects.js"),
    include_str!("templates/script/reviews.js"),
    include_str!("templates/script/labels.js"),
    include_str!("templates/script/files.js"),
    include_str!("templates/script/address.js"),
    "})();\n",
);
