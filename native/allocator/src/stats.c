#include "paceline_alloc.h"
size_t paceline_alloc_stats_json(char *text, size_t capacity){if(capacity)*text=0;return 0;}
