# Hashes, sorting and substitution: program.pl ROWS
my (%h, @rows);
for my $i (1 .. $ARGV[0]) {
    my $k = ($i * 7919) % 50021;
    $h{"k$k"} .= "v$i,";
    push @rows, [$i, "r$k"] if $i % 3 == 0;
}
my @s = sort { $a->[1] cmp $b->[1] || $a->[0] <=> $b->[0] } @rows;
my $t = join "", map { my $x = $_; $x =~ s/(\d+)/<$1>/g; $x } map { $h{$_} } sort keys %h;
print length($t), " ", scalar(@s), " ", $s[0][0], "\n";
