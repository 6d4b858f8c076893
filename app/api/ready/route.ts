import { getReadiness } from "@/lib/contracts/system";
import { reply, route } from "@/lib/http/route";

export const GET = route({
  contract: getReadiness,
  handler: async ({ services }) => {
    const readiness = await services.readiness.check();
    return reply(readiness.status === "ready" ? 200 : 503, readiness);
  },
});
