# One image for both processes; web is the default, the worker runs `node dist/worker.js`.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
# No package's install script is run but that of secp256k1, which is the fast way to check signatures.
RUN npm ci --ignore-scripts && npm rebuild secp256k1
COPY tsconfig.json tsconfig.page.json ./
COPY scripts/build.js scripts/build-page.js scripts/build-client.js scripts/
COPY packages packages
COPY src src
COPY lua lua
COPY contracts/artifacts contracts/artifacts
RUN node scripts/build.js && rm dist/.tsbuildinfo* && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
# Verifies a signature in three quarters of the time that the library of npm takes.
RUN apt-get update && apt-get install -y --no-install-recommends libsecp256k1-1 && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/package.json ./
COPY --from=build /app/dist dist
# node_modules has a link to it.
COPY --from=build /app/packages packages
COPY contracts/artifacts contracts/artifacts
# Nothing is written here, so root may own it all.
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/web.js"]
