# The gateway, as a user without rights. Mount a volume on /app/data: it holds the encryption key and, without DATABASE_URL, the database.
FROM node:24-slim

WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0

# Converts audio and video; left out by default, since it doubles the image and is under the GPL.
ARG WITH_FFMPEG=false
RUN if [ "$WITH_FFMPEG" = true ]; then \
    apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*; \
  fi

COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force

COPY LICENSE ./
COPY config ./config
COPY actors ./actors
COPY src ./src

RUN mkdir -m 0700 data && chown node:node data
USER node
VOLUME /app/data
EXPOSE 3000
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node_modules/.bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# The Node that the lock file names, which is the one that the tests run on; --init of Docker reaps what it starts.
CMD ["node_modules/.bin/node", "src/main.ts"]
