import { getHealth } from "@/lib/contracts/system";
import { ok, route } from "@/lib/http/route";
import { VERSION } from "@/lib/http/openapi";

export const GET = route({
  contract: getHealth,
  handler: () =>
    ok({
      status: "ok" as const,
      version: VERSION,
      uptimeSeconds: Math.floor(process.uptime()),
    }),
});
