/* Runs packets of one pcap file through a SWX program and writes them to another, in their order.
 *
 * Arguments: the program, the folder of its entries and the program's name (files are
 * FOLDER/NAME.TABLE.entries), the pcap file to read, the one to write. Native byte order.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>
#include <rte_swx_port.h>
#include <rte_swx_table_wm.h>

/* DPDK's own parser of programs. The library uses it to generate C, but compiling that needs headers
 * in no package; with the static archive it can configure a pipeline directly. */
struct pipeline_spec;
struct pipeline_spec *pipeline_spec_parse(FILE *spec, uint32_t *err_line, const char **err_msg);
int pipeline_spec_configure(struct rte_swx_pipeline *p, struct pipeline_spec *s,
                            const char **err_msg);

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s\n", which, what);
    exit(1);
}

/* Packets, with room for headers before each. */
enum { HEADROOM = 128, RECORD = 16, FILE_HEADER = 24 };

struct packet {
    uint8_t *bytes;
    uint32_t length;
    int done;
};

static struct packet *packets;
static uint32_t count, received, sent;
static uint8_t file_header[FILE_HEADER];

static void read_packets(const char *name)
{
    FILE *file = fopen(name, "rb");
    uint32_t record[4];
    size_t room = 0;

    if (!file || fread(file_header, FILE_HEADER, 1, file) != 1)
        fail("cannot be read", name);
    while (fread(record, RECORD, 1, file) == 1) {
        struct packet packet = { calloc(1, HEADROOM + record[2]), record[2], 0 };

        if (count == room) {
            room = room ? 2 * room : 1024;
            packets = realloc(packets, room * sizeof *packets);
        }
        if (!packets || !packet.bytes)
            fail("does not fit into memory", name);
        if (fread(packet.bytes + HEADROOM, 1, packet.length, file) != packet.length)
            fail("ends within a packet", name);
        packets[count++] = packet;
    }
    fclose(file);
}

static void write_packets(const char *name)
{
    FILE *file = fopen(name, "wb");
    uint32_t at;

    if (!file || fwrite(file_header, FILE_HEADER, 1, file) != 1)
        fail("cannot be written", name);
    for (at = 0; at < count; at++) {
        uint32_t record[4] = { 0, 0, packets[at].length, packets[at].length };

        if (fwrite(record, RECORD, 1, file) != 1
            || fwrite(packets[at].bytes, 1, packets[at].length, file) != packets[at].length)
            fail("cannot be written", name);
    }
    if (fclose(file))
        fail("cannot be written", name);
}

/* An input port that receives the packets read, and an output port that collects packets to write.
 * The pipeline works on several packets at a time: the handle identifies them. */
static void *port_create(void *args)
{
    return args;
}

static void port_free(void *port)
{
    (void)port;
}

static int port_receive(void *port, struct rte_swx_pkt *packet)
{
    (void)port;
    if (received == count)
        return 0;
    packet->handle = &packets[received];
    packet->pkt = packets[received].bytes;
    packet->offset = HEADROOM;
    packet->length = packets[received].length;
    received++;
    return 1;
}

static void port_in_stats(void *port, struct rte_swx_port_in_stats *stats)
{
    (void)port;
    memset(stats, 0, sizeof *stats);
}

static void port_send(void *port, struct rte_swx_pkt *packet)
{
    struct packet *to = packet->handle;

    (void)port;
    if (to->done++)
        fail("sent twice", "a packet");
    memmove(to->bytes, packet->pkt + packet->offset, packet->length);
    to->length = packet->length;
    sent++;
}

static void port_clone(void *port, struct rte_swx_pkt *packet)
{
    (void)port;
    (void)packet;
    fail("cloned", "a packet");
}

static void port_clone_part(void *port, struct rte_swx_pkt *packet, uint32_t length)
{
    (void)length;
    port_clone(port, packet);
}

static void port_out_stats(void *port, struct rte_swx_port_out_stats *stats)
{
    (void)port;
    memset(stats, 0, sizeof *stats);
}

static struct rte_swx_port_in_ops in_ops = {
    .create = port_create,
    .free = port_free,
    .pkt_rx = port_receive,
    .stats_read = port_in_stats,
};

static struct rte_swx_port_out_ops out_ops = {
    .create = port_create,
    .free = port_free,
    .pkt_tx = port_send,
    .pkt_fast_clone_tx = port_clone,
    .pkt_clone_tx = port_clone_part,
    .flush = port_free,
    .stats_read = port_out_stats,
};

