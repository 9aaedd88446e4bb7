# A history for `git fast-import`: 25 files that change with every commit. awk -v steps=N -f commits.awk
BEGIN {
    for (step = 0; step < steps; step++) {
        message = "step " step
        printf "commit refs/heads/main\ncommitter n <e@example.invalid> %d +0000\n", 1700000000 + step * 60
        printf "data %d\n%s\n", length(message), message
        for (file = 0; file < 25; file++) {
            body = ""
            for (i = 0; i < 200; i++)
                body = body (i * (file + 3) % 997) " " substr("abcabcabcabcabcabc", 1, 3 * (i % 7)) " " \
                    int(step / (file + 1)) "\n"
            for (i = 0; i < step; i++)
                body = body step "\n"
            printf "M 100644 inline file%d\ndata %d\n%s\n", file, length(body), body
        }
    }
    print "done"
}
