/* Names that a caller gives to the columns: what a model file can keep and a query can be matched by. */
#include "model/model.h"

#include "base/memory.h"
#include "data/names.h"
#include "text/text.h"
#include "io/utf8.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    char text[32];
} place;

static place name_place(size_t column, size_t inputs)
{
    place p = {"the target"};
    if (column < inputs)
        snprintf(p.text, sizeof p.text, "input %zu", column + 1);
    return p;
}

static quorum_status check_name(const char *name, place p)
{
    if (!name)
        return failure(QUORUM_E_ARGUMENT, "the name of %s is NULL", p.text);
    const char *end = name + strlen(name), *control;
    if (utf8_find_fault(name, end) != end)
        return failure(QUORUM_E_ARGUMENT, "the name of %s is not UTF-8 text", p.text);
    control = utf8_find_control(name, end);
    if (control)
        return failure(QUORUM_E_ARGUMENT,
                       "the name of %s has a control character (byte 0x%02X, place %zu): take it "
                       "out",
                       p.text, (unsigned char)*control, (size_t)(control - name) + 1);
    return QUORUM_OK;
}

static quorum_status check_names_differ(const char *const *names, size_t inputs)
{
    named_column *list;
    size_t count = inputs + 1;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(list, count))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t i = 0; i < count; i++)
        list[i] = (named_column){names[i], i, 0};
    names_sort(list, count);
    size_t twice = names_find_twice(list, count);
    if (twice < count)
        status = failure(QUORUM_E_ARGUMENT, "%s and %s are both named \"%.200s\": rename one",
                         name_place(list[twice].column, inputs).text,
                         name_place(list[twice + 1].column, inputs).text, list[twice].name);
    mem_free(list);
    return status;
}

quorum_status check_column_names(const char *const *names, size_t inputs)
{
    if (!names)
        return QUORUM_OK;
    for (size_t i = 0; i <= inputs; i++)
        TRY(check_name(names[i], name_place(i, inputs)));
    return check_names_differ(names, inputs);
}

quorum_status check_other_column(const char *const *names, size_t inputs, const char *role,
                                 const char *name)
{
    place p;
    snprintf(p.text, sizeof p.text, "%s", role);
    TRY(check_name(name, p));
    for (size_t i = 0; names && i <= inputs; i++)
        if (strcmp(names[i], name) == 0)
            return failure(QUORUM_E_ARGUMENT, "%s and %s are both named \"%.200s\": rename one",
                           name_place(i, inputs).text, role, name);
    return QUORUM_OK;
}
