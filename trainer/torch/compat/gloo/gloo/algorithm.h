#pragma once

// Stands in for Gloo's header of this name; see context.h. Nothing in it is used.