static struct rte_swx_pipeline *build(const char *program)
{
    FILE *file = fopen(program, "r");
    struct rte_swx_pipeline *pipeline = NULL;
    struct pipeline_spec *spec;
    const char *problem = "";
    uint32_t line = 0;
    int status;

    if (!file)
        fail("cannot be read", program);
    spec = pipeline_spec_parse(file, &line, &problem);
    fclose(file);
    if (!spec) {
        fprintf(stderr, "%s:%u: %s\n", program, line, problem);
        exit(1);
    }
    if (rte_swx_pipeline_config(&pipeline, "pipeline", 0))
        fail("cannot be made", "a pipeline");
    status = rte_swx_pipeline_table_type_register(pipeline, "wildcard",
                                                  RTE_SWX_TABLE_MATCH_WILDCARD,
                                                  &rte_swx_table_wildcard_match_ops);
    if (status && status != -EEXIST)
        fail("cannot be registered", "the wildcard table");
    if (rte_swx_pipeline_port_in_type_register(pipeline, "memory", &in_ops)
        || rte_swx_pipeline_port_out_type_register(pipeline, "memory", &out_ops)
        || rte_swx_pipeline_port_in_config(pipeline, 0, "memory", &in_ops)
        || rte_swx_pipeline_port_out_config(pipeline, 0, "memory", &out_ops))
        fail("cannot be made", "a port");
    if (pipeline_spec_configure(pipeline, spec, &problem))
        fail(problem, program);
    status = rte_swx_pipeline_build(pipeline);
    if (status)
        fail(strerror(-status), program);
    return pipeline;
}

/* Adds the entries of one table. */
static void add_entries(struct rte_swx_ctl_pipeline *ctl, const char *table, const char *name)
{
    FILE *file = fopen(name, "r");
    char *line = NULL;
    size_t room = 0;

    if (!file)
        fail("cannot be read", name);
    while (getline(&line, &room, file) > 0) {
        int blank_or_comment = 0;
        struct rte_swx_table_entry *entry =
            rte_swx_ctl_pipeline_table_entry_read(ctl, table, line, &blank_or_comment);

        if (!entry && blank_or_comment)
            continue;
        if (!entry || rte_swx_ctl_pipeline_table_entry_add(ctl, table, entry)) {
            fprintf(stderr, "%s: cannot be added: %s", name, line);
            exit(1);
        }
    }
    free(line);
    fclose(file);
}

static void add_all_entries(struct rte_swx_pipeline *pipeline, const char *folder, const char *name)
{
    static const char ending[] = ".entries";
    struct rte_swx_ctl_pipeline *ctl = rte_swx_ctl_pipeline_create(pipeline);
    DIR *files = opendir(folder);
    struct dirent *entry;
    size_t prefix = strlen(name);

    if (!ctl || !files)
        fail("cannot be read", folder);
    while ((entry = readdir(files))) {
        size_t length = strlen(entry->d_name);
        char path[4096], table[256];
        int table_length = (int)length - (int)prefix - 1 - (int)(sizeof ending - 1);

        if (table_length < 1 || strncmp(entry->d_name, name, prefix)
            || entry->d_name[prefix] != '.'
            || strcmp(entry->d_name + length - (sizeof ending - 1), ending))
            continue;
        snprintf(table, sizeof table, "%.*s", table_length, entry->d_name + prefix + 1);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        add_entries(ctl, table, path);
    }
    closedir(files);
    if (rte_swx_ctl_pipeline_commit(ctl, 1))
        fail("cannot be committed", "the entries");
}

int main(int argc, char **argv)
{
    /* No huge pages, no devices, no files left behind. */
    char *eal[] = { argv[0], "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
                    "--lcores=0", "-m", "1024", "--log-level=error", NULL };
    struct rte_swx_pipeline *pipeline;
    uint32_t before = 0;
    int idle = 0;

    if (argc != 6)
        fail("PROGRAM FOLDER NAME IN.pcap OUT.pcap", "usage");
    if (rte_eal_init(sizeof eal / sizeof *eal - 1, eal) < 0)
        fail("does not start", "DPDK");
    read_packets(argv[4]);
    pipeline = build(argv[1]);
    add_all_entries(pipeline, argv[2], argv[3]);
    while (sent < count && idle < 1000) {
        rte_swx_pipeline_run(pipeline, 100000);
        idle = sent > before ? 0 : idle + 1;
        before = sent;
    }
    rte_swx_pipeline_flush(pipeline);
    if (sent < count)
        fail("did not come back", "a packet");
    write_packets(argv[5]);
    return 0;
}
