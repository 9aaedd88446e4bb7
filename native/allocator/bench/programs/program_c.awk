# A C file of so many functions that an optimiser has work with: awk -v functions=N -f program_c.awk
BEGIN {
    print "struct p { int a[8]; double d; struct p *next; };"
    for (n = 0; n < functions; n++) {
        printf "int f%d(struct p *p, int x) { int s = %d; for (int i = 0; i < x; i++) {", n, n
        printf " struct p *q = p; while (q) { s += q->a[i & 7] * %d;", n % 13 + 1
        printf " q->d += s / (double)(x + %d);", n
        printf " if (s & %d) s ^= q->a[(s >> 3) & 7]; q = q->next; } switch (s %% 7) {", 2 ^ (n % 9)
        printf " case 0: s += 3; break; case 1: s *= 5; case 2: s -= x; break; default: s ^= i; } }"
        printf " return %s; }\n", n == 0 ? "s" : sprintf("f%d(p, s & 15) + s", n - 1)
    }
}
