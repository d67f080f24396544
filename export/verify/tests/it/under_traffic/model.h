/* What a library has of its model. */

#include <stdint.h>

struct model {
    uint32_t (*score)(const uint32_t *x);
    int (*drop)(const uint32_t *x);
};

#ifdef __cplusplus
extern "C" const struct model model;
#else
extern const struct model model;
#endif
