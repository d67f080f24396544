/* Loads the exported XDP program, fills in the constants of its switch, and runs it on a frame for each
 * record from standard input. Prints one byte for each arrival, its verdict. Checks that constants of other
 * switches are refused. Exit status 77: not permitted.
 *
 * loader fall-back: it falls back.
 * loader OBJECT RECORD: from this record on the program of another object decides, over the pinned maps of the
 * first, which is unloaded. Exit status 5: the kernel refuses that program over these maps. */

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int program, constants_map;

static int fail(const char *doing, int error)
{
    error = error < 0 ? -error : error;
    fprintf(stderr, "%s: %s\n", doing, strerror(error));
    return error == EPERM || error == ENOSYS ? 77 : 1;
}

static int run(struct event *event, uint32_t *answer)
{
    struct event out;
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = event, .data_size_in = sizeof *event,
                .data_out = &out, .data_size_out = sizeof out);
    const int error = bpf_prog_test_run_opts(program, &options);

    *event = out;
    *answer = options.retval;
    return error;
}

static int set(const struct constants *constants)
{
    const uint32_t first = 0;

    return bpf_map_update_elem(constants_map, &first, constants, BPF_ANY);
}

/* Whether the exported script fills in these constants. */
static int are_scripted(const struct constants *constants)
{
    const uint8_t *bytes = (const uint8_t *)constants;
    FILE *script = fopen("m_decision.sh", "r");
    char word[64];
    size_t at = 0;
    unsigned byte;

    if (!script)
        return 0;
    while (fscanf(script, "%63s", word) == 1 && strcmp(word, "value") != 0)
        ;
    if (fscanf(script, "%63s", word) != 1)
        return 0;
    for (at = 0; fscanf(script, "%x", &byte) == 1; at++)
        if (at >= sizeof *constants || byte != bytes[at])
            return 0;
    fclose(script);
    return at == sizeof *constants;
}

/* Every constant but one is right. */
static int refuses_others(const struct constants *right)
{
    struct event event = {.ethertype = htons(0x88b5)};
    uint32_t answer;
    int other;

    for (other = 0; other < 5; other++) {
        struct constants constants = *right, stored;
        const uint32_t first = 0;

        constants.ports += other == 0;
        constants.queues_per_port += other == 1;
        constants.buffer_bytes += other == 2;
        constants.base_rtt_ns += other == 3;
        constants.line_rate_bps[PORTS - 1] += other == 4;
        if (set(&constants) != 0 || run(&event, &answer) != 0 || answer != XDP_ABORTED
            || bpf_map_lookup_elem(constants_map, &first, &stored) != 0
            || stored.readiness != 2u + (uint32_t)other)
            return 0;
    }
    event.ethertype = 0;
    return run(&event, &answer) == 0 && answer == XDP_PASS;
}

/* What both programs share, and where it is pinned. */
static const char *const shared[] = {"m_switch", "m_state"};
static char folder[64], pins[2][96];
static int is_mounted;

static void unpin(void)
{
    int nth;

    for (nth = 0; nth < 2; nth++)
        unlink(pins[nth]);
    if (is_mounted)
        umount(folder);
    rmdir(folder);
}

/* A folder for pins: where the system has mounted them, or a mount of its own. */
static int make_folder(void)
{
    snprintf(folder, sizeof folder, "/sys/fs/bpf/dropcast-test-%d", (int)getpid());
    if (mkdir(folder, 0700) == 0)
        return 0;
    strcpy(folder, "/tmp/dropcast-test-XXXXXX");
    if (!mkdtemp(folder))
        return -errno;
    is_mounted = mount("bpf", folder, "bpf", 0, NULL) == 0;
    return is_mounted ? 0 : -errno;
}

static int pin(const struct bpf_object *object)
{
    int nth, error = make_folder();

    if (error != 0)
        return error;
    atexit(unpin);
    for (nth = 0; nth < 2 && error == 0; nth++) {
        snprintf(pins[nth], sizeof pins[nth], "%s/%s", folder, shared[nth]);
        error = bpf_map__pin(bpf_object__find_map_by_name(object, shared[nth]), pins[nth]);
    }
    return error;
}

/* As `bpftool prog load PATH ... map name m_switch pinned ... map name m_state pinned ...` does. */
static struct bpf_object *over_pinned(const char *path)
{
    struct bpf_object *object = bpf_object__open_file(path, NULL);
    int nth;

    for (nth = 0; object && nth < 2; nth++) {
        const int map = bpf_obj_get(pins[nth]);

        if (map < 0 || bpf_map__reuse_fd(bpf_object__find_map_by_name(object, shared[nth]), map) != 0)
            exit(fail("reusing a map", errno));
        close(map);
    }
    return object;
}

int main(int argc, char **argv)
{
    const long half = argc == 3 ? atol(argv[2]) : -1;
    long records;
    struct constants constants = {
        .buffer_bytes = SWITCH_BUFFER,
        .base_rtt_ns = SWITCH_RTT,
        .line_rate_bps = {LINE_RATES},
        .ports = PORTS,
        .queues_per_port = SWITCH_QUEUES,
        .falls_back = argc == 2,
    };
    struct bpf_object *object = bpf_object__open_file("m_decision.bpf.o", NULL), *next;
    struct bpf_prog_info info;
    uint32_t record[6], size = sizeof info, answer;
    int error;

    if (!object)
        return fail("opening", errno);
    error = bpf_object__load(object);
    if (error != 0)
        return fail("loading", error);
    program = bpf_program__fd(bpf_object__find_program_by_name(object, "m_xdp"));
    constants_map = bpf_object__find_map_fd_by_name(object, "m_switch");
    memset(&info, 0, sizeof info);
    if (bpf_obj_get_info_by_fd(program, &info, &size) != 0)
        return fail("asking for the program", errno);
    fprintf(stderr, "%u instructions, %u looked at by the verifier\n", info.xlated_prog_len / 8,
            info.verified_insns);
    if (!refuses_others(&constants) || set(&constants) != 0)
        return 2;
    if (!constants.falls_back && !are_scripted(&constants))
        return 4;
    if (half >= 0 && (error = pin(object)) != 0)
        return fail("pinning maps", error);
    for (records = 0; fread(record, sizeof record, 1, stdin) == 1; records++) {
        if (records == half) {
            next = over_pinned(argv[1]);
            if (!next || bpf_object__load(next) != 0)
                return 5;
            /* Nothing of the first program is left but what is pinned. */
            bpf_object__close(object);
            object = next;
            program = bpf_program__fd(bpf_object__find_program_by_name(object, "m_xdp"));
        }
        struct event event = {
            .ethertype = htons(0x88b5),
            .port = htons((uint16_t)record[1]),
            .queue = htons((uint16_t)record[2]),
            .kind = htonl(record[0]),
            .size_bytes = htonl(record[3]),
            .time_high = htonl(record[5]),
            .time_low = htonl(record[4]),
        };
        error = run(&event, &answer);
        if (error != 0)
            return fail("running", error);
        if (record[0] == 0) {
            const uint32_t verdict = ntohl(event.kind);

            if (answer != (verdict <= 1 ? XDP_PASS : XDP_DROP))
                return 3;
            putchar((int)verdict);
        } else if (answer != XDP_PASS) {
            return 4;
        }
    }
    bpf_object__close(object);
    return 0;
}
