// Reads rows from standard input and writes the score and the decision for each to standard output.
// All values are native std::uint32_t.
#include "PREFIX.hpp"

#include <cstdio>

int main()
{
    PREFIX_oracle::Row row;

    while (std::fread(row.data(), sizeof row, 1, stdin) == 1) {
        const std::uint32_t answer[2] = {PREFIX_oracle::score(row),
                                         PREFIX_oracle::predicts_drop(row) ? 1u : 0u};
        std::fwrite(answer, sizeof answer, 1, stdout);
    }
    return 0;
}
