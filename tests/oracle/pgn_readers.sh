#!/bin/sh
# Reads a PGN file of `evalcurve play` with three other programs; each must find the same games and scores.
#
#   pgn_readers.sh FILE.pgn WDL_MODEL CUTECHESS
#
# WDL_MODEL and CUTECHESS are checkouts of official-stockfish/WDL_model and cutechess/cutechess. It needs g++, zlib,
# Qt 5 (qtbase5-dev) and python3 with chess 1.11.2.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
file=$(realpath "$1") model=$(realpath "$2") cutechess=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'python-chess (file, games, scores, book moves): '
python3 "$here/pgn_scores.py" "$file"
mkdir "$work/games"
cp "$file" "$work/games"
g++ -O1 -std=c++17 -I"$model" "$model/scoreWDLstat.cpp" "$model/external/gzip/gzstream.cpp" -lz -o "$work/stat"
"$work/stat" --dir "$work/games" -o "$work/out.json" | sed -n 's/^Wrote/WDL_model:/p'
cd "$cutechess/projects/lib/src"
g++ -O1 -fPIC -std=c++17 -DLIB_EXPORT= -I. -Iboard $(pkg-config --cflags Qt5Core) "$here/pgn_cutechess.cpp" \
    pgngame.cpp pgnstream.cpp econode.cpp moveevaluation.cpp mersenne.cpp board/board.cpp board/westernboard.cpp \
    board/standardboard.cpp board/genericmove.cpp board/result.cpp board/side.cpp board/square.cpp board/zobrist.cpp \
    board/westernzobrist.cpp board/boardtransition.cpp $(pkg-config --libs Qt5Core) -o "$work/cutechess"
"$work/cutechess" "$file"
