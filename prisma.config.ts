import { fileURLToPath } from "node:url";
import { defineConfig } from "prisma/config";

// Prisma's CLI would download its schema engine; the same engine as WASM comes from the npm
// registry.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(
  new URL("./scripts/schema-engine.mjs", import.meta.url),
);

export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  datasource: {
    url: process.env.DATABASE_URL ?? "postgresql://postgres:postgres@127.0.0.1:54329/causeway",
  },
});
