"""Antonyms of WordNet 3.0 as `ragcore/text/antonyms.txt`: a line for each two words that WordNet has as antonyms, each
with its irregular forms. Words with a hyphen are left out: they are read as several.

    python scripts/antonyms.py /usr/share/wordnet > ragcore/text/antonyms.txt

The folder has WordNet's ``data.noun`` … and ``noun.exc`` … (Debian: wordnet-base).
"""

import sys
from collections import defaultdict
from pathlib import Path

KINDS = ("noun", "verb", "adj", "adv")
NOTICE = """\
# Antonyms of WordNet 3.0, made by scripts/antonyms.py.
# WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. This software and database is being
# provided to you, the LICENSEE, by Princeton University under the following license. By obtaining, using and/or
# copying this software and database, you agree that you have read, understood, and will comply with these terms and
# conditions: Permission to use, copy, modify and distribute this software and database and its documentation for any
# purpose and without fee or royalty is hereby granted, provided that you agree to comply with the following copyright
# notice and statements, including the disclaimer, and that the same appear on ALL copies of the software, database
# and documentation, including modifications that you make for internal use or for distribution. THIS SOFTWARE AND
# DATABASE IS PROVIDED "AS IS" AND PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES, EXPRESS OR IMPLIED. BY
# WAY OF EXAMPLE, BUT NOT LIMITATION, PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES OF MERCHANTABILITY
# OR FITNESS FOR ANY PARTICULAR PURPOSE OR THAT THE USE OF THE LICENSED SOFTWARE, DATABASE OR DOCUMENTATION WILL NOT
# INFRINGE ANY THIRD PARTY PATENTS, COPYRIGHTS, TRADEMARKS OR OTHER RIGHTS. The name of Princeton University or
# Princeton may not be used in advertising or publicity pertaining to distribution of the software and/or database.
# Title to copyright in this software, database and any associated documentation shall at all times remain with
# Princeton University and LICENSEE agrees to preserve same.
"""

Key = tuple[str, str]  # part of speech and offset of a synset


def main(folder: Path) -> None:
    synsets: dict[Key, list[str]] = {}
    pointers: list[tuple[str, Key, str]] = []  # word, synset of the other, and which words of both
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for kind in KINDS:
        for line in (folder / f"{kind}.exc").read_text("latin-1").splitlines():
            form, *words = line.split()
            for word in words:
                forms[word].add(form)
        for line in (folder / f"data.{kind}").read_text("latin-1").splitlines():
            if line.startswith("  "):
                continue
            fields = line.partition(" | ")[0].split()
            end = 4 + 2 * int(fields[3], 16)
            words = [word.partition("(")[0].lower() for word in fields[4:end:2]]
            synsets[fields[2].replace("s", "a"), fields[0]] = words
            for at in range(end + 1, end + 1 + 4 * int(fields[end]), 4):
                sign, offset, pos, places = fields[at : at + 4]
                if sign == "!":
                    pointers.append((words[int(places[:2], 16) - 1], (pos.replace("s", "a"), offset), places[2:]))
    pairs = {tuple(sorted((word, synsets[key][int(place, 16) - 1]))) for word, key, place in pointers}
    sys.stdout.write(NOTICE)
    for pair in sorted(pair for pair in pairs if not any("_" in word or "-" in word for word in pair)):
        print(" | ".join(" ".join([word, *sorted(forms[word] - {word})]) for word in pair))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
