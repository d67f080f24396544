/* The bit length of v; 0 for 0. */
@outlined @u32 @prefixbits(@u64 v)
{
    @u32 bits;

    for (bits = 0; bits < 64u && v != 0; bits++) {
        v >>= 1;
    }
    return bits;
}

/* A number as its whole part and a fraction in units of 2^-54, truncated. */
struct @prefixfixed {
    @u64 whole;
    @u64 fraction;
};

/* (m * 2^-point) * v as double precision rounds it, for m of up to 54 bits and point >= 53. */
@inline struct @prefixfixed @prefixproduct(@u64 m, @u32 point, @u32 v)
{
    const @u64 fraction_mask = (1ull << 54) - 1u;
    const @u64 below = (m & 0xffffffffu) * v;
    const @u64 high = (m >> 32) * v + (below >> 32);
    const @u64 low = below & 0xffffffffu;
    const @u32 high_bits = @prefixbits(high);
    /* A double keeps 53 bits; ties go to the even one. */
    const @u32 excess = high_bits > 21u ? high_bits - 21u : 0u;
    const @u64 cut = low & ((1ull << excess) - 1u);
    @u64 kept = (high << (32u - excess)) | (low >> excess);
    struct @prefixfixed product;

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
@outlined @u32 @prefixaverage_rounded(@u32 average, @u32 x, @u32 elapsed_ns)
{
    const @u64 tau_ns = @tau;
    @u64 scaled = elapsed_ns, gain, keep, cut, whole, fraction;
    @u32 shift;
    struct @prefixfixed of_x, of_average;

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

    of_x = @prefixproduct(gain, 52u + shift, x);
    of_average = @prefixproduct(keep, 53u, average);
    fraction = of_x.fraction + of_average.fraction;
    whole = of_x.whole + of_average.whole + (fraction >> 54);
    fraction &= (1ull << 54) - 1u;
    /* The sum is rounded too: up to the next integer from half a unit in the last place below it. */
    return (@u32)(whole + ((fraction + (1ull << @prefixbits(whole))) >> 54));
}

/* The moving average ns3-trunc: trunc(g * x + (1 - g) * average) in double precision, with
 * g = min(elapsed_ns, tau) / tau. Computed in integers, bit for bit the same: the exact quotient
 * decides, unless it is as close to an integer as rounding errors reach, 2^-18. */
@inline @u32 @prefixaverage(@u32 average, @u32 x, @u64 elapsed_ns)
{
    const @u64 tau_ns = @tau;
    const @u64 reach = tau_ns >> 18;
    @u64 sum, rest;

    if (elapsed_ns >= tau_ns) {
        return x;
    }
    sum = elapsed_ns * x + (tau_ns - elapsed_ns) * average;
    rest = sum % tau_ns;
    if ((rest > reach && tau_ns - rest > reach) || elapsed_ns == 0 || sum == 0) {
        return (@u32)(sum / tau_ns);
    }
    return @prefixaverage_rounded(average, x, (@u32)elapsed_ns);
}
