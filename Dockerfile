# docker build -t nho . && docker run --rm -v "$PWD:/data" nho match scan.ply template.ply --anchors pairs.csv --out result
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels /wheels/nho-*.whl && rm -rf /wheels \
    && useradd --create-home --uid 1000 nho
USER 1000
WORKDIR /data
ENTRYPOINT ["nho"]
CMD ["--help"]
