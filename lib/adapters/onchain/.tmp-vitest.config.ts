import { defineConfig } from "vitest/config";
export default defineConfig({ root: "/work/main", resolve: { alias: { "@": "/work/main" } }, test: { environment: "node", pool: "forks", testTimeout: 90000, hookTimeout: 120000, include: ["lib/adapters/onchain/**/*.int.test.ts"] } });
