/* Attaches the exported XDP programs of two models, which share their maps, to a network interface by turns, while frames come in there.
 *
 * loader OBJECT: sends a frame for each record from standard input into an interface of its own, where m_decision.bpf.o decides, and
 * OBJECT takes its place and it OBJECT's, at least once in PACKETS_A_TURN records. Prints one byte for each arrival: 1 if the frame
 * was passed on, else 0. Exit status 77: not permitted. */

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PACKETS_A_TURN = 500, TYPE = 0x88b5 };

/* Too short to describe a packet, so it is always passed on: what was sent before it has been decided about. */
struct end {
    uint8_t addresses[12];
    uint16_t ethertype;
    uint16_t unused;
};

static const char *const shared[] = {"m_switch", "m_state"};
static int programs[2], interface;
static long turns;
static int is_over, problem;

static int fail(const char *doing, int error)
{
    error = error < 0 ? -error : error;
    fprintf(stderr, "%s: %s\n", doing, strerror(error));
    return error == EPERM || error == EACCES || error == ENOENT || error == ENODEV || error == ENOSYS ? 77 : 1;
}

/* An interface in a network of its own: what is written into the file comes in there. */
static int made_interface(int *file)
{
    struct ifreq request;
    int asked;

    if (unshare(CLONE_NEWNET) != 0)
        return fail("a network of its own", errno);
    *file = open("/dev/net/tun", O_RDWR);
    memset(&request, 0, sizeof request);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    strcpy(request.ifr_name, "dropcast0");
    if (*file < 0 || ioctl(*file, TUNSETIFF, &request) != 0)
        return fail("an interface", errno);
    asked = socket(AF_INET, SOCK_DGRAM, 0);
    request.ifr_flags = IFF_UP;
    if (asked < 0 || ioctl(asked, SIOCSIFFLAGS, &request) != 0)
        return fail("starting the interface", errno);
    close(asked);
    interface = (int)if_nametoindex("dropcast0");
    return 0;
}

/* Hears the frames that are passed on. */
static int made_listener(void)
{
    const struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(TYPE), .sll_ifindex = interface};
    const int listener = socket(AF_PACKET, SOCK_RAW, 0);

    if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) != 0)
        exit(fail("listening", errno));
    return listener;
}

/* Loads both programs, the second with the maps of the first, and fills in the constants of the switch. */
static int load(const char *next, const struct constants *constants)
{
    struct bpf_object *const objects[2] = {bpf_object__open_file("m_decision.bpf.o", NULL), bpf_object__open_file(next, NULL)};
    const uint32_t first = 0;
    int nth, error;

    for (nth = 0; nth < 2; nth++) {
        int map;

        if (!objects[nth])
            return fail("opening", errno);
        for (map = 0; nth == 1 && map < 2; map++) {
            const int before = bpf_object__find_map_fd_by_name(objects[0], shared[map]);

            if (bpf_map__reuse_fd(bpf_object__find_map_by_name(objects[1], shared[map]), before) != 0)
                return fail("reusing a map", errno);
        }
        error = bpf_object__load(objects[nth]);
        if (error != 0)
            return fail("loading", error);
        programs[nth] = bpf_program__fd(bpf_object__find_program_by_name(objects[nth], "m_xdp"));
    }
    error = bpf_map_update_elem(bpf_object__find_map_fd_by_name(objects[0], shared[0]), &first, constants, BPF_ANY);
    if (error == 0 && bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
        error = -errno;
    return error == 0 ? 0 : fail("preparing", error);
}

static void *takes_turns(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        const int error = bpf_xdp_attach(interface, programs[(turns + 1) % 2], 0, NULL);

        if (error != 0)
            __atomic_store_n(&problem, error, __ATOMIC_RELEASE);
        __atomic_add_fetch(&turns, 1, __ATOMIC_RELEASE);
    }
    return unused;
}

/* How often the kernel has run a program. */
static unsigned long long runs(int program)
{
    struct bpf_prog_info info;
    uint32_t size = sizeof info;

    memset(&info, 0, sizeof info);
    return bpf_obj_get_info_by_fd(program, &info, &size) == 0 ? info.run_cnt : 0;
}

/* Whether the frame is passed on. */
static int is_passed(int file, int listener, const struct event *event)
{
    const struct end end = {.ethertype = htons(TYPE)};
    struct event heard;
    int passed = 0;

    if (write(file, event, sizeof *event) != sizeof *event || write(file, &end, sizeof end) != sizeof end)
        exit(fail("sending", errno));
    for (;;) {
        const ssize_t size = recv(listener, &heard, sizeof heard, 0);

        if (size == sizeof end)
            return passed;
        if (size != sizeof heard)
            exit(fail("hearing", errno));
        passed++;
    }
}

int main(int argc, char **argv)
{
    const struct constants constants = {
        .buffer_bytes = SWITCH_BUFFER,
        .base_rtt_ns = SWITCH_RTT,
        .line_rate_bps = {LINE_RATES},
        .ports = PORTS,
        .queues_per_port = SWITCH_QUEUES,
    };
    uint32_t record[6];
    unsigned long long records, ran[2];
    int file, listener, error;
    pthread_t thread;

    error = argc == 2 ? load(argv[1], &constants) : 2;
    if (error == 0)
        error = made_interface(&file);
    if (error != 0)
        return error;
    listener = made_listener();
    error = bpf_xdp_attach(interface, programs[0], 0, NULL);
    if (error != 0)
        return fail("attaching", error);
    if (pthread_create(&thread, NULL, takes_turns, NULL) != 0)
        return 2;
    for (records = 0; fread(record, sizeof record, 1, stdin) == 1; records++) {
        const struct event event = {
            .ethertype = htons(TYPE),
            .port = htons((uint16_t)record[1]),
            .queue = htons((uint16_t)record[2]),
            .kind = htonl(record[0]),
            .size_bytes = htonl(record[3]),
            .time_high = htonl(record[5]),
            .time_low = htonl(record[4]),
        };
        const int passed = is_passed(file, listener, &event);

        if (record[0] == 0)
            putchar(passed);
        else if (!passed)
            return 3;
        while (records / PACKETS_A_TURN >= (unsigned long long)__atomic_load_n(&turns, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    if (problem != 0)
        return fail("attaching", problem);
    ran[0] = runs(programs[0]);
    ran[1] = runs(programs[1]);
    fprintf(stderr, "%llu frames decided by one model, %llu by the other, %ld turns\n", ran[0], ran[1], turns);
    /* Each frame met one program, and each program many. */
    return ran[0] + ran[1] == 2 * records && ran[0] > records / 10 && ran[1] > records / 10 ? 0 : 4;
}
