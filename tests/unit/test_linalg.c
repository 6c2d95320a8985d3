#include "linalg/packed_triangle.h"
#include "linalg/blas.h"
#include "linalg/normal.h"
#include "linalg/tiles.h"
#include "linalg/vexp.h"
#include "support.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A A' / m + I for a random A: well conditioned. */
static double *positive_definite(size_t m)
{
    double *A = random_normals(m * m, 5), *C = mem_alloc(m * m, sizeof *C);
    blas_gemm('N', 'T', m, m, m, 1.0 / (double)m, A, m, A, m, 0.0, C, m);
    for (size_t i = 0; i < m; i++)
        C[i * m + i] += 1.0;
    mem_free(A);
    return C;
}

/* Larger than the size up to which one LAPACK call does it, and no multiple of a tile. */
enum { LARGE = 1111 };

static void tiled_cholesky_equals_lapack(void **state)
{
    (void)state;
    size_t m = LARGE, minor;
    double *C = positive_definite(m), *L = mem_alloc(m * m, 8), *T = mem_alloc(m * m, 8);
    memcpy(L, C, m * m * 8);
    memcpy(T, C, m * m * 8);
    assert_int_equal(blas_cholesky(m, L, m), 0);
    assert_ok(tiles_cholesky(m, T, 3, &minor));
    assert_int_equal(minor, 0);
    for (size_t j = 0; j < m; j++)
        for (size_t i = j; i < m; i++)
            assert_close(T[j * m + i], L[j * m + i], 1e-12);
    mem_free(C);
    mem_free(L);
    mem_free(T);
}

static void tiles_do_not_depend_on_threads(void **state)
{
    (void)state;
    size_t m = LARGE, minor;
    double *C = positive_definite(m), *one = mem_alloc(m * m, 8), *many = mem_alloc(m * m, 8);
    double *inverse_one = mem_alloc_zero(m * m, 8), *inverse_many = mem_alloc_zero(m * m, 8);
    memcpy(one, C, m * m * 8);
    assert_ok(tiles_cholesky(m, one, 1, &minor));
    assert_ok(tiles_inverse(m, one, inverse_one, 1));
    for (int threads = 2; threads <= 4; threads++) {
        memcpy(many, C, m * m * 8);
        assert_ok(tiles_cholesky(m, many, threads, &minor));
        assert_memory_equal(one, many, m * m * 8);
        assert_ok(tiles_inverse(m, many, inverse_many, threads));
        assert_memory_equal(inverse_one, inverse_many, m * m * 8);
    }
    mem_free(C);
    mem_free(one);
    mem_free(many);
    mem_free(inverse_one);
    mem_free(inverse_many);
}

/* A query's prediction is a column of such products: its bits must not depend on the block. */
static void a_column_does_not_depend_on_its_company(void **state)
{
    (void)state;
    const size_t sizes[] = {7, 64, 100, 335, 501}, all = 208, few = 16;
    for (size_t s = 0; s < 25; s++) {
        size_t m = sizes[s / 5], k = sizes[s % 5];
        double *A = random_normals(m * k, 1), *B = random_normals(k * all, 2);
        double *whole = mem_alloc(m * all, 8), *part = mem_alloc(m * all, 8);
        for (const char *ta = "NT"; *ta; ta++) {
            size_t lda = *ta == 'N' ? m : k;
            blas_gemm(*ta, 'N', m, all, k, 1.0, A, lda, B, k, 0.0, whole, m);
            for (size_t c = 0; c < all; c += few)
                blas_gemm(*ta, 'N', m, few, k, 1.0, A, lda, B + c * k, k, 0.0, part + c * m, m);
            assert_memory_equal(whole, part, m * all * 8);
        }
        mem_free(A);
        mem_free(B);
        mem_free(whole);
        mem_free(part);
    }
}

