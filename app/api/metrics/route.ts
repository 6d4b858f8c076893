import { getMetrics } from "@/lib/contracts/system";
import { requireMetricsAccess } from "@/lib/http/own-host";
import { route } from "@/lib/http/route";

export const GET = route({
  contract: getMetrics,
  handler: async ({ request, peerAddress, services }) => {
    const { metricsToken: token, publicUrl } = services.config;
    requireMetricsAccess({
      token,
      publicUrl,
      peerAddress,
      header: (name) => request.headers.get(name),
    });
    const { mediaType, render } = services.metrics;
    return new Response(await render(), { headers: { "content-type": mediaType } });
  },
});
