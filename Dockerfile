FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY schemas schemas
COPY stats stats
COPY workers workers
COPY boms boms
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[plots,otel]'

FROM python:3.12-slim
RUN useradd --system --uid 10001 --no-create-home assay
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels 'assay[plots,otel]' && rm -rf /wheels
USER 10001
ENV PYTHONUNBUFFERED=1 MPLCONFIGDIR=/tmp ASSAY_HEALTH_HOST=0.0.0.0 ASSAY_HEALTH_PORT=8080
EXPOSE 8080
# Ready = work flows; the body of /readyz says why not.
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=3 CMD \
    ["python", "-c", "import os, urllib.request as r; r.urlopen(f\"http://127.0.0.1:{os.environ['ASSAY_HEALTH_PORT']}/readyz\", timeout=2)"]
ENTRYPOINT ["assay"]
CMD ["--help"]
