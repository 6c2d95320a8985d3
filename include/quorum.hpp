/* quorum for C++17: the C API (quorum.h) with owners that free, and exceptions for statuses.
 *
 *     quorum::options options{{"experts", "20"}};
 *     quorum::model model = quorum::model::fit({X, rows, inputs}, y, options);
 *     quorum::answer answer = model.predict({Xq, queries, inputs}, options);
 *     use(answer.mean[0], answer.std[0]);
 *
 * Header only: link with libquorum.  All else of quorum.h can be called with get(), and
 * quorum::check(status) throws for it. */
#ifndef QUORUM_HPP
#define QUORUM_HPP

#include "quorum.h"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace quorum {

/* A negative status, with the library's sentence. */
class error : public std::runtime_error {
public:
    explicit error(quorum_status status, const char *sentence = quorum_message())
        : std::runtime_error(sentence), status_(status) {}
    quorum_status status() const noexcept { return status_; }

private:
    quorum_status status_;
};

/* Throws for a failure; a numerical event with a usable result is returned. */
inline quorum_status check(quorum_status status)
{
    if (status < 0)
        throw error(status);
    return status;
}

/* Numbers of the caller's, rows x columns, one row an observation: they are looked at, not kept. */
struct matrix {
    const double *data;
    std::size_t rows, columns;
    matrix(const double *values, std::size_t count, std::size_t width)
        : data(values), rows(count), columns(width) {}
    matrix(const std::vector<double> &values, std::size_t width)
        : data(values.data()), rows(width ? values.size() / width : 0), columns(width)
    {
        if (rows * columns != values.size())
            throw error(QUORUM_E_ARGUMENT, "the values do not fill rows of so many columns");
    }
};

class options {
public:
    options() : handle_(quorum_options_new())
    {
        if (!handle_)
            throw std::bad_alloc();
    }
    options(std::initializer_list<std::pair<const char *, std::string>> values) : options()
    {
        for (const auto &value : values)
            set(value.first, value.second);
    }
    options &set(const std::string &name, const std::string &value)
    {
        check(quorum_options_set(get(), name.c_str(), value.c_str()));
        return *this;
    }
    quorum_options *get() const noexcept { return handle_.get(); }

private:
    struct release {
        void operator()(quorum_options *o) const noexcept { quorum_options_free(o); }
    };
    std::unique_ptr<quorum_options, release> handle_;
};

/* One value a query, in the target's units. */
struct answer {
    std::vector<double> mean, std, lower, upper;
    quorum_report report{};
    explicit answer(std::size_t n) : mean(n), std(n), lower(n), upper(n) {}
};

/* Moved, not copied.  Many threads may call what is const at once. */
class model {
public:
    static model fit(const matrix &X, const std::vector<double> &y, const options &o = options())
    {
        if (y.size() != X.rows)
            throw error(QUORUM_E_ARGUMENT, "there are not as many targets as rows");
        quorum_model *made = nullptr;
        quorum_status status =
            check(quorum_fit(X.data, y.data(), X.rows, X.columns, nullptr, o.get(), &made));
        return model(made, status);
    }
    static model load(const std::string &path, const options &o = options())
    {
        quorum_model *made = nullptr;
        quorum_status status = check(quorum_load_with(path.c_str(), o.get(), &made));
        return model(made, status);
    }
    void save(const std::string &path) const { check(quorum_save(get(), path.c_str())); }

    answer predict(const matrix &X, const options &o = options()) const
    {
        if (X.columns != info().inputs)
            throw error(QUORUM_E_ARGUMENT, "the queries have not as many columns as the model has inputs");
        answer out(X.rows);
        quorum_prediction arrays{};
        arrays.mean = out.mean.data();
        arrays.std = out.std.data();
        arrays.lower = out.lower.data();
        arrays.upper = out.upper.data();
        check(quorum_predict(get(), X.data, X.rows, o.get(), &arrays, &out.report));
        return out;
    }
    /* Its pointers live as long as the model. */
    quorum_info info() const
    {
        quorum_info found{};
        check(quorum_inspect(get(), &found));
        return found;
    }
    quorum_status status() const noexcept { return status_; } /* of the fit: QUORUM_AT_BOUND, ... */
    quorum_model *get() const noexcept { return handle_.get(); }

private:
    struct release {
        void operator()(quorum_model *m) const noexcept { quorum_model_free(m); }
    };
    model(quorum_model *made, quorum_status status) : handle_(made), status_(status) {}
    std::unique_ptr<quorum_model, release> handle_;
    quorum_status status_;
};

} // namespace quorum
#endif /* QUORUM_HPP */
