/** @type {import("next").NextConfig} */
const config = {
  reactStrictMode: true,
  poweredByHeader: false,
  // `npm test` checks all types, tests included; a build that users wait for need not do it again.
  typescript: { ignoreBuildErrors: true },
  // A build's cache takes 250 MB and saves a newcomer nothing; source maps of the pages' server
  // parts take 110 MB.
  experimental: {
    turbopackFileSystemCacheForBuild: false,
    serverSourceMaps: false,
    turbopackSourceMaps: false,
  },
  // Half of a contract is text for the OpenAPI document, which no page shows.
  turbopack: {
    rules: {
      "*.ts": {
        condition: { all: ["browser", { path: /lib[\\/]contracts[\\/]/ }] },
        loaders: ["./scripts/contract-texts.cjs"],
      },
    },
  },
  // What the API's route handlers load stays outside of their bundles: each of them would get a
  // copy, which takes 40 s of a build and 40 MB.
  serverExternalPackages: [
    "@0xbow/privacy-pools-core-sdk",
    "@opentelemetry/api",
    "@opentelemetry/sdk-trace-base",
    "@prisma/adapter-pg",
    "@prisma/client",
    "@simplewebauthn/server",
    "jose",
    "lru-cache",
    "nodemailer",
    "pg",
    "pino",
    "poseidon-lite",
    "prom-client",
    "uuid",
    "viem",
    "zod",
  ],
};

export default config;
