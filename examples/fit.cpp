/* Fit, predict, save and load from C++: examples/README.md says how it is built. */
#include <quorum.hpp>

#include <cmath>
#include <cstdio>

int main(int argc, char **argv)
{
    const std::size_t rows = 500;
    std::vector<double> x(rows), y(rows), queries{0.1, 0.3, 0.5, 0.7, 0.9};
    quorum_demo_data(rows, 0.0, 1.0, 0.1, 1, x.data(), y.data());
    int failed = 0;
    try {
        quorum::options options{{"experts", "5"}, {"interval", "0.9"}};
        quorum::model model = quorum::model::fit({x, 1}, y, options);
        quorum::answer answer = model.predict({queries, 1}, options);
        for (std::size_t i = 0; i < queries.size(); i++) {
            double truth = quorum_demo_function(queries[i]);
            std::printf("f(%.1f) = %7.4f, predicted %7.4f, 90%% interval %7.4f to %7.4f\n",
                        queries[i], truth, answer.mean[i], answer.lower[i], answer.upper[i]);
            failed |= !(std::fabs(answer.mean[i] - truth) < 0.1);
        }
        if (argc > 1) {
            model.save(argv[1]);
            failed |= quorum::model::load(argv[1]).predict({queries, 1}, options).mean != answer.mean;
        }
        options.set("kernel", "sme"); // throws
        return 1;
    } catch (const quorum::error &error) {
        std::printf("refused (%s): %s\n", quorum_status_name(error.status()), error.what());
        failed |= error.status() != QUORUM_E_ARGUMENT;
    }
    return failed;
}
