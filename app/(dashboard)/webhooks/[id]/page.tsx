import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { EndpointPage } from "@/components/features/webhooks/endpoint-page";
import { deliveriesQuery, endpointQuery } from "@/components/features/webhooks/endpoint";

export const metadata: Metadata = { title: "Webhook endpoint" };

export default recordPage((id) => (
  <Prefetched queries={[endpointQuery(id), deliveriesQuery(id, {})]}>
    <EndpointPage key={id} endpointId={id} />
  </Prefetched>
));
