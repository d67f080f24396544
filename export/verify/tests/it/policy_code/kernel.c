/* Loads the exported XDP program and runs it on a frame for each record from standard input (eight words: 0 arrival or 1
 * departure, port, queue, bytes, low and high half of the time, and of the flow's hash). Prints a byte for each arrival: 1
 * accepted, 0 dropped. Exit status 77: not permitted. */

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct event {
    uint8_t addresses[12];
    uint16_t ethertype;
    uint16_t port;
    uint16_t queue;
    uint32_t kind;
    uint32_t size_bytes;
    uint32_t time_high;
    uint32_t time_low;
    uint32_t flow_high;
    uint32_t flow_low;
} __attribute__((packed));

static int fail(const char *doing, int error)
{
    error = error < 0 ? -error : error;
    fprintf(stderr, "%s: %s\n", doing, strerror(error));
    return error == EPERM || error == ENOSYS ? 77 : 1;
}

static int run(int program, struct event *event, uint32_t *answer)
{
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = event, .data_size_in = sizeof *event);
    const int error = bpf_prog_test_run_opts(program, &options);

    *answer = options.retval;
    return error;
}

int main(void)
{
    struct bpf_object *object = bpf_object__open_file("program.bpf.o", NULL);
    if (!object) {
        return fail("open", errno);
    }
    const int loaded = bpf_object__load(object);
    if (loaded) {
        return fail("load", loaded);
    }
    const int program = bpf_program__fd(bpf_object__next_program(object, NULL));
    struct bpf_prog_info info = {0};
    uint32_t length = sizeof info, answer = 0, record[8];
    if (bpf_obj_get_info_by_fd(program, &info, &length) == 0) {
        fprintf(stderr, "kernel: %u instructions, %u looked at\n", info.xlated_prog_len / 8, info.verified_insns);
    }
    struct event nowhere = {.ethertype = htons(0x88B5), .port = htons(65535)};
    int error = run(program, &nowhere, &answer);
    if (error || answer != XDP_ABORTED) {
        return fail("a port that is none", error ? error : EINVAL);
    }
    while (fread(record, sizeof record, 1, stdin) == 1) {
        struct event event = {
            .ethertype = htons(0x88B5),
            .port = htons((uint16_t)record[1]),
            .queue = htons((uint16_t)record[2]),
            .kind = htonl(record[0]),
            .size_bytes = htonl(record[3]),
            .time_high = htonl(record[5]),
            .time_low = htonl(record[4]),
            .flow_high = htonl(record[7]),
            .flow_low = htonl(record[6]),
        };
        error = run(program, &event, &answer);
        if (error) {
            return fail("run", error);
        }
        if (record[0] == 0) {
            putchar(answer == XDP_PASS);
        } else if (answer != XDP_PASS) {
            return fail("a departure", EINVAL);
        }
    }
    return 0;
}
