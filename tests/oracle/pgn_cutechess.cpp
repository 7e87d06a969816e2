// Reads PGN files with the reader of cutechess, and prints games, moves, comments, scores and mates of each.
// pgn_readers.sh builds it with the sources of cutechess.
#include <QFile>
#include <QTextStream>
#include "board/boardfactory.h"
#include "board/standardboard.h"
#include "board/syzygytablebase.h"
#include "moveevaluation.h"
#include "pgngame.h"
#include "pgnstream.h"

// what the reader does not need: other games than chess, tablebases, names of openings
namespace Chess {
BoardFactory::BoardFactory() {}
Board* BoardFactory::create(const QString&) { return new StandardBoard(); }
QStringList BoardFactory::variants() { return QStringList() << "standard"; }
}
Chess::Result SyzygyTablebase::result(const Chess::Side&, const Chess::Square&, Castling, int, const PieceList&,
                                      unsigned int*)
{
	return Chess::Result();
}
int qInitResources_eco() { return 0; }

int main(int argc, char** argv)
{
	QTextStream out(stdout);
	for (int i = 1; i < argc; i++)
	{
		QFile file(argv[i]);
		if (!file.open(QIODevice::ReadOnly | QIODevice::Text))
			return 2;
		PgnStream in(&file);
		PgnGame game;
		int games = 0, moves = 0, comments = 0, scores = 0, mates = 0;
		while (game.read(in, INT_MAX, false))
		{
			games++;
			moves += game.moves().size();
			const auto found = game.extractScores();
			for (int ply = 0; ply < game.moves().size(); ply++)
			{
				const QString comment = game.moves().at(ply).comment;
				comments += !comment.isEmpty();
				if (!comment.contains('/'))
					continue;
				scores++;
				mates += qAbs(found.value(ply)) > MoveEvaluation::MATE_SCORE - 500;
			}
		}
		out << "cutechess: " << games << " games, " << moves << " moves, " << comments << " comments, " << scores
		    << " scores, " << mates << " of them mates\n";
	}
}
