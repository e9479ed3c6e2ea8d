#pragma once

namespace paretopipe {

/// What the launcher and the stage program agree on: the file descriptor under which a stage finds its end of the
/// control link.
inline constexpr int kControlDescriptor = 3;

}  // namespace paretopipe
