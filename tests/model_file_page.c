/* docs/model-file.md from stdin to stdout, its tables made anew from those of src/model/members.c:
 * what stands between "<!-- arrays -->" or "<!-- values -->" and "<!-- end -->". */
#include "model/members.h"

#include <stdio.h>
#include <string.h>

/* '|' would end a cell of the table. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
}

static void print_shape(const array_member *a)
{
    static const char *const letter[SIDES] = {
        [SIDE_ROWS] = "n",        [SIDE_INPUTS] = "D",   [SIDE_EXPERTS] = "M",
        [SIDE_OFFSETS] = "M + 1", [SIDE_EXTRAS] = "k",   [SIDE_REFERENCES] = "r",
        [SIDE_HELD_OUT] = "h",    [SIDE_LINE] = "D + 1", [SIDE_CELLS] = "c"};
    printf("%s (", a->type == INDICES ? "i8" : "f8");
    for (int k = 0; k < 2 && a->side[k] != NO_SIDE; k++)
        printf("%s%s", k > 0 ? ", " : "", letter[a->side[k]]);
    printf(")");
}

static void print_arrays(void)
{
    static const char *const when[PRESENCES] = {
        [WITH_OVERLAP] = "only after `fit --overlap`: ",
        [WITH_SCALES] = "only of a kernel with several scales: ",
        [WITH_CALIBRATION] = "only after `fit --calibrate`: ",
        [WITH_SIGNED_RATIOS] = "only after `fit --calibrate`: ",
        [WITH_CELLS] = "only where `method_choice` says cells: "};
    printf("| member | type, shape | meaning | checked |\n|---|---|---|---|\n");
    for (int i = 0; i < ARRAYS; i++) {
        const array_member *a = &array_members[i];
        printf("| `%s` | ", a->name);
        print_shape(a);
        printf(" | %s", when[a->when] ? when[a->when] : "");
        print_cell(a->doc);
        printf(" | %s |\n", a->allowed ? a->allowed : a->type == INDICES ? "not negative" : "");
    }
}

static void print_values(void)
{
    static const char *const kind[] = {[NUMBER] = "number",
                                       [INTEGER] = "integer",
                                       [COUNT] = "integer",
                                       [FLAG] = "true or false",
                                       [TEXT] = "text"};
    printf("| key | value | meaning |\n|---|---|---|\n");
    for (int i = 0; i < META_MEMBERS; i++) {
        const meta_member *v = &meta_members[i];
        printf("| `%s%s%s` | %s | ", v->object ? v->object : "", v->object ? "." : "", v->key,
               v->type == OWN ? v->kind : kind[v->type]);
        print_cell(v->doc);
        printf(" |\n");
    }
}

int main(void)
{
    char line[4096];
    int inside = 0;
    while (fgets(line, sizeof line, stdin)) {
        inside = inside && strcmp(line, "<!-- end -->\n") != 0;
        if (inside)
            continue;
        fputs(line, stdout);
        int arrays = strcmp(line, "<!-- arrays -->\n") == 0;
        inside = arrays || strcmp(line, "<!-- values -->\n") == 0;
        if (inside)
            arrays ? print_arrays() : print_values();
    }
    return ferror(stdin) || fflush(stdout) != 0;
}
