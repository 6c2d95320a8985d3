/* JSON texts: one that is read is written, on one line or several, reads again, and is then
 * written in the same bytes. */
#include "fuzz.h"

#include "archive/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 17 };

typedef struct {
    char bytes[ROOM];
    size_t size;
} page;

static int append(void *context, const char *bytes, size_t n)
{
    page *p = context;
    REQUIRE(n <= sizeof p->bytes - p->size);
    memcpy(p->bytes + p->size, bytes, n);
    p->size += n;
    return 0;
}

/* Everything that can be asked of a node and those in it; gives their number. */
static size_t look_at(const json_node *node)
{
    size_t members = 0, all = 1;
    REQUIRE(isfinite(json_as_number(node, 0.5)));
    if (json_as_text(node))
        REQUIRE(strlen(json_as_text(node)) < ROOM);
    (void)json_as_integer(node, -1);
    for (const json_node *m = json_first(node); m; m = json_next(m)) {
        REQUIRE((m->key != NULL) == json_is_object(node));
        if (m->key)
            REQUIRE(json_member(node, m->key) == m);
        all += look_at(m);
        members++;
    }
    REQUIRE(members == node->count || (node->kind != JSON_LIST && node->kind != JSON_OBJECT));
    return all;
}

static void write_tree(const json_tree *tree, unsigned indent, page *to)
{
    json_writer w = json_writer_to(append, to, indent);
    to->size = 0;
    json_put_node(&w, tree->root);
    REQUIRE(json_finish(&w) == JSON_WRITTEN);
}

static void check_again(const page *written, unsigned indent)
{
    static page again;
    json_tree tree;
    REQUIRE(json_parse(written->bytes, written->size, &tree) == QUORUM_OK);
    write_tree(&tree, indent, &again);
    REQUIRE(again.size == written->size && memcmp(again.bytes, written->bytes, again.size) == 0);
    json_free(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static page written;
    json_tree tree;
    char *text = malloc(size > 0 ? size : 1); /* of its own, so that a byte too far is seen */
    REQUIRE(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    quorum_status status = json_parse(text, size, &tree);
    free(text);
    if (status < 0) {
        require_failure(status);
        return 0;
    }
    look_at(tree.root);
    for (unsigned indent = 0; indent < 2; indent++) {
        write_tree(&tree, indent, &written);
        check_again(&written, indent);
    }
    json_free(&tree);
    return 0;
}
