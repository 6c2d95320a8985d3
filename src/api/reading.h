/* How files are read, from the options: what training data (data.c) and queries (streams.c) share. */
#ifndef QRM_API_READING_H
#define QRM_API_READING_H

#include "data/reader.h"
#include "options/options.h"

reader_options how_to_read(const quorum_options *options, reading_purpose purpose);

#endif
