# Builds once, and runs without development packages as a user without rights on a tree that nothing writes.
# e2e/deploy.spec.ts runs the same commands without containers.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The lock file links to the stubs in it.
COPY vendor ./vendor
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY vendor ./vendor
COPY scripts/trim-packages.mjs ./scripts/
RUN npm ci --ignore-scripts --no-audit --no-fund --omit=dev
RUN node --input-type=module -e "import { trimPackages } from './scripts/trim-packages.mjs'; trimPackages('.')"

FROM node:22-bookworm-slim
ENV NODE_ENV=production CAUSEWAY_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/vendor ./vendor
COPY --from=build /app/package.json /app/next.config.mjs ./
COPY --from=build /app/.next ./.next
COPY --from=build /app/dist ./dist
COPY --from=build /app/public ./public
COPY --from=build /app/prisma/migrations ./prisma/migrations
COPY --from=build /app/lib/platform/config/chains ./lib/platform/config/chains
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "--max-semi-space-size=64", "dist/server.js"]
