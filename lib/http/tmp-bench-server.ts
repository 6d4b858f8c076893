import { createFastServer } from "./fast-server";
import { createRoute } from "./pipeline";
import { ok } from "./reply";
import { whoAmI } from "@/lib/contracts/auth";
import { httpServices } from "@/lib/testing/http-services";
import { createHmac } from "node:crypto";
const base = httpServices();
const services = {
  ...base,
  config: {
    ...base.config,
    env: "production" as const,
    logLevel: process.env.LOG_LEVEL ?? "info",
    rateLimitPerIp: 100_000_000,
    rateLimitPerKey: 100_000_000,
  },
  apiKeys: {
    verify: async (s: string) => {
      createHmac("sha256", "k").update(s).digest();
      return base.apiKeys.verify("cw_test_known");
    },
  },
};
const GET = createRoute(() => services)({
  contract: whoAmI,
  handler: ({ actor }) => ok({ type: actor.type, id: "x", projectId: actor.projectId, role: null, scopes: [] }),
});
const fast = createFastServer({
  routes: [{ path: "/api/auth/whoami", module: { GET } }],
  fallbackPrefixes: [],
  fallback: async () => {},
  fallbackHeaders: {},
  publicUrl: "http://x",
  logLevel: "info",
});
fast.server.listen(0, "127.0.0.1", () => {
  (process.send as any)((fast.server.address() as any).port);
});
let n = 0;
let base0 = process.cpuUsage();
fast.server.on("request", () => {
  if (++n === 10000) base0 = process.cpuUsage();
});
process.on("message", () => {
  const c = process.cpuUsage(base0);
  (process.send as any)({ user: Math.round(c.user / (n - 10000)), system: Math.round(c.system / (n - 10000)), n });
  process.exit(0);
});
