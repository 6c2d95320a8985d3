/* Lets a script call the graphical lasso:
 *
 *     glasso_probe LAMBDA [free] [tolerance=T] < matrix
 *
 * reads p and then the p x p covariance matrix as text, and prints one line
 *     status objective gap edges components iterations seconds
 * and then Omega, one row per line, every number to the last digit. */
#include "base/parallel.h"
#include "graph/glasso.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *read_matrix(size_t *p)
{
    if (scanf("%zu", p) != 1 || *p == 0 || *p > 10000)
        return NULL;
    double *S = malloc(*p * *p * sizeof *S);
    for (size_t k = 0; S && k < *p * *p; k++)
        if (scanf("%lf", &S[k]) != 1) {
            free(S);
            return NULL;
        }
    return S;
}

static glasso_options read_options(int count, char **words)
{
    glasso_options o = glasso_defaults(strtod(words[1], NULL));
    for (int k = 2; k < count; k++) {
        if (strcmp(words[k], "free") == 0)
            o.free_diagonal = 1;
        else if (strncmp(words[k], "tolerance=", 10) == 0)
            o.tolerance = strtod(words[k] + 10, NULL);
    }
    return o;
}

static void print_matrix(size_t p, const double *A)
{
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++)
            printf("%.17g%c", A[i + j * p], j + 1 < p ? ' ' : '\n');
}

int main(int count, char **words)
{
    size_t p = 0;
    double *S = count > 1 ? read_matrix(&p) : NULL, *omega = calloc(p * p + 1, sizeof *omega);
    if (!S || !omega) {
        fprintf(stderr,
                "use: glasso_probe LAMBDA [free] [tolerance=T] < \"p, then p x p numbers\"\n");
        free(S);
        free(omega);
        return 2;
    }
    glasso_options o = read_options(count, words);
    glasso_result r = {0};
    double start = wall_seconds();
    quorum_status status = glasso(p, S, &o, omega, &r);
    printf("%d %.17g %.17g %zu %zu %d %.6f\n", status, r.objective, r.gap, r.edges, r.components,
           r.iterations, wall_seconds() - start);
    if (status < 0)
        fprintf(stderr, "%s\n", quorum_message());
    print_matrix(p, omega);
    free(S);
    free(omega);
    return 0;
}
