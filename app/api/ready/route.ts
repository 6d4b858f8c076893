import { getReadiness } from "@/lib/contracts/system";
import { isOperator } from "@/lib/http/own-host";
import { reply, route } from "@/lib/http/route";

export const GET = route({
  contract: getReadiness,
  handler: async ({ request, peerAddress, services }) => {
    const { metricsToken: token, publicUrl } = services.config;
    const { status, parts } = await services.readiness.check();
    const header = (name: string): string | null => request.headers.get(name);
    const isShown = isOperator({ token, publicUrl, peerAddress, header });
    const code = status === "ready" ? 200 : 503;
    return reply(code, isShown ? { status, parts } : { status });
  },
});
