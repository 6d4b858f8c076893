/** @type {import("next").NextConfig} */
const config = {
  reactStrictMode: true,
  poweredByHeader: false,
  // `npm test` checks all types, tests included; a build that users wait for need not do it again.
  typescript: { ignoreBuildErrors: true },
  // A build's cache takes 250 MB and saves a newcomer nothing; source maps of the pages' server parts take 110 MB.
  experimental: { turbopackFileSystemCacheForBuild: false, serverSourceMaps: false, turbopackSourceMaps: false },
  serverExternalPackages: ["pg", "pino", "@prisma/client", "@prisma/adapter-pg", "prom-client", "nodemailer"],
};

export default config;
