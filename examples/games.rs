//! Prints the players and the result of each game in a file, a folder or an archive.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: games FILE")?;
    for record in evalcurve_records::games(path)? {
        let game = record?.game;
        println!("{} vs {}: {:?} for Black", game.names[0], game.names[1], game.black_outcome);
    }
    Ok(())
}
