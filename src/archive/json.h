/* JSON read into a tree that is only looked at (RFC 8259, strictly).
 *
 *     json_tree tree;
 *     TRY(json_parse(text, strlen(text), &tree));
 *     double scale = json_as_number(json_member(tree.root, "scale"), 1.0);
 *     json_free(&tree);
 *
 * Two blocks of memory whatever the text, and time in proportion to its length.  What cannot be
 * asked of a node, or of none (NULL), is answered as if it were absent. */
#ifndef QRM_ARCHIVE_JSON_H
#define QRM_ARCHIVE_JSON_H

#include "base/status.h"
#include "io/json_writer.h"

#include <stddef.h>
#include <stdint.h>

enum { JSON_MOST_DEPTH = 64, JSON_MOST_MEMBERS = 256 /* of one object */ };

typedef enum {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INTEGER, /* without point and exponent, within 64 bits */
    JSON_REAL,    /* every other number; finite                 */
    JSON_TEXT,
    JSON_LIST,
    JSON_OBJECT
} json_kind;

typedef struct {
    json_kind kind;
    const char *key; /* of a member of an object, else NULL             */
    size_t count;    /* members of a list or object                     */
    size_t next;     /* nodes to the next member of the same; 0: none   */
    union {
        int64_t integer;
        double real;
        const char *text; /* UTF-8, without zeros */
    } value;
} json_node;

typedef struct {
    json_node *root; /* a node, then all that is in it */
    char *text;      /* what keys and texts point into */
} json_tree;

/* Reads `length` bytes.  QUORUM_E_FORMAT, with the place, where they are not JSON: also for a key
 * that comes twice, a zero character, a number beyond the doubles, more than JSON_MOST_DEPTH levels
 * or JSON_MOST_MEMBERS members; QUORUM_E_MEMORY when memory ran out.  The text is not kept. */
quorum_status json_parse(const char *text, size_t length, json_tree *tree);
void json_free(json_tree *tree);

/* Members: one by its key, or all from the first, json_next giving NULL after the last. */
const json_node *json_member(const json_node *object, const char *key);
const json_node *json_first(const json_node *list_or_object);
const json_node *json_next(const json_node *member);

/* Members of a list; 0 of anything else. */
size_t json_list_size(const json_node *node);

double json_as_number(const json_node *node, double otherwise); /* of integers too */
int64_t json_as_integer(const json_node *node, int64_t otherwise);
const char *json_as_text(const json_node *node); /* NULL: not a text */
int json_is_true(const json_node *node);
int json_is_object(const json_node *node);

/* Writes the node and all that is in it as the next value. */
void json_put_node(json_writer *w, const json_node *node);

/* The status, with its sentence, that belongs to a writer into memory: `what` was not made. */
quorum_status json_status(json_error error, const char *what);

#endif