static void a_vector_alone_is_solved_like_a_column(void **state)
{
    (void)state;
    size_t m = 200;
    double *L = positive_definite(m), *x = random_normals(m, 5), *y = random_normals(m, 5);
    assert_int_equal(blas_cholesky(m, L, m), 0);
    blas_solve_lower(m, 1, L, m, x, m);
    blas_solve_lower_vector(m, L, m, y);
    for (size_t i = 0; i < m; i++)
        assert_close(y[i], x[i], 1e-12);
    blas_solve_lower_transposed(m, 1, L, m, x, m);
    blas_solve_lower_transposed_vector(m, L, m, y);
    for (size_t i = 0; i < m; i++)
        assert_close(y[i], x[i], 1e-12);
    mem_free(L);
    mem_free(x);
    mem_free(y);
}

static void inverse_times_matrix_is_identity(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 127, 128, 129, 300};
    for (size_t k = 0; k < 6; k++) {
        size_t m = sizes[k], minor;
        double *C = positive_definite(m), *L = mem_alloc(m * m, 8), *P = mem_alloc(m * m, 8);
        double *inverse = mem_alloc_zero(m * m, 8);
        memcpy(L, C, m * m * 8);
        assert_ok(tiles_cholesky(m, L, 2, &minor));
        assert_ok(tiles_inverse(m, L, inverse, 2));
        blas_symm_lower(m, m, inverse, m, C, m, P, m);
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < m; i++)
                assert_close(P[j * m + i], i == j ? 1.0 : 0.0, 1e-11);
        mem_free(C);
        mem_free(L);
        mem_free(P);
        mem_free(inverse);
    }
}

static void cholesky_names_the_bad_minor(void **state)
{
    (void)state;
    size_t m = LARGE, minor;
    double *C = positive_definite(m);
    C[700 * m + 700] = -1.0;
    assert_ok(tiles_cholesky(m, C, 2, &minor));
    assert_int_equal(minor, 701);
    mem_free(C);
    double small[] = {1.0, 2.0, 2.0, 1.0};
    assert_int_equal(blas_cholesky(2, small, 2), 2);
}

static void eigenvalues_rebuild_the_matrix(void **state)
{
    (void)state;
    enum { n = 20 };
    double *C = positive_definite(n), V[n * n], values[n];
    memcpy(V, C, sizeof V);
    assert_ok(blas_eigen(n, V, n, values));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < n; k++)
                sum += values[k] * V[k * n + i] * V[k * n + j];
            assert_close(sum, C[j * n + i], 1e-12);
        }
    mem_free(C);
}

static void dot_product_is_right_for_every_length(void **state)
{
    (void)state;
    double *x = random_normals(40, 1), *y = random_normals(40, 2);
    for (size_t n = 0; n <= 40; n++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++)
            sum += x[i] * y[i];
        assert_close(vec_dot(n, x, y), sum, 1e-13);
    }
    mem_free(x);
    mem_free(y);
}

static void exponential_is_accurate_and_never_subnormal(void **state)
{
    (void)state;
    for (double x = 0.0; x > -708.0; x -= 0.00937) {
        double error = fabs(exp_nonpositive(x) / exp(x) - 1.0);
        if (error > 5e-16)
            fail_msg("exp(%.17g) is off by %g", x, error);
    }
    assert_true(exp_nonpositive(0.0) == 1.0);
    assert_true(exp_nonpositive(-708.5) == 0.0);
    assert_true(exp_nonpositive(-1e9) == 0.0);
    assert_true(exp_nonpositive(-1e300) == 0.0);
}

static void normal_quantile_inverts_the_probability(void **state)
{
    (void)state;
    assert_close(normal_quantile(0.975), 1.959963984540054, 1e-14);
    assert_close(normal_quantile(0.5), 0.0, 1e-15);
    for (double p = 1e-7; p < 1.0; p += 0.00317)
        assert_close(normal_probability(normal_quantile(p)), p, 1e-13);
    assert_close(normal_quantile(0.9999995), 4.891638475698907, 1e-10);
    assert_true(isnan(normal_quantile(0.0)) && isnan(normal_quantile(1.5)));
}

