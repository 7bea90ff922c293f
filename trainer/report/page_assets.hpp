#pragma once

#include "hpcboot/encode.hpp"

namespace hpcboot::report {

/// The style of the page. Wide parts scroll within the page, so that it fits any window.
Encoded page_style();

/// Sorts and filters the table of runs, and opens the details that a link names. Without it the
/// page shows the same.
Encoded page_script();

/// SHA-256 of the script, in base64: the page lets browsers run no other. `openssl dgst -sha256
/// -binary | base64` prints it, and a browser names the one that it expects.
Encoded page_script_hash();

}  // namespace hpcboot::report
