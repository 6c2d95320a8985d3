/* The public header's own example: fit and predict from C. */
#include <quorum.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    enum { N = 500, Q = 5 };
    double x[N], y[N], xq[Q] = {0.1, 0.3, 0.5, 0.7, 0.9}, mean[Q], std[Q];
    quorum_model *model = NULL;
    quorum_options *options = quorum_options_new();
    quorum_prediction out = {.mean = mean, .std = std};
    int failed = 1;
    quorum_demo_data(N, 0.0, 1.0, 0.1, 1, x, y);
    if (!options || quorum_options_set(options, "experts", "5") < 0 ||
        quorum_fit(x, y, N, 1, NULL, options, &model) < 0 ||
        quorum_predict(model, xq, Q, options, &out, NULL) < 0) {
        fprintf(stderr, "%s\n", quorum_message());
        goto done;
    }
    failed = 0;
    for (int i = 0; i < Q; i++) {
        printf("f(%.1f) = %7.4f, predicted %7.4f +- %.4f\n", xq[i], quorum_demo_function(xq[i]),
               mean[i], std[i]);
        failed |= !(fabs(mean[i] - quorum_demo_function(xq[i])) < 0.1);
    }
done:
    quorum_model_free(model);
    quorum_options_free(options);
    return failed;
}
