/* Columns of dates in training data (dates.h): recognised by their first cells, read by one form. */
#include "columns/dates.h"

#include "base/memory.h"
#include "team/work.h"

#include <stdio.h>

static quorum_status fail_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for columns of dates");
}

/* Orders that the option leaves: dates that begin with the year can be no others. */
static int allowed_orders(const settings *s)
{
    switch (s->dates) {
    case DATES_NONE: return 0;
    case DATES_YMD: return DATE_YMD;
    case DATES_DMY: return DATE_YMD | DATE_DMY;
    case DATES_MDY: return DATE_YMD | DATE_MDY;
    default: return DATE_ORDERS;
    }
}

quorum_status dates_begin(date_columns *d, reader *r, category_columns *c, const settings *s)
{
    *d = (date_columns){.inputs = c->inputs, .used = c->used};
    if (!NEW_ZEROED(d->form, d->used))
        return fail_memory();
    TRY(reader_look_for_dates(r, allowed_orders(s), d->form));
    for (size_t i = 0; i < d->used; i++)
        if (i >= d->inputs || c->named[i])
            d->form[i].orders = 0;
        else if (d->form[i].orders != 0)
            c->of[i] = NULL;
    return QUORUM_OK;
}

void dates_free(date_columns *d)
{
    mem_free(d->form);
    *d = (date_columns){0};
}

void dates_attach(const date_columns *d, reader *r)
{
    reader_take_dates(r, d->form);
}

/* The form has had its other order taken already. */
int dates_turn(const date_columns *d, const reader *r)
{
    size_t place;
    return d->form && reader_stopped_at_date(r, &place) && reader_can_begin_anew(r);
}

static quorum_status fail_ambiguous(const reader *r, const quorum_data *data, size_t i)
{
    char made_up[32];
    snprintf(made_up, sizeof made_up, "x%zu", i + 1);
    return failure(
        QUORUM_E_DATA,
        "%s: column %.200s: its dates can all have the day first, or the month; say which "
        "with --dates dmy or --dates mdy, or take them for text with --dates none",
        reader_path(r), data->names ? data->names[i] : made_up);
}

/* The process that reads. */
typedef struct {
    const date_columns *d;
    const reader *r;
    quorum_data *data;
    size_t count; /* columns of dates */
} settling;

static quorum_status name_forms(void *context)
{
    settling *s = context;
    quorum_data *data = s->data;
    if (!NEW_ZEROED(data->date, data->inputs))
        return fail_memory();
    for (size_t i = 0; i < data->inputs; i++) {
        date_form form = s->d->form[i];
        char text[DATE_FORM_ROOM];
        if (form.orders == 0)
            continue;
        if (form.orders != date_decide(form).orders)
            return fail_ambiguous(s->r, data, i);
        date_form_text(form, text);
        if (!(data->date[i] = mem_copy_text(text)))
            return fail_memory();
        s->count++;
    }
    return QUORUM_OK;
}

static quorum_status room_for_forms(void *context)
{
    quorum_data *data = context;
    return data->date || NEW_ZEROED(data->date, data->inputs) ? QUORUM_OK : fail_memory();
}

quorum_status dates_settle(const date_columns *d, const reader *r, quorum_data *data)
{
    settling s = {.d = d, .r = r, .data = data};
    TRY(team_first(QUORUM_OK, name_forms, &s));
    team_send(&s.count, sizeof s.count);
    if (s.count == 0) {
        mem_free(data->date);
        data->date = NULL;
        return QUORUM_OK;
    }
    TRY(team_all(QUORUM_OK, room_for_forms, data));
    for (size_t i = 0; i < data->inputs; i++)
        TRY(team_send_text(QUORUM_OK, &data->date[i]));
    return QUORUM_OK;
}
