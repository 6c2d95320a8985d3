/* Sentences about cells that cannot be used, with what can be done about them by the command that
 * reads: only training data can leave columns out, only they have a target to be chosen. */
#ifndef QRM_DATA_ADVICE_H
#define QRM_DATA_ADVICE_H

#include "data/table.h"

enum { SENTENCE = 900 };

/* ", or skip such rows with --missing drop", unless that is being done. */
const char *advise_dropping(const reader *r);

/* One cell of a row, at `place` of the selected; `unit` is "line" or "row", `what` says what the cell is:
 * `cell is "abc", not a number`; `missing`: nothing, which may be filled. */
void advise_cell(const reader *r, const char *unit, size_t number, size_t place, int missing,
                 const char *what, char out[SENTENCE]);

/* A cell of text in a column of numbers, and one of a category that has no such level. */
void advise_stray_text(const reader *r, size_t line, size_t column, const char *what,
                       char out[SENTENCE]);
void advise_level(const reader *r, size_t line, size_t column, const char *what,
                  char out[SENTENCE]);

/* A cell of a column of dates, at `place` of the selected, that is none of its form; `turns`: one that
 * shows the month to come first after others that leave it open. */
void advise_date(const reader *r, size_t line, size_t place, int turns, const char *what,
                 char out[SENTENCE]);

/* A cell that is a number in another notation, which `what` says with its options. */
void advise_notation(const reader *r, size_t line, size_t column, const char *what,
                     char out[SENTENCE]);

/* Columns of text, all of them: those of the selected that are marked in is_text (n_selected),
 * at least one.  `what` is the first one's cell in the line. */
void advise_text(const reader *r, size_t line, const char *is_text, const char *what,
                 char out[SENTENCE]);

#endif
