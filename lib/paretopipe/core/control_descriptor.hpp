#pragma once

namespace paretopipe {

/// The file descriptor at which a stage program finds its end of the control link. The launcher puts it there.
inline constexpr int kControlDescriptor = 3;

}  // namespace paretopipe
