# docker build --tag evalcurve .
# docker run --rm --volume "$PWD:/work" evalcurve calibrate games/
# Not built yet: no Docker was at hand. Its build command was run on Debian bookworm.
FROM rust:1-slim-bookworm AS build
COPY . /source
RUN cd /source && cargo build --profile dist --locked -p evalcurve -p evalcurve-lab --bins

FROM debian:bookworm-slim
COPY --from=build /source/target/dist/evalcurve /source/target/dist/evalcurve-lab /usr/local/bin/
WORKDIR /work
ENTRYPOINT ["evalcurve"]
