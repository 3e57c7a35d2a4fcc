// --fuse, of the tools that make models ready to run.
#ifndef KILN_TOOLS_SUPPORT_FUSION_FLAG_H_
#define KILN_TOOLS_SUPPORT_FUSION_FLAG_H_

#include "kiln/tools/support/model.h"

namespace kiln {

// What --fuse asks of PrepareModel.
Fusion FusionOfFlag();

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_FUSION_FLAG_H_
