// Random games as binpack and as plain text, by the reader and writer of Stockfish's trainer.
//
//     git clone https://github.com/official-stockfish/nnue-pytorch
//     c++ -std=c++20 -O2 -I nnue-pytorch/data_loader/cpp/lib binpack.cpp -o binpack
//     ./binpack random 2 40 random.binpack     # 2 games of at most 40 plies
//     ./binpack dump random.binpack > random.plain
//
// Moves are drawn so that castling, promotion and captures in passing are frequent. Scores have 1/w1 = 345.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>

#include "binpack.h"

using namespace chess;

static int weight(const Position& pos, const Move& move) {
    if (move.type != MoveType::Normal) return 40;
    return pos.pieceAt(move.from).type() == PieceType::Pawn ? 4 : 1;
}

static void random_games(int games, int plies, const char* file) {
    binpack::CompressedTrainingDataEntryWriter writer(file, std::ios_base::binary | std::ios_base::trunc);
    std::mt19937 random(7);
    for (int game = 0; game < games; ++game) {
        auto pos = Position::startPosition();
        // the result follows from the true score of White at 1/w1 = 345
        const double truth = std::normal_distribution<>(0, 400)(random);
        const bool won = std::uniform_real_distribution<>()(random) < 1 / (1 + std::exp(-truth / 345));
        int result = random() % 8 == 0 ? 0 : won ? 1 : -1, side = 1;
        for (int ply = 0; ply < plies; ++ply) {
            std::vector<Move> moves;
            std::vector<int> weights;
            movegen::forEachLegalMove(pos, [&](const Move& move) {
                moves.push_back(move);
                weights.push_back(weight(pos, move));
            });
            if (moves.empty()) break;
            std::discrete_distribution<int> draw(weights.begin(), weights.end());
            // some are mates of any size
            int score = side * int(std::lround(truth)) + int(random() % 120) - 60;
            if (random() % 20 == 0) score = int(20000 + random() % 12000) * (random() % 2 == 0 ? 1 : -1);
            binpack::TrainingDataEntry entry;
            entry.pos = pos;
            entry.move = moves[draw(random)];
            entry.score = std::int16_t(score);
            entry.ply = ply;
            entry.result = result;
            // some positions are left out, as by filters
            if (random() % 12 != 0) writer.addTrainingDataEntry(entry);
            pos.doMove(entry.move);
            result = -result;
            side = -side;
        }
    }
}

int main(int count, char** words) {
    if (count == 5 && !std::strcmp(words[1], "random")) {
        random_games(std::atoi(words[2]), std::atoi(words[3]), words[4]);
        return 0;
    }
    if (count != 3 || std::strcmp(words[1], "dump")) return 2;
    binpack::CompressedTrainingDataEntryReader reader(words[2], std::ios_base::binary);
    while (reader.hasNext()) {
        const auto entry = reader.next();
        std::cout << "fen " << entry.pos.fen() << "\nmove " << uci::moveToUci(entry.pos, entry.move) << "\nscore "
                  << entry.score << "\nply " << entry.ply << "\nresult " << entry.result << "\ne\n";
    }
}