/* Leaves the process so many megabytes of address space more than it has now. */
static void limit_address_space(size_t megabytes)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_true(file && fscanf(file, "%zu", &pages) == 1);
    fclose(file);
    rlim_t limit = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)megabytes << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}), 0);
}

/* What `ask` answers in a process of its own that has so many megabytes more. */
static int answer_under(size_t megabytes, int (*ask)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        limit_address_space(megabytes);
        _exit(ask());
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* How many of four calls get their memory. */
static int calls_with_memory(void)
{
    int ready = blas_reserve(4);
    if (ready == 0 &&
        (blas_check() != QUORUM_E_MEMORY || !strstr(quorum_message(), "address space")))
        return 100;
    return ready;
}

static int sixty_four_megabytes_are_refused(void)
{
    return mmap(NULL, (size_t)64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
           MAP_FAILED;
}

static void a_lack_of_address_space_is_told(void **state)
{
    (void)state;
    if (!answer_under(1, sixty_four_megabytes_are_refused)) /* qemu-user passes over the limit */
        skip();
    assert_int_equal(answer_under(60, calls_with_memory), 0);
    assert_int_equal(answer_under(128 + 60, calls_with_memory), 1);
    assert_int_equal(answer_under(3 * 128 + 60, calls_with_memory), 3);
    assert_int_equal(answer_under(8 * 128, calls_with_memory), 4);
}

/* L a = k of b columns, for sizes around panels' and groups'; a column has the bits that it has alone. */
static void packed_triangles_solve_in_any_company(void **state)
{
    static const size_t sizes[] = {1, 7, 8, 9, 63, 64, 130}, columns[] = {1, 2, 4, 5, 6, 7, 12, 17};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            size_t m = sizes[i], b = columns[k];
            double *L = random_normals(m * m, 3), *K = random_normals(m * b, 4);
            double *solved = mem_alloc(m * b, sizeof *solved), *one = mem_alloc(m, sizeof *one);
            double *packed = mem_alloc(packed_triangle_size(m), sizeof *packed);
            double *room = mem_alloc(packed_triangle_room(m, b), sizeof *room);
            for (size_t j = 0; j < m; j++)
                L[j * m + j] = 2.0 * sqrt((double)m) + fabs(L[j * m + j]);
            packed_triangle_make(m, L, packed);
            memcpy(solved, K, m * b * sizeof *K);
            packed_triangle_solve(m, packed, b, solved, room);
            for (size_t q = 0; q < b; q++) {
                memcpy(one, K + q * m, m * sizeof *K);
                packed_triangle_solve(m, packed, 1, one, room);
                assert_memory_equal(one, solved + q * m, m * sizeof *one);
                for (size_t r = 0; r < m; r++) {
                    double sum = 0.0;
                    for (size_t j = 0; j <= r; j++)
                        sum += L[j * m + r] * one[j];
                    assert_true(fabs(sum - K[q * m + r]) < 1e-11);
                }
            }
            void *const rooms[] = {L, K, solved, one, packed, room};
            for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++)
                mem_free(rooms[r]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lack_of_address_space_is_told), /* first: before BLAS is used */
        cmocka_unit_test(tiled_cholesky_equals_lapack),
        cmocka_unit_test(tiles_do_not_depend_on_threads),
        cmocka_unit_test(a_column_does_not_depend_on_its_company),
        cmocka_unit_test(a_vector_alone_is_solved_like_a_column),
        cmocka_unit_test(packed_triangles_solve_in_any_company),
        cmocka_unit_test(inverse_times_matrix_is_identity),
        cmocka_unit_test(cholesky_names_the_bad_minor),
        cmocka_unit_test(eigenvalues_rebuild_the_matrix),
        cmocka_unit_test(dot_product_is_right_for_every_length),
        cmocka_unit_test(exponential_is_accurate_and_never_subnormal),
        cmocka_unit_test(normal_quantile_inverts_the_probability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
