import { getMetrics } from "@/lib/contracts/system";
import { METRICS_MEDIA_TYPE } from "@/lib/http/metric-registry";
import { requireMetricsAccess } from "@/lib/http/metrics-access";
import { route } from "@/lib/http/route";

export const GET = route({
  contract: getMetrics,
  handler: async ({ request, peerAddress, services }) => {
    const { metricsToken: token } = services.config;
    requireMetricsAccess({ token, peerAddress, header: (name) => request.headers.get(name) });
    return new Response(await services.metrics.render(), { headers: { "content-type": METRICS_MEDIA_TYPE } });
  },
});
