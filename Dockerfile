# Groundwork in one image: `docker compose up`, then open http://localhost:8501.
FROM python:3.12-slim

# LibreOffice makes pages of Word, PowerPoint and OpenDocument files.
RUN apt-get update && apt-get install -y --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui \
    libreoffice-impress-nogui fonts-liberation fonts-crosextra-carlito fonts-crosextra-caladea && rm -rf /var/lib/apt/lists/*

# Reading and drawing pages needs no system package; the CPU build of torch keeps the image small.
RUN pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu 'torch>=2.6,<2.14'

WORKDIR /src
COPY pyproject.toml README.md LICENSE app.py ./
COPY .streamlit ./.streamlit
COPY pages ./pages
COPY ui ./ui
COPY ragcore ./ragcore
RUN pip install --no-cache-dir '.[postgres,objects]' && rm -rf /src

RUN useradd --create-home --uid 10001 groundwork && install -d -o groundwork -m 700 /library /backup
USER groundwork
WORKDIR /home/groundwork
ENV GROUNDWORK_HOME=/library
VOLUME /library
EXPOSE 8501

# In the container the app listens on every address, so people sign in; its log has the link that makes the first account.
ENV STREAMLIT_SERVER_ADDRESS=0.0.0.0 GROUNDWORK_AUTH__MODE=local
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health')"]
CMD ["groundwork", "app", "--no-browser"]
