/** @type {import("next").NextConfig} */
const config = {
  reactStrictMode: true,
  poweredByHeader: false,
  // `npm test` checks all types, tests included; a build that users wait for need not do it again.
  typescript: { ignoreBuildErrors: true },
  serverExternalPackages: ["pg", "pino", "@prisma/client", "@prisma/adapter-pg", "prom-client", "nodemailer"],
};

export default config;
