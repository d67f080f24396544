/* A model as a library; C and C++. */

#include "model.h"

#ifdef __cplusplus
#include "m.hpp"

static uint32_t score(const uint32_t *x)
{
    m_oracle::Row row;

    for (uint32_t at = 0; at < row.size(); at++)
        row[at] = x[at];
    return m_oracle::score(row);
}

static int drop(const uint32_t *x)
{
    m_oracle::Row row;

    for (uint32_t at = 0; at < row.size(); at++)
        row[at] = x[at];
    return m_oracle::predicts_drop(row);
}
#else
#include "m.h"

static uint32_t score(const uint32_t *x)
{
    return m_score(x);
}

static int drop(const uint32_t *x)
{
    return m_drop(x);
}
#endif

const struct model model = {score, drop};
