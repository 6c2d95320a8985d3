/* Files that the build puts into the command: what every page carries. */
#ifndef QUORUM_CLI_REPORT_ASSETS_H
#define QUORUM_CLI_REPORT_ASSETS_H

#include <stddef.h>

/* The bytes of page.css, page.js, of the plotting library, none where the build did not find it, and of
 * its licence. */
extern const unsigned char asset_style[], asset_script[], asset_library[], asset_licence[];
extern const size_t asset_style_size, asset_script_size, asset_library_size, asset_licence_size;

#endif
