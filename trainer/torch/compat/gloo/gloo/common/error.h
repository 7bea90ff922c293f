#pragma once

// Replaces Gloo's header of this name; see ../context.h. Nothing in it is used.
