/* The reset routine of a Cortex-M: prints the hash of the scenario's decisions and ends the
 * emulation, both through semihosting. */
typedef unsigned int word;

enum { WRITE_ZERO_TERMINATED = 4, EXIT = 24, APPLICATION_EXIT = 0x20026 };

extern word scenario_hash(void);

static void ask_host(word operation, word argument)
{
    register word r0 __asm__("r0") = operation;
    register word r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void reset(void)
{
    static char text[10];
    word hash = scenario_hash();
    int at;

    for (at = 0; at < 8; at++)
        text[at] = "0123456789abcdef"[hash >> (28 - 4 * at) & 15];
    text[8] = '\n';
    ask_host(WRITE_ZERO_TERMINATED, (word)text);
    ask_host(EXIT, APPLICATION_EXIT);
    for (;;) {
    }
}

static void fault(void)
{
    ask_host(WRITE_ZERO_TERMINATED, (word) "fault\n");
    ask_host(EXIT, 0);
    for (;;) {
    }
}

/* The stack pointer, then the vectors: reset, and one for each fault. */
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))0x20400000, reset, fault, fault, fault, fault, fault,
};
