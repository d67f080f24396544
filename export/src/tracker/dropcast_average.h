/* The moving average ns3-trunc in integers.
 *
 * Defined before: DROPCAST_FUNCTION and DROPCAST_SEPARATE, how definitions of functions begin (of large ones, the second),
 * DROPCAST_TAU_NS, the time constant, and, for names of a model's own, DROPCAST_NAME(name). */
#ifdef DROPCAST_NAME
#define dropcast_bits DROPCAST_NAME(bits)
#define dropcast_fixed DROPCAST_NAME(fixed)
#define dropcast_product DROPCAST_NAME(product)
#define dropcast_average_rounded DROPCAST_NAME(average_rounded)
#define dropcast_average DROPCAST_NAME(average)
#endif

/* The bit length of v; 0 for 0. */
DROPCAST_SEPARATE uint32_t dropcast_bits(uint64_t v)
{
    uint32_t bits;

    for (bits = 0; bits < 64u && v != 0; bits++) {
        v >>= 1;
    }
    return bits;
}

/* A number as its whole part and a fraction in units of 2^-54, truncated. */
struct dropcast_fixed {
    uint64_t whole;
    uint64_t fraction;
};

/* (m * 2^-point) * v as double precision rounds it, for m of up to 54 bits and point >= 53. */
DROPCAST_FUNCTION struct dropcast_fixed dropcast_product(uint64_t m, uint32_t point, uint32_t v)
{
    const uint64_t fraction_mask = (1ull << 54) - 1u;
    const uint64_t below = (m & 0xffffffffu) * v;
    const uint64_t high = (m >> 32) * v + (below >> 32);
    const uint64_t low = below & 0xffffffffu;
    const uint32_t high_bits = dropcast_bits(high);
    /* A double keeps 53 bits; ties go to the even one. */
    const uint32_t excess = high_bits > 21u ? high_bits - 21u : 0u;
    const uint64_t cut = low & ((1ull << excess) - 1u);
    uint64_t kept = (high << (32u - excess)) | (low >> excess);
    struct dropcast_fixed product;

    kept += 2u * cut + (kept & 1u) > (1ull << excess) ? 1u : 0u;
    point -= excess;
    if (point < 54u) {
        product.whole = kept >> point;
        product.fraction = (kept << (54u - point)) & fraction_mask;
    } else {
        product.whole = 0;
        product.fraction = kept >> (point - 54u);
    }
    return product;
}

/* trunc(g * x + (1 - g) * average) with g = elapsed_ns / tau, each step rounded as double precision
 * does; 0 < elapsed_ns < tau. */
DROPCAST_SEPARATE uint32_t dropcast_average_rounded(uint32_t average, uint32_t x, uint32_t elapsed_ns)
{
    const uint64_t tau_ns = DROPCAST_TAU_NS;
    uint64_t scaled = elapsed_ns, gain, keep, cut, whole, fraction;
    uint32_t shift;
    struct dropcast_fixed of_x, of_average;

    /* g = gain * 2^-(52 + shift), gain of 53 bits: long division. */
    for (shift = 0; shift < 32u && scaled < tau_ns; shift++) {
        scaled <<= 1;
    }
    scaled = (scaled - tau_ns) << 32;
    gain = (1ull << 52) + ((scaled / tau_ns) << 20);
    scaled = (scaled % tau_ns) << 20;
    gain += scaled / tau_ns;
    gain += 2u * (scaled % tau_ns) + (gain & 1u) > tau_ns ? 1u : 0u;

    /* 1 - g = keep * 2^-53. */
    cut = gain & ((1ull << (shift - 1u)) - 1u);
    keep = gain >> (shift - 1u);
    keep += 2u * cut + (keep & 1u) > (1ull << (shift - 1u)) ? 1u : 0u;
    keep = (1ull << 53) - keep;

    of_x = dropcast_product(gain, 52u + shift, x);
    of_average = dropcast_product(keep, 53u, average);
    fraction = of_x.fraction + of_average.fraction;
    whole = of_x.whole + of_average.whole + (fraction >> 54);
    fraction &= (1ull << 54) - 1u;
    /* The sum is rounded too: up to the next integer from half a unit in the last place below it. */
    return (uint32_t)(whole + ((fraction + (1ull << dropcast_bits(whole))) >> 54));
}

/* The moving average ns3-trunc: trunc(g * x + (1 - g) * average) in double precision, with
 * g = min(elapsed_ns, tau) / tau. Computed in integers, bit for bit the same: the exact quotient
 * decides, unless it is as close to an integer as rounding errors reach, 2^-18. */
DROPCAST_FUNCTION uint32_t dropcast_average(uint32_t average, uint32_t x, uint64_t elapsed_ns)
{
    const uint64_t tau_ns = DROPCAST_TAU_NS;
    const uint64_t reach = tau_ns >> 18;
    uint64_t sum, rest;

    if (elapsed_ns >= tau_ns) {
        return x;
    }
    sum = elapsed_ns * x + (tau_ns - elapsed_ns) * average;
    rest = sum % tau_ns;
    if ((rest > reach && tau_ns - rest > reach) || elapsed_ns == 0 || sum == 0) {
        return (uint32_t)(sum / tau_ns);
    }
    return dropcast_average_rounded(average, x, (uint32_t)elapsed_ns);
}
