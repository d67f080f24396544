/* Loads the one program of an eBPF object with libbpf and runs it on rows.
 *
 * loader OBJECT VALUES load: prints the kernel verifier's log.
 * loader OBJECT VALUES: reads rows of VALUES little-endian u32, runs the program on each as its
 * context, prints the score and the decision of each as u32.
 *
 * Exit status 77: not permitted. */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static int fail(const char *doing, int error)
{
    fprintf(stderr, "%s: %s\n", doing, strerror(error < 0 ? -error : error));
    return error == EPERM || error == -EPERM || error == ENOSYS || error == -ENOSYS ? 77 : 1;
}

static int describe(int program)
{
    struct bpf_prog_info info;
    uint32_t size = sizeof info;
    struct utsname machine;

    memset(&info, 0, sizeof info);
    if (bpf_obj_get_info_by_fd(program, &info, &size) != 0) {
        return fail("asking for the program", errno);
    }
    uname(&machine);
    printf("%s %s, %u instructions, %u looked at by its verifier\n", machine.sysname,
           machine.release, info.xlated_prog_len / 8, info.verified_insns);
    return 0;
}

static int answer(int program, uint32_t values)
{
    uint32_t *row = calloc(values, sizeof *row);

    if (row == NULL) {
        return fail("a row", ENOMEM);
    }
    while (fread(row, sizeof *row, values, stdin) == values) {
        LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = row,
                    .ctx_size_in = (uint32_t)(values * sizeof *row));
        uint32_t answers[2];
        const int error = bpf_prog_test_run_opts(program, &run);

        if (error != 0) {
            return fail("running the program", error);
        }
        answers[0] = run.retval & 0x7fffffffu;
        answers[1] = run.retval >> 31;
        fwrite(answers, sizeof answers, 1, stdout);
    }
    free(row);
    return 0;
}

int main(int argc, char **argv)
{
    struct bpf_object *object;
    struct bpf_program *program;
    int error;

    if (argc < 3) {
        return fail("usage: loader OBJECT VALUES [load]", EINVAL);
    }
    object = bpf_object__open_file(argv[1], NULL);
    if (object == NULL) {
        return fail(argv[1], errno);
    }
    error = bpf_object__load(object);
    if (error != 0) {
        return fail("loading the program", error);
    }
    program = bpf_object__next_program(object, NULL);
    error = argc > 3 ? describe(bpf_program__fd(program))
                     : answer(bpf_program__fd(program), (uint32_t)atoi(argv[2]));
    bpf_object__close(object);
    return error;
}
