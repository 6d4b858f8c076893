/** @type {import("next").NextConfig} */
const config = {
  reactStrictMode: true,
  poweredByHeader: false,
  serverExternalPackages: ["pg", "pino", "@prisma/client", "@prisma/adapter-pg", "prom-client", "nodemailer"],
};

export default config;
