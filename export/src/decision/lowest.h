/* The lowest bit that is 1; word is not 0. */
@inline @u32 @prefixlowest(@u64 word)
{
#if defined(__GNUC__)
    return (@u32)__builtin_ctzll(word);
#else
    @u32 at = 0;

    while ((word & 1u) == 0) {
        word >>= 1;
        at++;
    }
    return at;
#endif
}

