#!/usr/bin/env python3
"""Makes the font that evalcurve draws with.

usage: subset.py VL-PGothic-Regular.ttf VLPGothic-subset.ttf
"""
import sys

from fontTools import subset


def jis(first_row, last_row):
    """Code points of JIS X 0208, row by row."""
    for row in range(first_row, last_row + 1):
        for cell in range(1, 95):
            try:
                yield ord(bytes([0xA0 + row, 0xA0 + cell]).decode("euc_jp"))
            except UnicodeDecodeError:
                pass


wanted = set()
for first, last in [
    (0x0020, 0x007E),  # ASCII
    (0x00A0, 0x024F),  # Latin-1, Latin Extended-A and -B
    (0x0370, 0x03FF),  # Greek
    (0x0400, 0x045F),  # Cyrillic
    (0x2000, 0x209F),  # punctuation, superscripts, subscripts
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematics
    (0x25A0, 0x260F),  # shapes
    (0x3000, 0x30FF),  # kana
    (0xFF00, 0xFFEF),  # full-width and half-width forms
]:
    wanted.update(range(first, last + 1))
wanted.update(jis(1, 8))  # symbols
wanted.update(jis(16, 47))  # level 1 kanji
wanted.update(jis(48, 84))  # level 2 kanji

options = subset.Options()
options.hinting = False
options.layout_features = []
options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
options.notdef_outline = True
options.glyph_names = False
options.canonical_order = True
options.recalc_timestamp = False
options.drop_tables += ["BASE", "DSIG", "FFTM", "GDEF", "GPOS", "GSUB", "PCLT", "STAT", "VORG", "meta", "vhea", "vmtx"]

font = subset.load_font(sys.argv[1], options)
subsetter = subset.Subsetter(options)
subsetter.populate(unicodes=wanted)
subsetter.subset(font)
subset.save_font(font, sys.argv[2], options)
