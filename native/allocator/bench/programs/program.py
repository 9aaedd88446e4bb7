"""JSON, tuples and regular expressions: what a script that reads and writes data asks its allocator for.

program.py WORDS
"""

from __future__ import annotations

import collections
import json
import re
import sys

count = int(sys.argv[1])
words = [f"{i * 2654435761 % 2**32:x}" for i in range(count)]
table: dict[str, list[dict[str, str | int]]] = collections.defaultdict(list)
for word in words:
    table[word[:3]].append({"word": word, "tail": word[3:], "at": len(table)})
text = json.dumps(table)
if json.loads(text) != table:
    sys.exit("what was written is not what was read")
tree: tuple[object, ...] | None = None
for word in words:
    tree = (tree, word, [word] * 3) if len(word) % 2 else (word, tree)
ranks = sum(len(str(i)) * i % 7 for i in range(3 * count))
sys.stdout.write(f"{len(text)} {len(re.findall('[a-f]+', text))} {ranks}\n")
